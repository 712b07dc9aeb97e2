//! Reads and writes an mjData through the layout of its version.

use crate::layout::table;
use crate::model::{FrameId, Model};
use dermis_geometry::{Mat3, Pose, Quat, Twist, Vec3, Wrench};
use libc::c_void;

/// An mjData.
pub struct Data<'a> {
    raw: *mut c_void,
    model: Model<'a>,
}

impl<'a> Data<'a> {
    /// Wraps a pointer to an mjData.
    ///
    /// # Safety
    /// `raw` is data of `model` and outlives the value; no other code accesses it while the value lives.
    pub unsafe fn new(raw: *mut c_void, model: Model<'a>) -> Self {
        Self { raw, model }
    }

    fn pointer<T>(&self, offset: usize) -> *mut T {
        // SAFETY: the table guarantees that a pointer to `T` is at `offset`.
        unsafe { self.raw.byte_add(offset).cast::<*mut T>().read() }
    }

    fn numbers<const N: usize>(&self, offset: usize, index: usize) -> [f64; N] {
        // SAFETY: the array has `N` numbers for each index of the model.
        unsafe { self.pointer::<f64>(offset).add(N * index).cast::<[f64; N]>().read() }
    }

    /// Time (s).
    pub fn time_s(&self) -> f64 {
        // SAFETY: `time` is a double of mjData.
        unsafe { self.raw.byte_add(self.model.layout().time).cast::<f64>().read() }
    }

    /// `len` values of `sensordata` starting at `first`.
    pub fn sensor(&mut self, (first, len): (usize, usize)) -> &mut [f64] {
        let layout = self.model.layout();
        // SAFETY: the model defines the range within sensordata; this value has exclusive access to the data.
        unsafe { std::slice::from_raw_parts_mut(self.pointer::<f64>(layout.sensordata).add(first), len) }
    }

    /// `len` values of `plugin_state` starting at `first`.
    pub fn state(&mut self, first: usize, len: usize) -> &mut [f64] {
        let layout = self.model.layout();
        if len == 0 {
            return &mut [];
        }
        // SAFETY: the model defines the range within plugin_state; this value has exclusive access to the data.
        unsafe { std::slice::from_raw_parts_mut(self.pointer::<f64>(layout.plugin_state).add(first), len) }
    }

    fn frame(&self, position: usize, matrix: usize, index: usize) -> Pose {
        // MuJoCo's matrices are row-major.
        let rotation = Mat3::from_cols_array(&self.numbers::<9>(matrix, index)).transpose();
        Pose::new(Quat::from_mat3(&rotation).normalize(), Vec3::from_array(self.numbers(position, index)))
    }

    /// True if MuJoCo has computed poses since the data was made.
    pub fn has_poses(&self) -> bool {
        self.numbers::<4>(self.model.layout().xquat, 0) != [0.0; 4]
    }

    /// Position (m) of a geom in the world frame.
    pub fn geom_position(&self, geom: usize) -> Vec3 {
        Vec3::from_array(self.numbers(self.model.layout().geom_xpos, geom))
    }

    /// Pose of a body in the world frame.
    pub fn world_from_body(&self, body: usize) -> Pose {
        let layout = self.model.layout();
        let [w, x, y, z] = self.numbers(layout.xquat, body);
        Pose::new(Quat::from_xyzw(x, y, z, w), Vec3::from_array(self.numbers(layout.xpos, body)))
    }

    /// Pose of a frame in the world frame.
    pub fn world_from(&self, frame: FrameId) -> Pose {
        let layout = self.model.layout();
        match frame {
            FrameId::Site(site) => self.frame(layout.site_xpos, layout.site_xmat, site),
            FrameId::Geom(geom) => self.frame(layout.geom_xpos, layout.geom_xmat, geom),
            FrameId::Body(body) => self.world_from_body(body),
        }
    }

    /// Velocity (m/s) of a frame's origin and angular velocity (rad/s), in the world frame.
    pub fn velocity(&self, frame: FrameId) -> Twist {
        let (kind, id) = match frame {
            FrameId::Site(site) => (table::OBJ_SITE, site),
            FrameId::Geom(geom) => (table::OBJ_GEOM, geom),
            FrameId::Body(body) => (table::OBJ_XBODY, body),
        };
        let mut out = [0.0; 6];
        // SAFETY: model and data belong together, and MuJoCo writes six numbers.
        unsafe {
            (self.model.library().mj_object_velocity)(self.model.raw(), self.raw, kind, id as i32, out.as_mut_ptr(), 0);
        }
        Twist::new(Vec3::from_slice(&out[3..]), Vec3::from_slice(&out[..3]))
    }

    /// Adds a load (N, N m), in the world frame and about `point` (m), to the passive forces on a body.
    pub fn apply_passive(&mut self, body: usize, load: &Wrench, point: Vec3) {
        let (force, torque, point) = (load.force.to_array(), load.torque.to_array(), point.to_array());
        let target = self.pointer::<f64>(self.model.layout().qfrc_passive);
        // SAFETY: model and data belong together; the target has the length that MuJoCo expects.
        unsafe {
            (self.model.library().mj_apply_ft)(
                self.model.raw(),
                self.raw,
                force.as_ptr(),
                torque.as_ptr(),
                point.as_ptr(),
                body as i32,
                target,
            );
        }
    }
}
