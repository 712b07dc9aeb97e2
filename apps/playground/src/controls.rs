//! Controls of a skin: stiffness, friction and thickness.

use crate::PlayError;
use dermis_geometry::quantity::{AreaStiffness, Length, Pressure, Stiffness};
use dermis_sensor::{FrictionSpec, HydroelasticSpec, SkinSpec, SpringsSpec};
use serde::{Deserialize, Serialize};

/// Values of the controls, in the units of their [`Control`]; by default those of the sensor's description.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControlValues {
    /// Stiffness of the skin.
    pub stiffness: Option<f64>,
    /// Coefficient of friction.
    pub friction: Option<f64>,
    /// Thickness of the skin.
    pub thickness: Option<f64>,
}

/// A control of the page.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Control {
    /// Its label.
    pub label: &'static str,
    /// Unit of its value; empty if dimensionless.
    pub unit: &'static str,
    /// Default value.
    pub value: f64,
    /// Bounds of the value.
    pub min: f64,
    /// Bounds of the value.
    pub max: f64,
}

/// Largest factor on a stiffness: from foam to steel.
const MAX_STIFFNESS_FACTOR: f64 = 1e3;
/// Largest factor on a thickness.
const MAX_THICKNESS_FACTOR: f64 = 10.0;
/// Largest coefficient of friction.
const MAX_FRICTION: f64 = 10.0;

impl Control {
    /// A control that multiplies its default value by `factor` at most, and divides it by as much.
    fn around(label: &'static str, unit: &'static str, value: f64, factor: f64) -> Self {
        Self { label, unit, value, min: value / factor, max: value * factor }
    }

    /// The value to use: the wanted one within the bounds, or the default.
    fn chosen(&self, key: &'static str, wanted: Option<f64>) -> Result<f64, PlayError> {
        let Self { unit, value, min, max, .. } = *self;
        match wanted {
            // The bounds are shown rounded.
            Some(got) if !(got >= min * (1.0 - 1e-3) && got <= max * (1.0 + 1e-3)) => {
                Err(PlayError::BadControl { control: key, got, min, max, unit })
            }
            wanted => Ok(wanted.unwrap_or(value)),
        }
    }
}

/// The controls of a skin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Controls {
    /// Stiffness of the skin.
    pub stiffness: Option<Control>,
    /// Coefficient of friction.
    pub friction: Option<Control>,
    /// Thickness of the skin.
    pub thickness: Option<Control>,
}

impl ControlValues {
    /// Whether any value is set.
    pub fn are_set(&self) -> bool {
        *self != Self::default()
    }

    /// Applies the values to a skin; returns its controls with their default values.
    pub fn apply(&self, skin: &mut SkinSpec) -> Result<Controls, PlayError> {
        Ok(match skin {
            SkinSpec::Springs(SpringsSpec { stiffness, stiffness_per_area, max_penetration, friction, .. }) => {
                Controls {
                    stiffness: match (stiffness, stiffness_per_area) {
                        (Some(k), _) => Some(self.per_texel(k)?),
                        (None, Some(k)) => Some(self.per_area(k)?),
                        (None, None) => None,
                    },
                    friction: self.friction_of(friction)?,
                    thickness: Some(self.thickness(max_penetration)?),
                }
            }
            SkinSpec::Hydroelastic(HydroelasticSpec { hydroelastic_modulus, thickness, friction, .. }) => Controls {
                stiffness: Some(self.modulus("Hydroelastic modulus", hydroelastic_modulus)?),
                friction: self.friction_of(friction)?,
                thickness: thickness.as_mut().map(|thickness| self.thickness(thickness)).transpose()?,
            },
            SkinSpec::Layer(layer) => Controls {
                stiffness: Some(self.modulus("Young's modulus", &mut layer.young)?),
                friction: Some(self.coefficient(&mut layer.mu)?),
                thickness: Some(self.thickness(&mut layer.thickness)?),
            },
            SkinSpec::Imprint(imprint) => Controls {
                stiffness: Some(self.per_area(&mut imprint.stiffness_per_area)?),
                friction: None,
                thickness: Some(self.thickness(&mut imprint.thickness)?),
            },
            SkinSpec::Gel(gel) => Controls {
                stiffness: Some(self.modulus("Young's modulus", &mut gel.young)?),
                friction: None,
                thickness: gel.thickness.as_mut().map(|thickness| self.thickness(thickness)).transpose()?,
            },
        })
    }

    /// Sets a stiffness in units of `unit_si`.
    fn stiffness(
        &self,
        label: &'static str,
        unit: &'static str,
        si: f64,
        unit_si: f64,
    ) -> Result<(Control, f64), PlayError> {
        let control = Control::around(label, unit, si / unit_si, MAX_STIFFNESS_FACTOR);
        let chosen = control.chosen("stiffness", self.stiffness)?;
        Ok((control, if self.stiffness.is_some() { chosen * unit_si } else { si }))
    }

    fn per_texel(&self, k: &mut Stiffness) -> Result<Control, PlayError> {
        let (control, si) = self.stiffness("Stiffness of a taxel", "N/mm", k.si(), 1e3)?;
        *k = Stiffness::new(si);
        Ok(control)
    }

    fn per_area(&self, k: &mut AreaStiffness) -> Result<Control, PlayError> {
        let (control, si) = self.stiffness("Stiffness of the surface", "MPa/m", k.si(), 1e6)?;
        *k = AreaStiffness::new(si);
        Ok(control)
    }

    fn modulus(&self, label: &'static str, modulus: &mut Pressure) -> Result<Control, PlayError> {
        let (control, si) = self.stiffness(label, "kPa", modulus.si(), 1e3)?;
        *modulus = Pressure::new(si);
        Ok(control)
    }

    fn thickness(&self, thickness: &mut Length) -> Result<Control, PlayError> {
        let control = Control::around("Thickness", "mm", thickness.si() * 1e3, MAX_THICKNESS_FACTOR);
        let chosen = control.chosen("thickness", self.thickness)?;
        *thickness = self.thickness.map_or(*thickness, |_| Length::new(chosen * 1e-3));
        Ok(control)
    }

    fn coefficient(&self, mu: &mut f64) -> Result<Control, PlayError> {
        let control = Control { label: "Friction", unit: "", value: *mu, min: 0.0, max: MAX_FRICTION };
        *mu = control.chosen("friction", self.friction)?;
        Ok(control)
    }

    /// Sets the static friction; the ratio of dynamic to static friction stays the same.
    fn friction_of<K, C>(&self, friction: &mut FrictionSpec<K, C>) -> Result<Option<Control>, PlayError> {
        let (mu, dynamic) = match friction {
            FrictionSpec::None | FrictionSpec::Sticking => return Ok(None),
            FrictionSpec::Lugre { mu_static, mu_dynamic, .. } => (mu_static, Some(mu_dynamic)),
            FrictionSpec::Coulomb { mu, .. } => (mu, None),
        };
        let before = *mu;
        let control = self.coefficient(mu)?;
        if let (Some(dynamic), true) = (dynamic, self.friction.is_some()) {
            *dynamic = if before > 0.0 { *dynamic / before * *mu } else { *mu };
        }
        Ok(Some(control))
    }
}
