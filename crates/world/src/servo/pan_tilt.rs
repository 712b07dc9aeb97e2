//! A pan-tilt platform that carries a plate of arrays: the platform of Kappassov et al. 2020, Fig. 10.

use crate::parallel_gripper::with_box;
use crate::{Body, BodyId, EndEffector, Motor, MotorParameters, SensorId, TactileImage, World, WorldError};
use dermis_geometry::shapes::{cuboid, cylinder};
use dermis_geometry::{Pose, Quat, Twist, Vec3};
use dermis_sensor::Sensor;

/// Sizes, motors and initial pose.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PanTiltParameters {
    /// Parameters of both motors.
    pub motor: MotorParameters,
    /// Height (m) of the tilt axis above the ground.
    pub axis_height_m: f64,
    /// Distance (m) from the tilt axis up to the sensing surface.
    pub surface_over_axis_m: f64,
    /// Gap (m) between neighbouring arrays.
    pub gap_m: f64,
    /// Initial pan (rad).
    pub pan_rad: f64,
    /// Initial tilt (rad).
    pub tilt_rad: f64,
}

impl Default for PanTiltParameters {
    /// The paper gives no sizes: these are the sizes of two AX-12 motors, one above the other.
    fn default() -> Self {
        Self {
            motor: MotorParameters::default(),
            axis_height_m: 0.072,
            surface_over_axis_m: 0.030,
            gap_m: 1e-3,
            pan_rad: 0.0,
            tilt_rad: 0.0,
        }
    }
}

/// A pan-tilt platform in a world. The lower motor rotates the platform about the vertical; the upper one tilts the
/// plate about its y axis. The arrays lie side by side along x. Call [`PanTilt::exchange`] before every step of the
/// world.
///
/// The parts are driven bodies, because loads do not move the motors (see [`Motor`]). Lag, speed and resolution of the
/// motors are modelled; their torque is not.
#[derive(Clone, Debug)]
pub struct PanTilt {
    parameters: PanTiltParameters,
    yoke: BodyId,
    plate: BodyId,
    sensors: Vec<SensorId>,
    /// Pan and tilt motors.
    motors: [Motor; 2],
    image: TactileImage,
}

impl PanTilt {
    /// Builds the platform with its pan axis through the world's origin and its arrays in order along x.
    pub fn build(world: &mut World, parameters: PanTiltParameters, arrays: Vec<Sensor>) -> Result<Self, WorldError> {
        let p = parameters;
        let motors = [p.pan_rad, p.tilt_rad].map(|angle| Motor::new(p.motor, angle));
        let base = Body::fixed("base", Pose::IDENTITY);
        world.add_body(with_box(base, Vec3::new(0.050, 0.040, 0.032), Vec3::Z * 0.016))?;
        let (yoke_pose, plate_pose) = poses(&p, p.pan_rad, p.tilt_rad);
        let mut yoke = Body::driven("yoke", yoke_pose);
        // The turntable, the upper motor, and its horn up to the plate.
        let raised = |z: f64| Pose::from_translation(Vec3::Z * z);
        if let (Ok(table), Ok(motor), Ok(horn)) = (
            cylinder(0.024, 0.006, 2e-3),
            cuboid(Vec3::new(0.032, 0.040, p.axis_height_m - 0.025)),
            cylinder(0.008, 0.052, 2e-3),
        ) {
            let motor = motor.transformed(&raised(0.5 * (p.axis_height_m - 0.025) + 0.038));
            let across = Pose::new(Quat::from_rotation_x(std::f64::consts::FRAC_PI_2), Vec3::Z * p.axis_height_m);
            let look = table.transformed(&raised(0.035)).joined(&motor).joined(&horn.transformed(&across));
            yoke = yoke.with_visual_mesh(look);
        }
        let yoke = world.add_body(yoke)?;
        let size = arrays.first().map_or(Vec3::splat(0.02), |array| array.surface().bounds().size());
        let pitch = size.x + p.gap_m;
        let across = pitch * arrays.len() as f64 - p.gap_m;
        let plate_size = Vec3::new(across + 0.006, size.y + 0.006, 0.006);
        let plate = Body::driven("plate", plate_pose);
        let plate = match (cuboid(plate_size), cuboid(Vec3::new(0.026, 0.004, p.surface_over_axis_m + 0.004))) {
            (Ok(top), Ok(bracket)) => {
                let at = |y: f64, z: f64| Pose::from_translation(Vec3::new(0.0, y, z));
                let low = -0.5 * p.surface_over_axis_m - 0.006;
                let arms = bracket.transformed(&at(-0.024, low)).joined(&bracket.transformed(&at(0.024, low)));
                let bridge = cuboid(Vec3::new(0.026, 0.052, 0.004)).map(|b| b.transformed(&at(0.0, -0.0084)));
                let arms = bridge.map_or(arms.clone(), |bridge| arms.joined(&bridge));
                plate.with_visual_mesh(top.transformed(&at(0.0, -0.0034)).joined(&arms))
            }
            _ => plate,
        };
        let plate = world.add_body(plate)?;
        let middle = 0.5 * (arrays.len() as f64 - 1.0);
        let sensors = arrays
            .into_iter()
            .enumerate()
            .map(|(i, array)| {
                world.mount(array, plate, Pose::from_translation(Vec3::X * ((i as f64 - middle) * pitch)))
            })
            .collect();
        Ok(Self { parameters, yoke, plate, sensors, motors, image: TactileImage::default() })
    }

