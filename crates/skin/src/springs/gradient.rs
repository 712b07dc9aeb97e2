//! Derivatives through a press on springs.

use super::{Elasticity, Law, MIN_COSINE, Site, Springs};
use crate::friction_lanes::get;
use crate::point_block::PointBlock;
use crate::{SkinError, SkinGradient, Target, Touch, TouchCotangent};
use dermis_geometry::{PlacedShape, RayHit, Vec3};

/// Friction (N), as a fraction of the normal force, up to which a point counts as frictionless.
const MAX_FRICTION: f64 = 1e-9;

impl Springs {
    /// Derivatives of a scalar through the touch of one object at rest.
    ///
    /// A contact point with depth d along its ray **o** and contact normal **n** has the force **F** = −**n** f(d)
    /// l(**n**), l = 1/(**o**·**n**), at **x** = **v** − **o** d. With **Λ** the derivative by **F** and **τ** that by the
    /// torque,
    /// ```text
    /// ∂L/∂d = −(n·Λ) f′ l − o·(F × τ),     ∂L/∂n = −f l Λ + (n·Λ) f l² o
    /// ```
    /// and depth and normal depend on the object through the ray ([`dermis_geometry::ShapeGradient`]). A saturated point
    /// has no derivative: its depth is cut off.
    pub(super) fn gradient(
        &self,
        touch: &Touch,
        target: &Target<'_>,
        cotangent: &TouchCotangent,
    ) -> Result<SkinGradient, SkinError> {
        let Some(points) = touch.facets.points() else {
            return Err(SkinError::OtherSkin { expected: "springs" });
        };
        let shape = PlacedShape::new(target.object.surface.primitive(), &target.sensor_from_object);
        let mut gradient = SkinGradient::default();
        let mut by_stiffness = 0.0;
        let mut forces = cotangent.forces.iter();
        for block in &points.blocks {
            for lane in 0..block.count {
                let by_force = forces.next().copied().unwrap_or_default();
                if block.saturated[lane] {
                    continue;
                }
                let point = self.point(block, lane)?;
                let PressedPoint { at, out, normal, depth_m, part, spring, slope, lever, lever_slope } = point;
                let torque = cotangent.on_sensor.torque;
                let by_force = by_force + cotangent.on_sensor.force + torque.cross(at);
                let along = normal.dot(by_force);
                let force = normal * -(spring * lever);
                let by_depth = -along * slope * lever - out.dot(force.cross(torque));
                let by_normal = by_force * -(spring * lever) - out * (along * spring * lever_slope);
                by_stiffness -= along * lever * depth_m * part;
                // The distance along the ray is the length of the ray less the depth; the contact normal points into the
                // object.
                let hit = RayHit { point: at, direction: out, normal: -normal };
                gradient.shape.add(&shape, &hit, -by_depth, -by_normal);
            }
        }
        match self.parameters.elasticity {
            Elasticity::PerTexel(_) => gradient.parameters.push(("stiffness", by_stiffness)),
            Elasticity::PerArea(_) => gradient.parameters.push(("stiffness_per_area", by_stiffness)),
            Elasticity::TexelTable(_) | Elasticity::AreaTable(_) => {}
        }
        Ok(gradient)
    }

    fn point(&self, block: &PointBlock, lane: usize) -> Result<PressedPoint, SkinError> {
        let (normal, depth_m, newton) = (get(&block.normal, lane), block.depth_m[lane], block.load.normal_newton[lane]);
        let friction = get(&block.load.force, lane).length();
        if friction > MAX_FRICTION * newton {
            let reason = "springs have them for a press without sliding, and this object slides";
            return Err(SkinError::NoGradient { reason });
        }
        let Site { normal: out, area_m2, share, .. } = self.sites[block.site[lane] as usize];
        let cosine = out.dot(normal);
        let (lever, lever_slope) = match self.parameters.law {
            Law::Conservative if cosine > MIN_COSINE => (cosine.recip(), -cosine.recip().powi(2)),
            Law::Conservative => (MIN_COSINE.recip(), 0.0),
            Law::Paper => (1.0, 0.0),
        };
        let (spring, slope) = self.parameters.elasticity.of_part(depth_m, share, area_m2);
        let part = match self.parameters.elasticity {
            Elasticity::PerTexel(_) | Elasticity::TexelTable(_) => share,
            Elasticity::PerArea(_) | Elasticity::AreaTable(_) => area_m2,
        };
        let at = get(&block.at, lane);
        Ok(PressedPoint { at, out, normal, depth_m, part, spring, slope, lever, lever_slope })
    }
}

/// A contact point under load.
struct PressedPoint {
    at: Vec3,
    /// Direction of the ray.
    out: Vec3,
    /// Contact normal, into the object.
    normal: Vec3,
    depth_m: f64,
    /// Share or area of the point, by which the stiffness is multiplied.
    part: f64,
    /// f(d) (N) and its derivative (N/m).
    spring: f64,
    slope: f64,
    /// l and its derivative by **o**·**n**.
    lever: f64,
    lever_slope: f64,
}
