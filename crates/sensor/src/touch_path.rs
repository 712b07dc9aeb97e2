//! Steps of an object along a path on a sensor, and derivatives of a scalar through them.

use crate::gradient::{GradientError, add_parameters};
use crate::{Cotangents, Gradients, Reading, Sensor};
use dermis_geometry::{Pose, Twist};
use dermis_skin::{Motion, Object, PathStep, SkinError, State, StepGradient, Target};
use std::collections::BTreeMap;

/// Steps of one object along a path on a sensor, with what its gradient needs.
///
/// ```
/// use dermis_geometry::{Pose, Twist, Vec3, Wrench};
/// use dermis_sensor::{Cotangents, SensorSpec};
/// # let text = r#"
/// # name = "pad"
/// # [surface.grid]
/// # rows = 8
/// # cols = 8
/// # pitch = "2 mm"
/// # [skin]
/// # kind = "springs"
/// # stiffness = "400 N/m"
/// # max_penetration = "4 mm"
/// # friction = { kind = "coulomb", mu = 0.5, regularisation_speed = "1 mm/s" }
/// # "#;
/// let sensor = SensorSpec::parse("a pad with Coulomb friction", text)?.build(None)?;
/// let ball = dermis_skin::Object::new(dermis_geometry::shapes::sphere(5e-3, 1e-3)?);
/// let velocity = Twist::new(Vec3::X * 0.01, Vec3::ZERO);
/// let at = |step: f64| (Pose::from_translation(Vec3::new(1e-5 * step, 0.0, 4e-3)), velocity);
/// let path = sensor.touch_path(&sensor.skin().rest(), &ball, &[at(0.0), at(1.0)], 1e-3)?;
/// // L: the friction force along x of the last step, which is in proportion to mu.
/// let by_force = Cotangents { on_sensor: Wrench { force: Vec3::X, ..Wrench::ZERO }, ..Cotangents::default() };
/// let by = sensor.vjp_path(&ball, &path, &[Cotangents::default(), by_force])?;
/// assert!(by.whole.get("mu").is_some_and(|by| by[0] > 0.0) && by.steps.len() == 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct TouchPath {
    /// State of the skin before the first step.
    pub start: State,
    /// Motion and contact loads of each step.
    pub steps: Vec<PathStep>,
    /// The reading of each step, without the memory and noise of the response.
    pub readings: Vec<Reading>,
    /// Duration (s) of a step.
    pub dt_s: f64,
}

/// Derivatives of a scalar L through all steps of a path.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PathGradients {
    /// By pose and velocity of the object in each step.
    pub steps: Vec<StepGradient>,
    /// By the sizes of the object and the parameters of the sensor. Position and rotation are the sums over the steps.
    pub whole: Gradients,
}

impl Sensor {
    /// Moves an object along a path, from a state of the skin: one step of `dt_s` for each pose with the velocity of the object
    /// relative to the sensor, in the sensor's frame at its origin.
    pub fn touch_path(
        &self,
        state: &State,
        object: &Object,
        motion: &[(Pose, Twist)],
        dt_s: f64,
    ) -> Result<TouchPath, SkinError> {
        let count = motion.len();
        let mut path = TouchPath {
            start: state.clone(),
            steps: Vec::with_capacity(count),
            readings: Vec::with_capacity(count),
            dt_s,
        };
        let mut state = state.clone();
        for &(sensor_from_object, velocity) in motion {
            let target = Target { object, sensor_from_object, velocity };
            let (touch, next) = self.touch(&state, &Motion { targets: &[target] }, dt_s)?;
            path.readings.push(self.read(&touch));
            path.steps.push(PathStep { sensor_from_object, velocity, touch });
            state = next;
        }
        Ok(path)
    }

