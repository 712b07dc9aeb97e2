//! The tactile servo controller.

use crate::{Dof, Dofs, EndEffector, Pid, PidParameters, ServoError, TactileFeatures, TactileJacobian};
use dermis_geometry::{Pose, Quat, Twist, Vec3};

/// Target and gains of a servo.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServoParameters {
    /// Target features. Features of unselected degrees of freedom are ignored.
    pub target: TactileFeatures,
    /// The controlled degrees of freedom of the tool.
    pub dofs: Dofs,
    /// Controller of each degree of freedom, in the order of [`Dof::ALL`]: its error is the remaining displacement (m,
    /// rad), its output a velocity (m/s, rad/s).
    pub pid: [PidParameters; 6],
    /// Total force (N) below which the tool counts as not in contact.
    pub touch_newton: f64,
    /// Speed (m/s) along +z of the tool without contact; 0 to wait.
    pub approach_m_per_s: f64,
    /// Minimum [`TactileFeatures::elongation`] for which the direction is controlled.
    pub least_elongation: f64,
}

/// Result of one control step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ServoStep {
    /// Features of the image; `None` without contact.
    pub features: Option<TactileFeatures>,
    /// Remaining displacement in each degree of freedom (m, rad); zero for unselected ones.
    pub to_go: [f64; 6],
    /// Commanded velocity of the tool, in its own frame.
    pub velocity: Twist,
}

/// Tactile servoing: Δx = J⁻¹ (f_target − f) in the tool frame. A [`Pid`] on each selected component gives a velocity,
/// which moves the commanded pose. The servo uses only the trait [`EndEffector`], so that it can drive a real robot
/// too.
///
/// The gains act on displacements, in 1/s, and do not depend on the array and the object: the Jacobian accounts for
/// those. The Jacobian is taken at the target and kept constant, so the loop gain varies away from the target.
#[derive(Clone, Debug)]
pub struct TactileServo {
    parameters: ServoParameters,
    /// Inverse Jacobian: maps a feature error to a motion.
    inverse: [[f64; 6]; 6],
    pids: [Pid; 6],
    commanded: Option<Pose>,
}

impl TactileServo {
    /// Creates a servo at rest. Refuses a selection for which the Jacobian is nearly singular.
    pub fn new(parameters: ServoParameters, jacobian: &TactileJacobian) -> Result<Self, ServoError> {
        let inverse = jacobian.inverse(parameters.dofs)?;
        Ok(Self { parameters, inverse, pids: parameters.pid.map(Pid::new), commanded: None })
    }

    /// Target features.
    pub fn target(&self) -> &TactileFeatures {
        &self.parameters.target
    }

    /// Runs one control step of `dt_s`: reads the end effector and commands it.
    pub fn update(&mut self, tool: &mut dyn EndEffector, dt_s: f64) -> ServoStep {
        let touching = tool.image().total_newton() >= self.parameters.touch_newton;
        let features = TactileFeatures::of(tool.image()).filter(|_| touching);
        let (to_go, velocity) = match &features {
            Some(features) => self.track(features, dt_s),
            None => self.approach(),
        };
        let commanded = self.commanded.unwrap_or_else(|| tool.world_from_tool());
        let step = Pose::new(Quat::from_scaled_axis(velocity.angular * dt_s), velocity.linear * dt_s);
        self.commanded = Some(tool.move_to(commanded * step));
        ServoStep { features, to_go, velocity }
    }

    fn track(&mut self, features: &TactileFeatures, dt_s: f64) -> ([f64; 6], Twist) {
        let mut error = features.until(&self.parameters.target);
        if features.elongation < self.parameters.least_elongation {
            error[Dof::Rz as usize] = 0.0;
        }
        let to_go: [f64; 6] = self.inverse.map(|row| row.iter().zip(error).map(|(gain, error)| gain * error).sum());
        let mut rate = [0.0; 6];
        for dof in self.parameters.dofs.iter() {
            rate[dof as usize] = self.pids[dof as usize].update(to_go[dof as usize], dt_s);
        }
        let [x, y, z, rx, ry, rz] = rate;
        (to_go, Twist::new(Vec3::new(x, y, z), Vec3::new(rx, ry, rz)))
    }

