//! Changes of a model after a sensor was mounted on it.
//!
//! The pose, friction and priority of an object count as they are in each step, and so does `mjDSBL_CONTACT`: while it is set, no object
//! touches the skin, unless it was already set when the sensor was mounted. An object whose contype and conaffinity are both
//! set to 0 leaves the skin. Every other change of a geom that would change its contact in MuJoCo, and not here, is told once.

use crate::contact_filter::{self, Bits};
use crate::{Model, ObjectGeom};
use dermis_geometry::{Pose, Vec3};
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// What a model had when a sensor was mounted on it.
#[derive(Debug)]
pub(crate) struct AsMounted {
    without_contact: bool,
    /// contype and conaffinity of the objects, in their order.
    bits: Vec<Bits>,
    /// Size (m), and friction, of the objects.
    objects: Vec<(Vec3, f64)>,
    /// The geoms that move with the sensor.
    own: Vec<(usize, Own)>,
    /// The fields that were told.
    told: Mutex<BTreeSet<&'static str>>,
}

/// A geom that moves with the sensor.
#[derive(Debug, PartialEq)]
struct Own {
    friction: f64,
    pose: Pose,
    bits: Bits,
}

impl Own {
    fn of(model: &Model<'_>, geom: usize, bits: Bits) -> Self {
        Self { friction: model.geom_friction(geom), pose: model.geom_pose(geom), bits }
    }
}

impl AsMounted {
    pub fn new(model: &Model<'_>, body: usize, objects: &[ObjectGeom]) -> Self {
        let bits = |geom: usize| contact_filter::original_bits(model, geom).unwrap_or_else(|| model.contact_bits(geom));
        let own = (0..model.geoms()).filter(|&geom| model.weld(model.geom_body(geom)) == model.weld(body));
        Self {
            without_contact: model.contact_is_disabled(),
            bits: objects.iter().map(|object| bits(object.geom)).collect(),
            objects: objects
                .iter()
                .map(|object| (model.geom_size(object.geom), model.geom_friction(object.geom)))
                .collect(),
            own: own.map(|geom| (geom, Own::of(model, geom, bits(geom)))).collect(),
            told: Mutex::default(),
        }
    }

    /// Which objects have left the skin, in their order; none if `None`.
    pub fn away(&self, model: &Model<'_>, objects: &[ObjectGeom]) -> Option<Vec<bool>> {
        if model.contact_is_disabled() && !self.without_contact {
            return Some(vec![true; objects.len()]);
        }
        let is_away = |(object, &mounted): (&ObjectGeom, &Bits)| {
            let bits = model.contact_bits(object.geom);
            bits == [0, 0]
                && bits != mounted
                && bits != contact_filter::written_bits(model, object.geom).unwrap_or(mounted)
        };
        let away: Vec<bool> = objects.iter().zip(&self.bits).map(is_away).collect();
        away.contains(&true).then_some(away)
    }

    /// The changes that have no effect and were not told before. `skin_mu` is the static coefficient of friction of the skin.
    pub fn ignored(&self, model: &Model<'_>, objects: &[ObjectGeom], skin_mu: Option<f64>) -> Vec<String> {
        let mut found = Vec::new();
        let mut ignored = |field: &'static str, geom: usize, reason: &str| {
            if self.told.lock().unwrap_or_else(PoisonError::into_inner).insert(field) {
                let name = model.geom_name(geom);
                found.push(format!(
                    "`{field}` of {name} was changed after the sensor was attached, which has no effect: {reason}"
                ));
            }
        };
        let now = |geom: usize, mounted: Bits| {
            let written = contact_filter::written_bits(model, geom).unwrap_or(mounted);
            (model.contact_bits(geom), written)
        };
        for ((object, &(size, friction)), &bits) in objects.iter().zip(&self.objects).zip(&self.bits) {
            let geom = object.geom;
            if model.geom_size(geom) != size {
                ignored("geom_size", geom, "the skin touches the shape that it had; attach again");
            }
            let (bits, written) = now(geom, bits);
            if bits != written && bits != [0, 0] {
                ignored("geom_contype/geom_conaffinity", geom, CONTACT_BITS);
            }
            let friction_now = model.geom_friction(geom);
            if let Some(mu) = skin_mu
                && friction_now != friction
                && friction_now > mu
                && model.geom_priority(geom) == 0
            {
                let reason = format!(
                    "the skin's own friction of {mu} is smaller and counts, until geom_priority of the geom is above 0"
                );
                ignored("geom_friction", geom, &reason);
            }
        }
        for (geom, mounted) in &self.own {
            let (bits, written) = now(*geom, mounted.bits);
            if bits != written {
                ignored("geom_contype/geom_conaffinity", *geom, CONTACT_BITS);
            }
            if model.geom_friction(*geom) != mounted.friction {
                ignored("geom_friction", *geom, "it is under the skin, whose friction is that of the sensor");
            }
            if model.geom_pose(*geom) != mounted.pose {
                let reason = "MuJoCo's contact stays disabled for the geoms that were under the skin; attach again";
                ignored("geom_pos/geom_quat", *geom, reason);
            }
        }
        found
    }
}

const CONTACT_BITS: &str =
    "the skin touches its `objects` whatever their bits; with both set to 0 an object leaves the skin";