    /// Derivatives of a scalar with respect to the motion in each step of a path, to the object and to the sensor, from those
    /// with respect to the reading of each step: one vector–Jacobian product, from the last step to the first.
    ///
    /// Contact points that begin or cease to touch make the derivative one-sided; this is the one at constant contact.
    /// The depth of a saturated contact point counts as constant.
    pub fn vjp_path(
        &self,
        object: &Object,
        path: &TouchPath,
        by: &[Cotangents],
    ) -> Result<PathGradients, GradientError> {
        if by.len() != path.steps.len() {
            return Err(GradientError::WrongSteps { got: by.len(), expected: path.steps.len() });
        }
        let mut parameters = BTreeMap::new();
        let mut cotangents = Vec::with_capacity(by.len());
        for ((step, reading), by) in path.steps.iter().zip(&path.readings).zip(by) {
            cotangents.push(self.touch_cotangent(&step.touch, &reading.values_newton, by, &mut parameters)?);
        }
        let found = self.skin().vjp_path(&path.start, object, &path.steps, &cotangents, path.dt_s);
        let found = found.map_err(|source| GradientError::Skin { sensor: self.name().to_owned(), source })?;
        add_parameters(&mut parameters, found.whole.parameters.into_iter().map(|(name, by)| (name, vec![by])));
        let whole = Gradients::new(found.whole.shape, object.surface.primitive(), parameters);
        Ok(PathGradients { steps: found.steps, whole })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{presets, press_to_pose};
    use dermis_geometry::{Primitive, Vec3, Wrench};

    fn ball() -> Object {
        Object::of_primitive(Primitive::Sphere { radius_m: 6e-3 }, 1e-3).unwrap()
    }

    /// Without velocity and bristles a step is a press.
    #[test]
    fn a_step_at_rest_has_the_gradient_of_a_press() {
        let (sensor, ball) = (presets::find("capacitive-8x8").unwrap().build(None).unwrap(), ball());
        let pose = Pose::from_translation(Vec3::new(1e-3, -2e-3, 5.3e-3));
        let on_sensor = Wrench { force: Vec3::new(0.3, -0.2, 1.0), torque: Vec3::new(40.0, 20.0, -10.0) };
        let by = Cotangents { on_sensor, taxels: (0..64).map(f64::from).collect(), ..Cotangents::default() };
        let path = sensor.touch_path(&sensor.skin().rest(), &ball, &[(pose, Twist::ZERO)], 1e-3).unwrap();
        let found = sensor.vjp_path(&ball, &path, std::slice::from_ref(&by)).unwrap();
        let truth = sensor.vjp(&ball, &press_to_pose(&sensor, &ball, &pose).unwrap(), &by).unwrap();
        assert!((found.steps[0].position - truth.position).length() < 1e-12 * truth.position.length());
        for name in ["radius", "stiffness_per_area"] {
            let [found, truth] = [found.whole.get(name).unwrap()[0], truth.get(name).unwrap()[0]];
            assert!((found - truth).abs() < 1e-12 * truth.abs(), "{name}: {found} {truth}");
        }
        assert!(found.steps[0].linear.x != 0.0, "a velocity would bend the bristles");
    }

    #[test]
    fn other_skins_and_other_numbers_of_steps_are_refused() {
        let (sensor, ball) = (presets::find("capacitive-8x8").unwrap().build(None).unwrap(), ball());
        let path = sensor.touch_path(&sensor.skin().rest(), &ball, &[(Pose::IDENTITY, Twist::ZERO)], 1e-3).unwrap();
        let wrong = sensor.vjp_path(&ball, &path, &[]).unwrap_err();
        assert_eq!(wrong.to_string(), "the cotangents are those of 0 steps and the path has 1");
        let gelsight = presets::find("gelsight").unwrap().build(None).unwrap();
        let path = gelsight.touch_path(&gelsight.skin().rest(), &ball, &[], 1e-3).unwrap();
        let wrong = gelsight.vjp_path(&ball, &path, &[]).unwrap_err().to_string();
        assert!(wrong.contains("only `springs` has them along a path"), "{wrong}");
    }
}
