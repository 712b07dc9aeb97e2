//! Reads an mjModel through the layout of its version.

use crate::contact_filter::{self, Bits};
use crate::layout::{Layout, table};
use crate::library::Library;
use dermis_geometry::{MassProperties, Mat3, Pose, Quat, Vec3};
use libc::c_void;
use std::ffi::{CStr, CString};

/// Inertia (kg m²) of a body whose joints allow no rotation.
const LOCKED_INERTIA_KG_M2: f64 = 1e12;

/// An mjModel.
#[derive(Clone, Copy)]
pub struct Model<'a> {
    raw: *const c_void,
    layout: &'a Layout,
    library: &'a Library,
}

/// The element whose frame carries a sensor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameId {
    /// A site's frame.
    Site(usize),
    /// A body's frame.
    Body(usize),
    /// A geom's frame.
    Geom(usize),
}

impl FrameId {
    /// The "site", "body" or "geom" of an index.
    pub fn new(kind: &str, index: usize) -> Option<Self> {
        match kind {
            "site" => Some(Self::Site(index)),
            "body" => Some(Self::Body(index)),
            "geom" => Some(Self::Geom(index)),
            _ => None,
        }
    }

    /// Kind and index of the element.
    pub fn kind_and_index(self) -> (&'static str, usize) {
        match self {
            Self::Site(index) => ("site", index),
            Self::Body(index) => ("body", index),
            Self::Geom(index) => ("geom", index),
        }
    }

    /// The frame of a named "site", "body" or "geom"; `None` if the model has no such element.
    pub fn find(model: &Model<'_>, kind: &str, name: &str) -> Option<Self> {
        match kind {
            "site" => model.find(table::OBJ_SITE, name).map(Self::Site),
            "body" => model.find(table::OBJ_BODY, name).map(Self::Body),
            _ => model.find(table::OBJ_GEOM, name).map(Self::Geom),
        }
    }
}

impl<'a> Model<'a> {
    /// Wraps a pointer to an mjModel.
    ///
    /// # Safety
    /// `raw` is a model of the version of `layout` and outlives the value.
    pub unsafe fn new(raw: *const c_void, layout: &'a Layout, library: &'a Library) -> Self {
        Self { raw, layout, library }
    }

    /// The pointer to the mjModel, for MuJoCo's functions.
    pub fn raw(&self) -> *const c_void {
        self.raw
    }

