//! Derivatives through the steps of an object along a path on springs.

use super::{Damping, Springs};
use crate::friction_adjoint::{ByParameters, FrictionCotangent, FrictionStep};
use crate::lugre::{rotate_into_plane, rotate_into_plane_adjoint};
use crate::{
    ContactPoints, Object, PathGradient, PathStep, SkinError, SkinGradient, State, StepGradient, TouchCotangent,
};
use dermis_geometry::{PlacedShape, ShapeGradient, Vec3};

impl Springs {
    /// Derivatives of a scalar through the steps of one object, from the last step to the first.
    ///
    /// A contact point has its bristles in common with the step before, if it touched the object there: their deflection,
    /// which is rotated with the contact plane. All else of a step depends on pose and velocity of that step. At constant
    /// contact. The depth and the normal of a saturated point count as constant: its depth is cut off.
    pub(super) fn path_gradient(
        &self,
        state: &State,
        object: &Object,
        steps: &[PathStep],
        cotangents: &[TouchCotangent],
        dt_s: f64,
    ) -> Result<PathGradient, SkinError> {
        let other_skin = || SkinError::OtherSkin { expected: "springs" };
        let State::Springs { bristles, .. } = state else { return Err(other_skin()) };
        let mut sweep = Sweep {
            springs: self,
            dt_s,
            carried: Vec::new(),
            shape: ShapeGradient::default(),
            stiffness: 0.0,
            damping: 0.0,
            friction: [0.0; 6],
        };
        let mut found = Vec::with_capacity(steps.len());
        for (index, (step, cotangent)) in steps.iter().zip(cotangents).enumerate().rev() {
            let points = step.touch.facets.points().ok_or_else(other_skin)?;
            let before = match index.checked_sub(1) {
                Some(before) => steps[before].touch.facets.points().ok_or_else(other_skin)?,
                None => &bristles.0,
            };
            let shape = PlacedShape::new(object.surface.primitive(), &step.sensor_from_object);
            found.push(sweep.step_back(step, points, before, &shape, cotangent));
        }
        found.reverse();
        let parameters = sweep.parameters();
        let mut shape = sweep.shape;
        for step in &found {
            shape.position += step.position;
            shape.rotation += step.rotation;
        }
        Ok(PathGradient { steps: found, whole: SkinGradient { shape, parameters } })
    }
}

/// Derivatives of a scalar by the bristles of a contact point at the end of a step, which the next step finds.
#[derive(Clone, Copy, Default)]
struct BristleCotangent {
    /// By the deflection (1/m).
    deflection: Vec3,
    /// By the normal of the contact plane.
    normal: Vec3,
}

/// A sweep over the steps of a path in reverse.
struct Sweep<'a> {
    springs: &'a Springs,
    dt_s: f64,
    /// By the bristles of each contact point, as the later steps depend on them.
    carried: Vec<BristleCotangent>,
    /// Sums over the points and steps so far.
    shape: ShapeGradient,
    stiffness: f64,
    damping: f64,
    friction: ByParameters,
}

impl Sweep<'_> {
    /// Goes back over one step with its contact points and those of the step before.
    fn step_back(
        &mut self,
        step: &PathStep,
        points: &ContactPoints,
        before: &ContactPoints,
        shape: &PlacedShape<'_>,
        cotangent: &TouchCotangent,
    ) -> StepGradient {
        let mut gradient = StepGradient::default();
        let mut earlier = vec![BristleCotangent::default(); before.len()];
        let mut bristles = before.bristles().enumerate().peekable();
        let later = std::mem::take(&mut self.carried);
        let mut later = later.into_iter();
        let mut forces = cotangent.forces.iter();
        let friction = &self.springs.parameters.friction;
        for block in &points.blocks {
            for lane in 0..block.count {
                let by_force = forces.next().copied().unwrap_or_default();
                let after = later.next().unwrap_or_default();
                let point = self.springs.pressed_point(block, lane);
                let mut by = point.cotangent(by_force, &cotangent.on_sensor);
                by.normal = after.normal;
                // The bristles of the same point on the same object.
                let (site, object) = (block.site[lane], block.object[lane]);
                while bristles.next_if(|(_, bristle)| bristle.site < site).is_some() {}
                let held = bristles.next_if(|(_, held)| held.site == site).filter(|(_, held)| held.object == object);
                let deflection_m = held
                    .map_or(Vec3::ZERO, |(_, held)| rotate_into_plane(held.deflection_m, held.normal, point.normal));
                let velocity = step.velocity.at(point.at);
                let slide = FrictionStep {
                    deflection_m,
                    velocity: velocity - point.normal * velocity.dot(point.normal),
                    normal_newton: point.newton,
                    share: block.share[lane],
                    dt_s: self.dt_s,
                };
                let rubbed = FrictionCotangent { deflection: after.deflection, force: by.force };
                let rubbed = friction.pull_back(&slide, &rubbed, &mut self.friction);
                (by.newton, by.slip) = (rubbed.normal_newton, rubbed.velocity);
                if let Some((index, held)) = held {
                    let [deflection, normal, to] =
                        rotate_into_plane_adjoint(held.deflection_m, held.normal, point.normal, rubbed.deflection);
                    earlier[index] = BristleCotangent { deflection, normal };
                    by.normal += to;
                }
                let found = point.pull_back(&by, &step.velocity);
                self.stiffness += found.stiffness;
                self.damping += found.damping;
                gradient.linear += found.velocity;
                gradient.angular += point.at.cross(found.velocity);
                if !block.saturated[lane] {
                    point.add_to(&mut self.shape, shape, &found);
                }
            }
        }
        self.carried = earlier;
        let [position, rotation] = [&mut self.shape.position, &mut self.shape.rotation].map(std::mem::take);
        StepGradient { position, rotation, ..gradient }
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        let Self { springs, stiffness, damping, friction, .. } = self;
        let damping_name = match springs.parameters.damping {
            Damping::PerTexel(_) => "damping",
            Damping::PerArea(_) => "damping_per_area",
        };
        let mut all = vec![(damping_name, *damping)];
        all.extend(springs.stiffness_name().map(|name| (name, *stiffness)));
        all.extend(springs.parameters.friction.parameter_names().iter().copied().zip(*friction));
        all
    }
}
