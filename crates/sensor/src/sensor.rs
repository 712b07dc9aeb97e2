//! Skin, transducer and response in one.

use crate::{Reading, Response, Taxels};
use dermis_geometry::TriMesh;
use dermis_skin::{Motion, Skin, SkinError, State, Touch};
use std::sync::Arc;

/// A tactile sensor. Cheap to clone; its history is outside, in the skin's [`State`].
#[derive(Clone, Debug)]
pub struct Sensor {
    name: String,
    skin: Arc<dyn Skin>,
    taxels: Arc<Taxels>,
    response: Response,
    surface: Arc<TriMesh>,
}

impl Sensor {
    /// Puts a sensor together. `surface` is the shape of the undeformed skin, for pictures and first contact.
    pub fn new(
        name: impl Into<String>,
        skin: impl Skin + 'static,
        taxels: Taxels,
        response: Response,
        surface: TriMesh,
    ) -> Self {
        Self { name: name.into(), skin: Arc::new(skin), taxels: Arc::new(taxels), response, surface: Arc::new(surface) }
    }

    /// What it is called.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its skin.
    pub fn skin(&self) -> &dyn Skin {
        &*self.skin
    }

    /// Its taxels.
    pub fn taxels(&self) -> &Taxels {
        &self.taxels
    }

    /// How newtons become counts.
    pub fn response(&self) -> &Response {
        &self.response
    }

    /// The shape of the undeformed skin.
    pub fn surface(&self) -> &TriMesh {
        &self.surface
    }

    /// The same sensor with another skin.
    pub fn with_skin(&self, skin: impl Skin + 'static) -> Self {
        Self { skin: Arc::new(skin), ..self.clone() }
    }

    /// What the skin feels while things move so for `dt_s`.
    pub fn touch(&self, state: &State, motion: &Motion<'_>, dt_s: f64) -> Result<(Touch, State), SkinError> {
        self.skin.touch(state, motion, dt_s)
    }

    /// What the device reports of a touch.
    pub fn read(&self, touch: &Touch) -> Reading {
        let (forces_newton, outside_newton) = self.taxels.bin(touch);
        let values_newton: Vec<f64> =
            forces_newton.iter().zip(self.taxels.normals()).map(|(force, normal)| 0.0 - force.dot(*normal)).collect();
        let raw: Vec<u32> = values_newton.iter().map(|&newton| self.response.counts(newton)).collect();
        Reading {
            size: self.taxels.size(),
            sum_newton: values_newton.iter().sum(),
            raw_sum: raw.iter().map(|&counts| u64::from(counts)).sum(),
            values_newton,
            raw,
            forces_newton,
            outside_newton,
            saturated: touch.saturated,
        }
    }
}