    /// The layout of the model's version.
    pub fn layout(&self) -> &'a Layout {
        self.layout
    }

    /// The library of the model.
    pub fn library(&self) -> &'a Library {
        self.library
    }

    /// Element `index` of the array whose pointer is at `offset` (bytes).
    fn element<T: Copy>(&self, offset: usize, index: usize) -> T {
        // SAFETY: the table guarantees that a pointer to `T` is at `offset`; callers stay within the counts of the
        // model.
        unsafe { *self.raw.byte_add(offset).cast::<*const T>().read().add(index) }
    }

    fn slice<T: Copy>(&self, offset: usize, first: usize, len: usize) -> &'a [T] {
        if len == 0 {
            return &[];
        }
        // SAFETY: as in `element`; the model is not changed while a callback runs.
        unsafe { std::slice::from_raw_parts(self.raw.byte_add(offset).cast::<*const T>().read().add(first), len) }
    }

    fn index(&self, offset: usize, index: usize) -> usize {
        usize::try_from(self.element::<i32>(offset, index)).unwrap_or(0)
    }

    fn vector(&self, offset: usize, index: usize) -> Vec3 {
        Vec3::from_slice(self.slice(offset, 3 * index, 3))
    }

    fn pose(&self, position: usize, rotation: usize, index: usize) -> Pose {
        let [w, x, y, z] = self.element::<[f64; 4]>(rotation, index);
        Pose::new(Quat::from_xyzw(x, y, z, w), self.vector(position, index))
    }

    fn count(&self, offset: usize) -> usize {
        // SAFETY: counts are `int` or `mjtSize`, according to `count_bytes`.
        unsafe {
            let at = self.raw.byte_add(offset);
            if self.layout.count_bytes == 8 {
                at.cast::<i64>().read() as usize
            } else {
                at.cast::<i32>().read() as usize
            }
        }
    }

    /// Number of geoms.
    pub fn geoms(&self) -> usize {
        self.count(self.layout.ngeom)
    }

    /// Number of degrees of freedom.
    pub fn dofs(&self) -> usize {
        self.count(self.layout.nv)
    }

    /// Number of bodies.
    pub fn bodies(&self) -> usize {
        self.count(self.layout.nbody)
    }

    /// Indices of the plugin instances of the same plugin as `instance`.
    pub fn instances_like(&self, instance: i32) -> impl Iterator<Item = i32> + use<'a> {
        let model = *self;
        let plugin = move |instance: i32| model.element::<i32>(model.layout.plugin, instance as usize);
        let ours = plugin(instance);
        (0..self.count(self.layout.nplugin) as i32).filter(move |&other| plugin(other) == ours)
    }

    /// Damping (N s/m, N m s) of each degree of freedom that MuJoCo's integrator treats implicitly.
    pub fn implicit_damping(&self) -> Option<&'a [f64]> {
        // SAFETY: `integrator` is an int in mjOption.
        let integrator = unsafe { self.raw.byte_add(self.layout.integrator).cast::<i32>().read() };
        let explicit = integrator == table::INT_RK4
            || (integrator == table::INT_EULER && self.disabled(self.layout.disable_eulerdamp));
        (!explicit).then(|| self.slice(self.layout.dof_damping, 0, self.dofs()))
    }

    /// Time step (s).
    pub fn step_s(&self) -> f64 {
        // SAFETY: `timestep` is a double in mjOption.
        unsafe { self.raw.byte_add(self.layout.timestep).cast::<f64>().read() }
    }

    fn disabled(&self, flag: usize) -> bool {
        // SAFETY: `disableflags` is an int in mjOption.
        let flags = unsafe { self.raw.byte_add(self.layout.disableflags).cast::<i32>().read() };
        flags & flag as i32 != 0
    }

    /// The value of a key of a plugin instance's configuration; `None` if it is missing or empty.
    pub fn config(&self, instance: i32, key: &CStr) -> Option<String> {
        // SAFETY: the model is valid and the key NUL-terminated; MuJoCo returns a NUL-terminated string or null.
        unsafe {
            let text = (self.library.mj_get_plugin_config)(self.raw, instance, key.as_ptr());
            let text = (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().trim().to_owned())?;
            (!text.is_empty()).then_some(text)
        }
    }

    /// The name of an element; `None` if it has none.
    pub fn name(&self, kind: i32, id: usize) -> Option<String> {
        // SAFETY: the model is valid; MuJoCo returns a NUL-terminated string or null.
        unsafe {
            let text = (self.library.mj_id2name)(self.raw, kind, id as i32);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    }

    /// The index of the element with a name; `None` if there is none.
    pub fn find(&self, kind: i32, name: &str) -> Option<usize> {
        let name = CString::new(name).ok()?;
        // SAFETY: the model is valid and the name NUL-terminated.
        let id = unsafe { (self.library.mj_name2id)(self.raw, kind, name.as_ptr()) };
        usize::try_from(id).ok()
    }

    /// The name of a geom in messages.
    pub fn geom_name(&self, geom: usize) -> String {
        match (self.name(table::OBJ_GEOM, geom), self.name(table::OBJ_BODY, self.geom_body(geom))) {
            (Some(name), _) => format!("geom '{name}'"),
            (None, Some(body)) => format!("geom {geom} of body '{body}'"),
            (None, None) => format!("geom {geom}"),
        }
    }

    /// Index of the body of a geom.
    pub fn geom_body(&self, geom: usize) -> usize {
        self.index(self.layout.geom_bodyid, geom)
    }

    /// Type of a geom (`mjtGeom`).
    pub fn geom_type(&self, geom: usize) -> i32 {
        self.element(self.layout.geom_type, geom)
    }

    /// Index of the mesh or height field of a geom.
    pub fn geom_data(&self, geom: usize) -> Option<usize> {
        usize::try_from(self.element::<i32>(self.layout.geom_dataid, geom)).ok()
    }

    /// Sizes of a geom (m); their meaning depends on the type of the geom.
    pub fn geom_size(&self, geom: usize) -> Vec3 {
        self.vector(self.layout.geom_size, geom)
    }

    /// Coefficient of sliding friction of a geom.
    pub fn geom_friction(&self, geom: usize) -> f64 {
        self.element::<[f64; 3]>(self.layout.geom_friction, geom)[0]
    }

    /// Priority of a geom's contact parameters.
    pub fn geom_priority(&self, geom: usize) -> i32 {
        self.element(self.layout.geom_priority, geom)
    }

    /// Pose of a geom in the frame of its body.
    pub fn geom_pose(&self, geom: usize) -> Pose {
        self.pose(self.layout.geom_pos, self.layout.geom_quat, geom)
    }

    /// True if all contact is disabled (`mjDSBL_CONTACT`).
    pub fn contact_is_disabled(&self) -> bool {
        self.disabled(self.layout.disable_contact)
    }

    /// Radius (m) of a geom's bounding sphere; zero for a plane, which has none.
    pub fn geom_radius_m(&self, geom: usize) -> f64 {
        self.element(self.layout.geom_rbound, geom)
    }

    /// Indices of the geoms of a body.
    pub fn body_geoms(&self, body: usize) -> std::ops::Range<usize> {
        let first = self.index(self.layout.body_geomadr, body);
        first..first + self.index(self.layout.body_geomnum, body)
    }

    /// The body that a body is welded to: bodies with the same weld body do not move relative to each other. A mocap
    /// body is its own weld body here; older versions of MuJoCo weld it to the world.
    pub fn weld(&self, body: usize) -> usize {
        let weld = self.index(self.layout.body_weldid, body);
        let mut at = if weld == 0 { body } else { 0 };
        while at != 0 {
            if self.element::<i32>(self.layout.body_mocapid, at) >= 0 {
                return at;
            }
            at = self.index(self.layout.body_parentid, at);
        }
        weld
    }

    /// True if a body is fixed to the world; a mocap body is not.
    pub(crate) fn is_fixed(&self, body: usize) -> bool {
        self.weld(body) == 0
    }

    /// Index of the kinematic tree of a body; `None` if the body is fixed to the world.
    pub fn tree(&self, body: usize) -> Option<usize> {
        usize::try_from(self.element::<i32>(self.layout.body_treeid, body)).ok()
    }

    /// The body of a frame.
    pub fn body_of(&self, frame: FrameId) -> usize {
        match frame {
            FrameId::Site(site) => self.index(self.layout.site_bodyid, site),
            FrameId::Body(body) => body,
            FrameId::Geom(geom) => self.geom_body(geom),
        }
    }

    /// Pose of a frame in the frame of its body.
    pub fn body_from(&self, frame: FrameId) -> Pose {
        match frame {
            FrameId::Site(site) => self.pose(self.layout.site_pos, self.layout.site_quat, site),
            FrameId::Body(_) => Pose::IDENTITY,
            FrameId::Geom(geom) => self.geom_pose(geom),
        }
    }

    /// Pose of a body in the frame of its weld body.
    pub fn weld_from_body(&self, body: usize) -> Pose {
        let (mut at, mut pose) = (body, Pose::IDENTITY);
        while at != 0 && at != self.weld(body) {
            pose = self.pose(self.layout.body_pos, self.layout.body_quat, at) * pose;
            at = self.index(self.layout.body_parentid, at);
        }
        pose
    }

    /// Vertices (m) and triangles (vertex indices) of a mesh.
    pub fn mesh(&self, mesh: usize) -> (&'a [f32], &'a [i32]) {
        let vertices = (self.index(self.layout.mesh_vertadr, mesh), self.index(self.layout.mesh_vertnum, mesh));
        let faces = (self.index(self.layout.mesh_faceadr, mesh), self.index(self.layout.mesh_facenum, mesh));
        (
            self.slice(self.layout.mesh_vert, 3 * vertices.0, 3 * vertices.1),
            self.slice(self.layout.mesh_face, 3 * faces.0, 3 * faces.1),
        )
    }

    /// Rows, columns, sizes (x, y, top, bottom; m) and heights (0 to 1) of a height field.
    pub fn height_field(&self, field: usize) -> (usize, usize, [f64; 4], &'a [f32]) {
        let (rows, cols) = (self.index(self.layout.hfield_nrow, field), self.index(self.layout.hfield_ncol, field));
        let first = self.index(self.layout.hfield_adr, field);
        let size = self.element::<[f64; 4]>(self.layout.hfield_size, field);
        (rows, cols, size, self.slice(self.layout.hfield_data, first, rows * cols))
    }

    /// Indices of the `<sensor>` elements of a plugin instance.
    pub fn sensors(&self, instance: i32) -> impl Iterator<Item = usize> + use<'a> {
        let model = *self;
        (0..self.count(self.layout.nsensor))
            .filter(move |&sensor| model.element::<i32>(model.layout.sensor_plugin, sensor) == instance)
    }

    /// Kind (`mjtObj`) and id of the element that a sensor is attached to.
    pub fn sensor_object(&self, sensor: usize) -> (i32, i32) {
        (self.element(self.layout.sensor_objtype, sensor), self.element(self.layout.sensor_objid, sensor))
    }

    /// Address and length of a sensor in `sensordata`.
    pub fn sensor_output(&self, sensor: usize) -> (usize, usize) {
        (self.index(self.layout.sensor_adr, sensor), self.index(self.layout.sensor_dim, sensor))
    }

    /// Address of a plugin instance in `plugin_state`.
    pub fn state_address(&self, instance: i32) -> usize {
        self.index(self.layout.plugin_stateadr, instance as usize)
    }

    /// True if a geom can collide with other geoms.
    pub fn collides(&self, geom: usize) -> bool {
        self.contact_bits(geom) != [0, 0]
    }

    /// contype and conaffinity of a geom.
    pub(crate) fn contact_bits(&self, geom: usize) -> Bits {
        [self.element(self.layout.geom_contype, geom), self.element(self.layout.geom_conaffinity, geom)]
    }

    /// Writes contype and conaffinity of a geom.
    ///
    /// # Safety
    /// No other code accesses these fields during the call.
    pub(crate) unsafe fn set_contact_bits(&self, geom: usize, bits: Bits) {
        for (offset, bits) in [self.layout.geom_contype, self.layout.geom_conaffinity].into_iter().zip(bits) {
            // SAFETY: as in `element`; the model is MuJoCo's own memory, which may be written.
            unsafe { self.raw.byte_add(offset).cast::<*mut i32>().read().add(geom).write(bits) };
        }
    }

    /// contype and conaffinity of all geoms.
    pub(crate) fn all_contact_bits(&self) -> Vec<Bits> {
        (0..self.geoms()).map(|geom| self.contact_bits(geom)).collect()
    }

    /// True if the geoms have these bits.
    pub(crate) fn has_contact_bits(&self, bits: &[Bits]) -> bool {
        self.geoms() == bits.len() && bits.iter().enumerate().all(|(geom, bits)| self.contact_bits(geom) == *bits)
    }

    /// Writes contype and conaffinity of all geoms.
    ///
    /// # Safety
    /// No other code accesses these fields during the call.
    pub(crate) unsafe fn set_all_contact_bits(&self, bits: &[Bits]) {
        for (geom, bits) in bits.iter().enumerate() {
            // SAFETY: as the caller guarantees.
            unsafe { self.set_contact_bits(geom, *bits) };
        }
    }

    /// True if the model has a `<pair>` of these geoms.
    pub(crate) fn are_paired(&self, a: usize, b: usize) -> bool {
        (0..self.count(self.layout.npair)).any(|pair| {
            let geoms = [self.index(self.layout.pair_geom1, pair), self.index(self.layout.pair_geom2, pair)];
            geoms == [a, b] || geoms == [b, a]
        })
    }

    /// True if MuJoCo would compute contact between two geoms without the contacts that sensors have disabled.
    pub fn would_touch(&self, a: usize, b: usize) -> bool {
        if self.contact_is_disabled() {
            return false;
        }
        if self.are_paired(a, b) {
            return true;
        }
        let bits = |geom: usize| contact_filter::original_bits(self, geom).unwrap_or_else(|| self.contact_bits(geom));
        if !contact_filter::collide(bits(a), bits(b)) {
            return false;
        }
        let (body_a, body_b) = (self.geom_body(a), self.geom_body(b));
        if self.weld(body_a) == self.weld(body_b) || self.are_parent_and_child(body_a, body_b) {
            return false;
        }
        let signature = |one: usize, other: usize| ((one << 16) + other) as i32;
        !(0..self.count(self.layout.nexclude)).any(|exclude| {
            let excluded = self.element::<i32>(self.layout.exclude_signature, exclude);
            excluded == signature(body_a, body_b) || excluded == signature(body_b, body_a)
        })
    }

    /// True if MuJoCo ignores contact between two bodies because one is the parent of the other. The world does not
    /// count as a parent.
    pub fn are_parent_and_child(&self, a: usize, b: usize) -> bool {
        let (a, b) = (self.weld(a), self.weld(b));
        let parent = |body: usize| self.weld(self.index(self.layout.body_parentid, body));
        a != 0 && b != 0 && (parent(a) == b || parent(b) == a) && !self.disabled(self.layout.disable_filterparent)
    }

    /// Effective mass of a body: its own mass if the body is free, else the average over its joints
    /// (`body_invweight0`). `None` if the body cannot move.
    pub fn mass(&self, body: usize) -> Option<MassProperties> {
        let [linear, angular] = self.element::<[f64; 2]>(self.layout.body_invweight0, body);
        if linear <= 0.0 {
            return None;
        }
        let body_from_inertia = self.pose(self.layout.body_ipos, self.layout.body_iquat, body);
        let center_m = body_from_inertia.translation;
        let free = self.index(self.layout.body_jntnum, body) == 1
            && self.element::<i32>(self.layout.jnt_type, self.index(self.layout.body_jntadr, body)) == table::JNT_FREE;
        if free {
            let rotation = Mat3::from_quat(body_from_inertia.rotation);
            let principal = Mat3::from_diagonal(self.vector(self.layout.body_inertia, body));
            let mass_kg = self.element(self.layout.body_mass, body);
            return Some(MassProperties {
                mass_kg,
                center_m,
                inertia_kg_m2: rotation * principal * rotation.transpose(),
            });
        }
        let inertia = if angular > 0.0 { 1.0 / angular } else { LOCKED_INERTIA_KG_M2 };
        Some(MassProperties {
            mass_kg: 1.0 / linear,
            center_m,
            inertia_kg_m2: Mat3::from_diagonal(Vec3::splat(inertia)),
        })
    }
}
