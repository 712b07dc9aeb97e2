//! Derivatives through a press on springs.

use super::{Damping, Elasticity, Law, MIN_COSINE, Site, Springs};
use crate::friction_lanes::get;
use crate::point_block::PointBlock;
use crate::{SkinError, SkinGradient, Target, Touch, TouchCotangent};
use dermis_geometry::{PlacedShape, RayHit, ShapeGradient, Twist, Vec3, Wrench};

/// Friction (N), as a fraction of the normal force, up to which a point counts as frictionless.
const MAX_FRICTION: f64 = 1e-9;

impl Springs {
    /// Derivatives of a scalar through the touch of one object at rest: those of [`PressedPoint::pull_back`] without
    /// velocity and friction.
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
                if get(&block.load.force, lane).length() > MAX_FRICTION * block.load.normal_newton[lane] {
                    let reason = "springs have them for a press without sliding, and this object slides";
                    return Err(SkinError::NoGradient { reason });
                }
                let point = self.pressed_point(block, lane);
                let by = point.cotangent(by_force, &cotangent.on_sensor);
                let found = point.pull_back(&by, &Twist::ZERO);
                by_stiffness += found.stiffness;
                point.add_to(&mut gradient.shape, &shape, &found);
            }
        }
        gradient.parameters.extend(self.stiffness_name().map(|name| (name, by_stiffness)));
        Ok(gradient)
    }

    /// Name of the stiffness in a description; a table has none.
    pub(super) fn stiffness_name(&self) -> Option<&'static str> {
        match self.parameters.elasticity {
            Elasticity::PerTexel(_) => Some("stiffness"),
            Elasticity::PerArea(_) => Some("stiffness_per_area"),
            Elasticity::TexelTable(_) | Elasticity::AreaTable(_) => None,
        }
    }

    /// The contact point of a lane.
    pub(super) fn pressed_point(&self, block: &PointBlock, lane: usize) -> PressedPoint {
        let (normal, depth_m) = (get(&block.normal, lane), block.depth_m[lane]);
        let Site { normal: out, area_m2, share, .. } = self.sites[block.site[lane] as usize];
        let cosine = out.dot(normal);
        let (lever, lever_slope) = match self.parameters.law {
            Law::Conservative if cosine > MIN_COSINE => (cosine.recip(), -cosine.recip().powi(2)),
            Law::Conservative => (MIN_COSINE.recip(), 0.0),
            Law::Paper => (1.0, 0.0),
        };
        let (spring, slope) = self.parameters.elasticity.of_part(depth_m, share, area_m2);
        let stiffness_part = match self.parameters.elasticity {
            Elasticity::PerTexel(_) | Elasticity::TexelTable(_) => share,
            Elasticity::PerArea(_) | Elasticity::AreaTable(_) => area_m2,
        };
        let damping_part = match self.parameters.damping {
            Damping::PerTexel(_) => share,
            Damping::PerArea(_) => area_m2,
        };
        PressedPoint {
            at: get(&block.at, lane),
            out,
            normal,
            depth_m,
            stiffness_part,
            damping_part,
            spring,
            slope,
            damping: self.parameters.damping.of_part(share, area_m2),
            lever,
            lever_slope,
            newton: block.load.normal_newton[lane],
            force: Vec3::from_array(block.force(&block.load, lane)),
        }
    }
}

/// A contact point under load.
pub(super) struct PressedPoint {
    pub at: Vec3,
    /// Direction of the ray.
    out: Vec3,
    /// Contact normal, into the object.
    pub normal: Vec3,
    depth_m: f64,
    /// Share or area of the point, by which stiffness and damping are multiplied.
    stiffness_part: f64,
    damping_part: f64,
    /// f(d) (N) and its derivative (N/m).
    spring: f64,
    slope: f64,
    /// c (N s/m).
    damping: f64,
    /// l and its derivative by **o**·**n**.
    lever: f64,
    lever_slope: f64,
    /// Normal force (N).
    pub newton: f64,
    /// Force on the sensor (N).
    force: Vec3,
}

