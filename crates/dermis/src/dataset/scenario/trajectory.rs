//! Trajectories of an object along a skin.

use dermis_geometry::{Pose, Quat, Vec3};

/// A rigid motion parametrised from 0 (start) to 1 (end); it extrapolates.
#[derive(Clone, Copy, Debug)]
pub struct Trajectory {
    start: Pose,
    /// Centre of rotation (m).
    pivot: Vec3,
    /// Rotation vector: axis times angle (rad).
    rotation: Vec3,
    /// Displacement of the pivot (m).
    shift: Vec3,
}

impl Trajectory {
    /// A translation by a distance (m) in a direction (rad, from x towards y).
    pub fn straight(start: &Pose, distance_m: f64, direction_rad: f64) -> Self {
        let shift = level(direction_rad) * distance_m;
        Self { start: *start, pivot: start.translation, rotation: Vec3::ZERO, shift }
    }

    /// A rotation by an angle (rad) about the sensor's normal through the object's origin.
    pub fn rotating(start: &Pose, angle_rad: f64) -> Self {
        Self { start: *start, pivot: start.translation, rotation: Vec3::Z * angle_rad, shift: Vec3::ZERO }
    }

    /// Rolling without slip by an angle (rad) in a direction (rad), with a rolling radius (m). The contact is assumed
    /// to lie below the object's origin, at the pressed depth.
    pub fn rolling(
        start: &Pose,
        depth_m: f64,
        contact: &Pose,
        angle_rad: f64,
        direction_rad: f64,
        radius_m: f64,
    ) -> Self {
        let forward = level(direction_rad);
        // On a flat sensor the lowest point is at −depth; `contact` has the origin where that was zero.
        let lowest = start.translation.z - contact.translation.z;
        debug_assert!((lowest + depth_m).abs() < 1e-9);
        let pivot = Vec3::new(start.translation.x, start.translation.y, radius_m - depth_m);
        Self {
            start: *start,
            pivot,
            rotation: Vec3::Z.cross(forward) * angle_rad,
            shift: forward * (radius_m * angle_rad),
        }
    }

    /// The pose at a fraction of the motion (0 to 1).
    pub fn at(&self, part: f64) -> Pose {
        let rotation = Quat::from_scaled_axis(self.rotation * part);
        let about = Pose::new(rotation, self.pivot + self.shift * part - rotation * self.pivot);
        about * self.start
    }
}

fn level(direction_rad: f64) -> Vec3 {
    Vec3::new(direction_rad.cos(), direction_rad.sin(), 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The centre of a rolling ball stays at one height and moves by the arc length, and its lowest point is at rest.
    #[test]
    fn rolling_does_not_slip() {
        let (radius, depth) = (4e-3, 0.5e-3);
        let contact = Pose::from_translation(Vec3::new(1e-3, 2e-3, radius));
        let start = Pose { translation: contact.translation - Vec3::Z * depth, ..contact };
        let path = Trajectory::rolling(&start, depth, &contact, 0.6, 0.3, radius);
        let end = path.at(1.0).translation - start.translation;
        assert!((end.length() - radius * 0.6).abs() < 1e-12 && end.z.abs() < 1e-12);
        let step = 1e-6;
        let lowest = start.translation - Vec3::Z * radius;
        let moved = path.at(step) * start.inverse();
        assert!((moved.transform_point(lowest) - lowest).length() < 1e-14);
    }

    #[test]
    fn turning_keeps_the_origin_and_sliding_the_turn() {
        let start = Pose::new(Quat::from_rotation_x(0.2), Vec3::new(1e-3, 0.0, 2e-3));
        let rotated = Trajectory::rotating(&start, 0.5).at(1.0);
        assert!((rotated.translation - start.translation).length() < 1e-15);
        assert!((rotated.rotation * start.rotation.inverse()).to_scaled_axis().distance(Vec3::Z * 0.5) < 1e-12);
        let slid = Trajectory::straight(&start, 2e-3, std::f64::consts::FRAC_PI_2).at(0.5);
        assert!((slid.translation - start.translation - Vec3::Y * 1e-3).length() < 1e-15);
        assert!(slid.rotation.abs_diff_eq(start.rotation, 1e-15));
    }
}
