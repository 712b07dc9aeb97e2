//! Reads and writes an mjData through the layout of its version.

use crate::engine_contacts::EngineContact;
use crate::layout::table;
use crate::model::{FrameId, Model};
use dermis_geometry::{Mat3, Pose, Quat, Twist, Vec3, Wrench};
use libc::c_void;
use std::hash::{DefaultHasher, Hasher};

/// `mjS_ASLEEP`.
const ASLEEP: i32 = 0;
/// `mjMINAWAKE`: steps at rest before a tree sleeps.
const MIN_AWAKE: i32 = 10;

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

    /// The address of the mjData.
    pub fn address(&self) -> usize {
        self.raw as usize
    }

    /// The model of the data.
    pub(crate) fn model(&self) -> &Model<'a> {
        &self.model
    }

    /// A digest of time, positions, velocities and activations.
    pub fn digest(&self) -> u64 {
        // mjSTATE_TIME, mjSTATE_QPOS, mjSTATE_QVEL and mjSTATE_ACT, which are the same in all versions.
        const PHYSICS: i32 = 0b1111;
        let (library, raw) = (self.model.library(), self.raw.cast_const());
        // SAFETY: the model is alive.
        let len = unsafe { (library.mj_state_size)(self.model.raw(), PHYSICS) };
        let mut state = vec![0.0; usize::try_from(len).unwrap_or(0)];
        // SAFETY: model and data belong together, and MuJoCo writes `len` numbers.
        unsafe { (library.mj_get_state)(self.model.raw(), raw, state.as_mut_ptr(), PHYSICS) };
        let mut hasher = DefaultHasher::new();
        state.iter().for_each(|value: &f64| hasher.write_u64(value.to_bits()));
        hasher.finish()
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

    /// True if MuJoCo lets a body sleep: it does not move until its tree wakes.
    pub fn is_asleep(&self, body: usize) -> bool {
        let offset = self.model.layout().body_awake;
        // SAFETY: versions with this field have a number for each body there.
        offset != 0 && unsafe { self.pointer::<i32>(offset).add(body).read() } == ASLEEP
    }

    /// Wakes the tree of a body from the next step on, with those that fell asleep together with it, or keeps it awake.
    pub fn wake(&mut self, body: usize) {
        let offset = self.model.layout().tree_asleep;
        let Some(mut tree) = (offset != 0).then(|| self.model.tree(body)).flatten() else { return };
        let asleep = self.pointer::<i32>(offset);
        loop {
            // SAFETY: versions with this field have a number for each tree there: of sleeping trees the next one of their
            // cycle, of others the steps until they sleep, below zero.
            let next = unsafe { asleep.add(tree).replace(-(1 + MIN_AWAKE)) };
            match usize::try_from(next) {
                Ok(next) => tree = next,
                Err(_) => return,
            }
        }
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

    fn count(&self, offset: usize) -> usize {
        // SAFETY: the table guarantees that an int is at `offset`.
        usize::try_from(unsafe { self.raw.byte_add(offset).cast::<i32>().read() }).unwrap_or(0)
    }

    /// The contacts of the last evaluation between geoms for which `wanted` is true, with their forces.
    pub fn contacts(&self, wanted: impl Fn([usize; 2]) -> bool) -> Vec<EngineContact> {
        let layout = self.model.layout();
        let first = self.pointer::<u8>(layout.contact);
        let contact = |i: usize| {
            // SAFETY: there are `ncon` records of `contact_bytes`, with fields of these types at these offsets.
            let (geoms, at, frame) = unsafe {
                let record = first.add(i * layout.contact_bytes);
                (
                    record.add(layout.contact_geom).cast::<[i32; 2]>().read_unaligned(),
                    record.add(layout.contact_pos).cast::<[f64; 3]>().read_unaligned(),
                    record.add(layout.contact_frame).cast::<[f64; 9]>().read_unaligned(),
                )
            };
            // Contacts of deformable bodies have no geom.
            let [Ok(one), Ok(other)] = geoms.map(usize::try_from) else { return None };
            if !wanted([one, other]) {
                return None;
            }
            let mut force = [0.0; 6];
            // SAFETY: model and data belong together, contact `i` exists, and MuJoCo writes six numbers.
            unsafe {
                (self.model.library().mj_contact_force)(self.model.raw(), self.raw, i as i32, force.as_mut_ptr());
            }
            // The rows are the axes of the contact frame; the first is the normal.
            let axes = [0, 3, 6].map(|row| Vec3::from_slice(&frame[row..row + 3]));
            let force = axes[0] * force[0] + axes[1] * force[1] + axes[2] * force[2];
            Some(EngineContact { geoms: [one, other], at: Vec3::from_array(at), normal: axes[0], force })
        };
        (0..self.count(layout.ncon)).filter_map(contact).collect()
    }

    fn generalized(&self, offset: usize) -> &[f64] {
        // SAFETY: the arrays of generalized forces have `nv` numbers.
        unsafe { slice_at(self.pointer::<f64>(offset), self.model.dofs()) }
    }

    /// Accelerations (generalized) of the last evaluation.
    pub fn accelerations(&self) -> &[f64] {
        self.generalized(self.model.layout().qacc)
    }

    /// Forces of constraints in the last evaluation (generalized).
    pub fn constraint_forces(&self) -> Vec<f64> {
        self.generalized(self.model.layout().qfrc_constraint).to_vec()
    }

    /// Forces (generalized) that do not depend on the acceleration, without those of skins that are yet to be added:
    /// passive and applied forces, actuators, gravity, centrifugal and Coriolis forces. MuJoCo computes actuators after
    /// passive forces; they are computed here with the present controls, and again by MuJoCo.
    pub fn smooth_forces(&mut self) -> Vec<f64> {
        let (layout, library) = (self.model.layout(), self.model.library());
        let mut sum = vec![0.0; self.model.dofs()];
        // SAFETY: model and data belong together; MuJoCo writes `nv` numbers, and has computed the lengths and velocities
        // of actuators.
        unsafe {
            (library.mj_rne)(self.model.raw(), self.raw, 0, sum.as_mut_ptr());
            (library.mj_fwd_actuation)(self.model.raw(), self.raw);
        }
        sum.iter_mut().for_each(|bias| *bias = -*bias);
        for offset in [layout.qfrc_passive, layout.qfrc_applied, layout.qfrc_actuator] {
            sum.iter_mut().zip(self.generalized(offset)).for_each(|(sum, force)| *sum += force);
        }
        for body in 1..self.model.bodies() {
            let load = self.numbers::<6>(layout.xfrc_applied, body);
            if load != [0.0; 6] {
                let center = self.numbers::<3>(layout.xipos, body);
                // SAFETY: model and data belong together; force and torque have three numbers, the target `nv`.
                unsafe {
                    let (force, torque) = (load.as_ptr(), load.as_ptr().add(3));
                    let target = sum.as_mut_ptr();
                    let model = self.model.raw();
                    (library.mj_apply_ft)(model, self.raw, force, torque, center.as_ptr(), body as i32, target);
                }
            }
        }
        sum
    }

    /// Adds to `rows` (six rows of `nv` numbers) `sign` times the Jacobian of a body at a point (m) in the world frame:
    /// velocity of the point and angular velocity, with components in the frame of `rotation`.
    pub fn add_jacobian(&self, body: usize, point: Vec3, sensor_from_world: &Mat3, sign: f64, rows: &mut [f64]) {
        let dofs = self.model.dofs();
        let mut jacobian = vec![0.0; 6 * dofs];
        let point = point.to_array();
        // SAFETY: model and data belong together, and MuJoCo writes 3 × nv numbers to each half.
        unsafe {
            let (linear, angular) = (jacobian.as_mut_ptr(), jacobian.as_mut_ptr().add(3 * dofs));
            let raw = self.raw.cast_const();
            (self.model.library().mj_jac)(self.model.raw(), raw, linear, angular, point.as_ptr(), body as i32);
        }
        for half in 0..2 {
            for dof in 0..dofs {
                let at = |axis: usize| jacobian[(3 * half + axis) * dofs + dof];
                let column = *sensor_from_world * Vec3::new(at(0), at(1), at(2)) * sign;
                for (axis, value) in column.to_array().into_iter().enumerate() {
                    rows[(3 * half + axis) * dofs + dof] += value;
                }
            }
        }
    }

    /// M⁻¹ of each row of `nv` numbers.
    pub fn solve_inertia(&mut self, rows: &[f64]) -> Vec<f64> {
        let mut solved = vec![0.0; rows.len()];
        let count = rows.len() / self.model.dofs().max(1);
        if count > 0 {
            // SAFETY: model and data belong together, and MuJoCo has factorised M before it computes passive forces.
            unsafe {
                let (to, from) = (solved.as_mut_ptr(), rows.as_ptr());
                (self.model.library().mj_solve_m)(self.model.raw(), self.raw, to, from, count as i32);
            }
        }
        solved
    }

    /// Jacobian (rows of `nv` numbers) and regularisation R of the equality constraints.
    pub fn equalities(&self) -> (Vec<f64>, Vec<f64>) {
        let layout = self.model.layout();
        let (count, all) = (self.count(layout.ne), self.count(layout.nefc));
        if count == 0 {
            return (Vec::new(), Vec::new());
        }
        let mut rows = vec![0.0; count * self.model.dofs()];
        let mut unit = vec![0.0; all];
        for (row, target) in rows.chunks_exact_mut(self.model.dofs()).enumerate() {
            unit[row] = 1.0;
            // SAFETY: model and data belong together; MuJoCo reads `nefc` and writes `nv` numbers.
            unsafe {
                let (model, raw) = (self.model.raw(), self.raw.cast_const());
                (self.model.library().mj_mul_jac_t_vec)(model, raw, target.as_mut_ptr(), unit.as_ptr());
            }
            unit[row] = 0.0;
        }
        // SAFETY: equalities come first among the `nefc` constraints.
        let regularisation = unsafe { slice_at(self.pointer::<f64>(layout.efc_R), count) }.to_vec();
        (rows, regularisation)
    }

    /// Adds generalized forces to the passive forces.
    pub fn add_passive(&mut self, forces: &[f64]) {
        let target = self.pointer::<f64>(self.model.layout().qfrc_passive);
        // SAFETY: the array has `nv` numbers, and this value has exclusive access to the data.
        let target = unsafe { std::slice::from_raw_parts_mut(target, self.model.dofs().min(forces.len())) };
        target.iter_mut().zip(forces).for_each(|(to, force)| *to += force);
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

/// `len` numbers at an address, which may be null for none.
///
/// # Safety
/// There are `len` numbers at the address while the slice is used.
unsafe fn slice_at<'a>(address: *const f64, len: usize) -> &'a [f64] {
    // SAFETY: the caller guarantees the numbers.
    if len == 0 { &[] } else { unsafe { std::slice::from_raw_parts(address, len) } }
}