/// Derivatives of a scalar by the load of a contact point.
pub(super) struct PointCotangent {
    /// By the force on the sensor (1/N), with its torque.
    pub force: Vec3,
    /// By the torque on the sensor (1/(N m)).
    torque: Vec3,
    /// By the normal force (1/N), through friction.
    pub newton: f64,
    /// By the velocity in the contact plane (s/m), through friction.
    pub slip: Vec3,
    /// By the contact normal, through the bristles.
    pub normal: Vec3,
}

/// Derivatives of a scalar by what the load of a contact point depends on.
pub(super) struct PointAdjoint {
    depth: f64,
    normal: Vec3,
    /// By the velocity of the object at the point (s/m).
    pub velocity: Vec3,
    /// By the stiffness and the damping of the skin.
    pub stiffness: f64,
    pub damping: f64,
}

impl PressedPoint {
    /// The derivatives by the load of the point from those by its force and by the load on the sensor.
    pub fn cotangent(&self, by_force: Vec3, on_sensor: &Wrench) -> PointCotangent {
        let force = by_force + on_sensor.force + on_sensor.torque.cross(self.at);
        PointCotangent { force, torque: on_sensor.torque, newton: 0.0, slip: Vec3::ZERO, normal: Vec3::ZERO }
    }

    /// Derivatives by what the load depends on.
    ///
    /// A contact point with depth d along its ray **o** and contact normal **n** has the force **F** = **T** − **n** N with
    /// N = (f(d) + c r l) l, l = 1/(**o**·**n**) and r = −**v**·**n**, at **x** = **y** − **o** d, where the object has the
    /// velocity **v** = **V** + **Ω** × **x**; friction **T** depends on N and on the slip **u** = **v** + r **n**. With **Λ** the
    /// derivative by **F**, **τ** that by the torque, and N̄ and **ū** those through friction,
    /// ```text
    /// N̄ −= n·Λ,     v̄ = ū − n (n·ū) − c l² N̄ n,     ∂L/∂x = F × τ + v̄ × Ω,     ∂L/∂d = N̄ f′ l − o·∂L/∂x
    /// ∂L/∂n = −N Λ + r ū − v (n·ū + c l² N̄) + N̄ (f + 2 c r l) l′ o
    /// ```
    pub fn pull_back(&self, by: &PointCotangent, velocity: &Twist) -> PointAdjoint {
        let Self { at, out, normal, lever, damping, .. } = *self;
        let v = velocity.at(at);
        let approach = -v.dot(normal);
        let by_newton = if self.newton > 0.0 { by.newton - normal.dot(by.force) } else { 0.0 };
        let by_approach = by_newton * damping * lever * lever;
        let along = normal.dot(by.slip) + by_approach;
        let by_velocity = by.slip - normal * along;
        let by_lever = by_newton * (self.spring + 2.0 * damping * approach * lever);
        let by_at = self.force.cross(by.torque) + by_velocity.cross(velocity.angular);
        PointAdjoint {
            depth: by_newton * lever * self.slope - out.dot(by_at),
            normal: by.normal - by.force * self.newton + by.slip * approach - v * along
                + out * (by_lever * self.lever_slope),
            velocity: by_velocity,
            stiffness: by_newton * lever * self.depth_m * self.stiffness_part,
            damping: by_newton * approach * lever * lever * self.damping_part,
        }
    }

    /// Adds the derivatives by the pose and the size of the object, on which depth and normal depend through the ray. The
    /// distance along the ray is the length of the ray less the depth; the contact normal points into the object.
    pub fn add_to(&self, sum: &mut ShapeGradient, shape: &PlacedShape<'_>, by: &PointAdjoint) {
        let hit = RayHit { point: self.at, direction: self.out, normal: -self.normal };
        sum.add(shape, &hit, -by.depth, -by.normal);
    }
}