    /// The arrays, in order along x.
    pub fn sensors(&self) -> &[SensorId] {
        &self.sensors
    }

    /// The body that carries the arrays. Its frame is the tool frame.
    pub fn plate(&self) -> BodyId {
        self.plate
    }

    /// Pan and tilt (rad).
    pub fn angles_rad(&self) -> [f64; 2] {
        [self.motors[0].angle_rad(), self.motors[1].angle_rad()]
    }

    /// Reads the arrays and moves the motors by one step.
    pub fn exchange(&mut self, world: &mut World) {
        self.image = TactileImage::of_sensors(world, &self.sensors, &world.pose(self.plate));
        let dt_s = world.parameters().step_s;
        self.motors.iter_mut().for_each(|motor| motor.step(dt_s));
        let [pan, tilt] = self.angles_rad();
        let (yoke, plate) = poses(&self.parameters, pan, tilt);
        world.set_velocity(self.yoke, towards(&world.pose(self.yoke), &yoke, dt_s));
        world.set_velocity(self.plate, towards(&world.pose(self.plate), &plate, dt_s));
    }
}

impl EndEffector for PanTilt {
    fn image(&self) -> &TactileImage {
        &self.image
    }

    fn world_from_tool(&self) -> Pose {
        let [pan, tilt] = self.angles_rad();
        poses(&self.parameters, pan, tilt).1
    }

    /// Sets the pan and tilt that bring the tool's axes closest to the target; the target position is ignored.
    fn move_to(&mut self, world_from_tool: Pose) -> Pose {
        let (x, y, z) = (
            world_from_tool.transform_vector(Vec3::X),
            world_from_tool.transform_vector(Vec3::Y),
            world_from_tool.transform_vector(Vec3::Z),
        );
        // For Rz(pan) Ry(tilt): y = (−sin pan, cos pan, 0), x.z = −sin tilt, z.z = cos tilt.
        let pan = self.motors[0].command((-y.x).atan2(y.y));
        let tilt = self.motors[1].command((-x.z).atan2(z.z));
        poses(&self.parameters, pan, tilt).1
    }
}

/// Poses of the yoke and the sensing surface.
fn poses(p: &PanTiltParameters, pan_rad: f64, tilt_rad: f64) -> (Pose, Pose) {
    let yoke = Pose::from_rotation(Quat::from_rotation_z(pan_rad));
    let axis = yoke * Pose::new(Quat::from_rotation_y(tilt_rad), Vec3::Z * p.axis_height_m);
    (yoke, axis * Pose::from_translation(Vec3::Z * p.surface_over_axis_m))
}

/// The constant velocity that moves a body from one pose to another within `dt_s`.
pub(super) fn towards(from: &Pose, to: &Pose, dt_s: f64) -> Twist {
    let rotation = to.rotation * from.rotation.conjugate();
    let shortest = if rotation.w < 0.0 { -rotation } else { rotation };
    Twist::new((to.translation - from.translation) / dt_s, shortest.to_scaled_axis() / dt_s)
}
