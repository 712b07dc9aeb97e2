//! The arrays that a batch of environments reads and writes.

use super::view::View;
use crate::GpuError;
use crate::cuda_struct::cuda_struct;

/// Formats of rotations, numbered as in frames.cuh.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RotationFormat {
    /// No rotation.
    #[default]
    None = 0,
    /// Quaternion w, x, y, z, as in MuJoCo.
    QuaternionWFirst = 1,
    /// Quaternion x, y, z, w, as in Newton and Warp.
    QuaternionWLast = 2,
    /// Matrices, (n, 3, 3).
    Matrix = 3,
}

cuda_struct! {
    /// The arrays of one body, in the world frame. Unbound arrays are zero.
    #[derive(Default, PartialEq)]
    pub struct BodyArrays {
        /// Position (m) of the body's frame, (n, 3).
        pub position: View,
        /// Rotation of the body's frame, (n, 4) or (n, 3, 3).
        pub rotation: View,
        /// Linear (m/s) and angular (rad/s) velocity, (n, 6).
        pub twist: View,
        /// Points (m) whose velocity `twist` gives, (n, 3); unbound: `center`.
        pub twist_at: View,
        /// Output: force (N) and torque (N m) on the body, (n, 6).
        pub load: View,
        /// Points (m) about which the torque is written, (n, 3); unbound: `center`.
        pub load_at: View,
        /// Pose of the sensor or the object in the body's frame: position (m), quaternion x, y, z, w.
        pub offset: [f64; 7],
        /// Reference point (m) of velocity and torque, in the body's frame.
        pub center: [f64; 3],
        /// Format of `rotation` ([`RotationFormat`]).
        pub rotation_format: i32,
        /// 1 if the angular part of `twist` is first.
        pub angular_first: i32,
    }
}

cuda_struct! {
    /// The arrays of one object in every environment.
    #[derive(Default, PartialEq)]
    pub struct ObjectArrays {
        /// The body of the object.
        pub body: BodyArrays,
        /// Index of the object's shape in the list of the environments, integers, (n); unbound: `fixed_shape`.
        pub shape: View,
        /// The shape in all environments.
        pub fixed_shape: i32,
        /// 1 to add the load on the object to its array, 0 to overwrite it.
        pub add: i32,
    }
}

cuda_struct! {
    /// All arrays of a batch, and its time step.
    #[derive(Default)]
    pub struct Bindings {
        /// The body of the only object.
        pub object: BodyArrays,
        /// The body that carries the sensor.
        pub sensor: BodyArrays,
        /// Output: force along each taxel's normal (N), positive in compression, (n, taxels).
        pub taxels: View,
        /// Output: reading of each taxel after the response (N), (n, taxels).
        pub reported: View,
        /// Output: force vectors of the taxels (N), (n, taxels, 3).
        pub forces: View,
        /// Output: force (N) and torque (N m) on the sensor about its origin, in its frame, (n, 6).
        pub wrench: View,
        /// Output: force (N) on the skin outside all taxels, (n, 3).
        pub outside: View,
        /// Output: column and row of each marker in the image (pixels), (n, markers, 2).
        pub markers: View,
        /// Output: images of the camera, bytes, (n, height, 3 width), without gaps in an image.
        pub image: View,
        /// Time step (s).
        pub dt_s: f64,
        /// 1 to add the load on the only object to its array, 0 to overwrite it.
        pub add_to_object: i32,
        /// The same for the load on the sensor.
        pub add_to_sensor: i32,
    }
}

/// The identity as an offset.
pub const NO_OFFSET: [f64; 7] = [0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0];

impl Bindings {
    /// Refuses an output that begins where another array does, and would overwrite it. Loads may be added to one array.
    pub(super) fn require_apart(&self, objects: &[ObjectArrays]) -> Result<(), GpuError> {
        let loads = [("on_sensor", self.sensor.load, self.add_to_sensor != 0)].into_iter();
        let loads = loads.chain(objects.iter().map(|object| ("on_object", object.body.load, object.add != 0)));
        let readings = [
            ("taxels", self.taxels),
            ("reported", self.reported),
            ("forces", self.forces),
            ("wrench", self.wrench),
            ("outside", self.outside),
            ("markers", self.markers),
            ("image", self.image),
        ];
        let outputs: Vec<(&str, u64, bool)> = (readings.into_iter().map(|(name, view)| (name, view, false)))
            .chain(loads)
            .filter(|(_, view, _)| view.is_bound())
            .map(|(name, view, adds)| (name, view.address, adds))
            .collect();
        let bodies = objects.iter().map(|object| &object.body).chain([&self.sensor]);
        let inputs: Vec<u64> = bodies
            .flat_map(|body| [body.position, body.rotation, body.twist, body.twist_at, body.load_at])
            .filter(View::is_bound)
            .map(|view| view.address)
            .collect();
        for (i, &(name, address, adds)) in outputs.iter().enumerate() {
            let what = match outputs[..i].iter().find(|(_, other, _)| *other == address) {
                Some((other, ..)) if !adds => format!("`{other}`"),
                _ if inputs.contains(&address) => "a pose or a velocity".to_owned(),
                _ => continue,
            };
            let reason =
                format!("`{name}` has the memory of {what}, which it would overwrite: give it an array of its own");
            return Err(GpuError::BadInput { reason });
        }
        Ok(())
    }

    /// No arrays: the sensor is at the origin, and the object with it.
    pub fn new(dt_s: f64) -> Self {
        let body = BodyArrays { offset: NO_OFFSET, ..BodyArrays::default() };
        Self { object: body, sensor: body, dt_s, ..Self::default() }
    }
}