    fn approach(&mut self) -> ([f64; 6], Twist) {
        self.pids.iter_mut().for_each(Pid::reset);
        let forward = if self.parameters.dofs.has(Dof::Z) { self.parameters.approach_m_per_s } else { 0.0 };
        ([0.0; 6], Twist::new(Vec3::Z * forward, Vec3::ZERO))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TactileImage;
    use dermis_geometry::Vec2;

    /// A tool that follows its command exactly and touches a soft flat bar of 20 × 8 mm.
    struct Ideal {
        tool: Pose,
        object: Pose,
        image: TactileImage,
    }

    impl Ideal {
        fn at(tool: Pose) -> Self {
            let mut ideal = Self { tool, object: Pose::IDENTITY, image: TactileImage::default() };
            ideal.feel();
            ideal
        }

        /// Computes a pressure proportional to depth over the bar's footprint with blurred edges, sampled every 0.5 mm.
        fn feel(&mut self) {
            let tool_from_object = self.tool.inverse() * self.object;
            let object_from_tool = tool_from_object.inverse();
            let inside = |r: f64, half: f64| 1.0 / (1.0 + ((r.abs() - half) / 4e-4).exp());
            self.image = TactileImage::default();
            for (i, j) in (0..81 * 81).map(|k| (k / 81, k % 81)) {
                let at = Vec2::new(f64::from(i) - 40.0, f64::from(j) - 40.0) * 5e-4;
                let p = object_from_tool.transform_point(at.extend(0.0));
                let depth = (p.z + 2e-3).max(0.0);
                self.image.at_m.push(at);
                self.image.newton.push(10.0 * depth * inside(p.x, 10e-3) * inside(p.y, 4e-3));
            }
        }
    }

    impl EndEffector for Ideal {
        fn image(&self) -> &TactileImage {
            &self.image
        }

        fn world_from_tool(&self) -> Pose {
            self.tool
        }

        fn move_to(&mut self, world_from_tool: Pose) -> Pose {
            self.tool = world_from_tool;
            self.feel();
            world_from_tool
        }
    }

    fn servo(dofs: Dofs, gain: f64) -> TactileServo {
        let probe = |moved: &Pose| Ok::<_, ServoError>(TactileFeatures::of(&Ideal::at(*moved).image));
        let jacobian = TactileJacobian::measure([2e-4, 2e-4, 2e-4, 0.01, 0.01, 0.01], probe).unwrap();
        let parameters = ServoParameters {
            target: probe(&Pose::IDENTITY).unwrap().unwrap(),
            dofs,
            pid: [PidParameters::proportional(gain); 6],
            touch_newton: 1e-3,
            approach_m_per_s: 0.01,
            least_elongation: 0.05,
        };
        TactileServo::new(parameters, &jacobian).unwrap()
    }

    /// From a pose with errors in all six degrees of freedom, the tool converges in all six like exp(−K t).
    #[test]
    fn six_degrees_of_freedom_converge_together() {
        let rotation = Quat::from_scaled_axis(Vec3::new(0.03, -0.06, 0.2));
        let mut tool = Ideal::at(Pose::new(rotation, Vec3::new(1.5e-3, -2e-3, 0.5e-3)));
        let mut servo = servo(Dofs::all(), 5.0);
        for _ in 0..200 {
            servo.update(&mut tool, 0.01);
        }
        let left = tool.world_from_tool();
        assert!(left.translation.length() < 2e-5, "{:e}", left.translation.length());
        assert!(left.rotation.to_scaled_axis().length() < 2e-3, "{}", left.rotation.to_scaled_axis());
    }

    /// The servo does not move unselected degrees of freedom.
    #[test]
    fn only_what_is_selected_moves() {
        let start = Pose::new(Quat::from_rotation_z(0.3), Vec3::new(1e-3, 1e-3, 0.3e-3));
        let mut tool = Ideal::at(start);
        let mut servo = servo(Dofs::of(&[Dof::Rz]), 5.0);
        for _ in 0..200 {
            servo.update(&mut tool, 0.01);
        }
        let end = tool.world_from_tool();
        assert!((end.translation - start.translation).length() < 1e-12);
        let rotation = end.rotation.to_scaled_axis();
        assert!(rotation.truncate().length() < 1e-9 && rotation.z.abs() < 2e-3, "{rotation}");
    }

    /// Without contact the tool advances at the approach speed until it touches.
    #[test]
    fn it_goes_looking_for_contact() {
        let mut tool = Ideal::at(Pose::from_translation(Vec3::Z * -8e-3));
        let mut servo = servo(Dofs::all(), 5.0);
        assert_eq!(servo.update(&mut tool, 0.01).features, None);
        assert!((tool.world_from_tool().translation.z + 7.9e-3).abs() < 1e-12);
        let mut last = None;
        for _ in 0..300 {
            last = servo.update(&mut tool, 0.01).features;
        }
        let off = last.unwrap().total_newton / servo.target().total_newton - 1.0;
        assert!(off.abs() < 1e-3, "{off}");
    }
}
