//! The MuJoCo library that this process has loaded.
//!
//! The crate does not link MuJoCo, because the file name of libmujoco contains its exact version and one build must
//! support many versions. `loaded.rs` finds the library among the loaded ones, this module its functions by name.

use crate::CouplingError;
use crate::layout::Layout;
use crate::loaded::Loaded;
use libc::{c_char, c_int, c_void};
use std::ffi::CStr;
use std::sync::OnceLock;
use std::sync::atomic::AtomicPtr;

/// `mj_name2id`.
type NameToId = unsafe extern "C-unwind" fn(*const c_void, c_int, *const c_char) -> c_int;
/// `mj_id2name`.
type IdToName = unsafe extern "C-unwind" fn(*const c_void, c_int, c_int) -> *const c_char;
/// `mj_getPluginConfig`.
type PluginConfig = unsafe extern "C-unwind" fn(*const c_void, c_int, *const c_char) -> *const c_char;
/// `mj_objectVelocity`.
type ObjectVelocity = unsafe extern "C-unwind" fn(*const c_void, *const c_void, c_int, c_int, *mut f64, c_int);
/// `mj_applyFT`.
type ApplyForceTorque =
    unsafe extern "C-unwind" fn(*const c_void, *mut c_void, *const f64, *const f64, *const f64, c_int, *mut f64);
/// `mj_jac`.
type Jacobian = unsafe extern "C-unwind" fn(*const c_void, *const c_void, *mut f64, *mut f64, *const f64, c_int);
/// `mj_solveM`.
type SolveInertia = unsafe extern "C-unwind" fn(*const c_void, *mut c_void, *mut f64, *const f64, c_int);
/// `mj_rne`.
type NewtonEuler = unsafe extern "C-unwind" fn(*const c_void, *mut c_void, c_int, *mut f64);
/// `mj_fwdActuation`.
type Actuation = unsafe extern "C-unwind" fn(*const c_void, *mut c_void);
/// `mj_mulJacTVec`.
type ConstraintForce = unsafe extern "C-unwind" fn(*const c_void, *const c_void, *mut f64, *const f64);
/// `mj_contactForce`.
type ContactForce = unsafe extern "C-unwind" fn(*const c_void, *const c_void, c_int, *mut f64);
/// `mj_stateSize`.
type StateSize = unsafe extern "C-unwind" fn(*const c_void, c_int) -> c_int;
/// `mj_getState`.
type GetState = unsafe extern "C-unwind" fn(*const c_void, *const c_void, *mut f64, c_int);
/// `mju_error` and `mju_warning`.
type Message = unsafe extern "C-unwind" fn(*const c_char, ...);
/// `mjp_registerPlugin`; the argument is an `mjpPlugin`.
type RegisterPlugin = unsafe extern "C-unwind" fn(*const c_void) -> c_int;
/// `mj_versionString`.
type VersionString = unsafe extern "C-unwind" fn() -> *const c_char;

/// The functions of MuJoCo that dermis calls, and the layout of its structs if the version is supported.
#[derive(Clone, Copy)]
#[allow(missing_docs, reason = "named as in MuJoCo")]
pub struct Library {
    pub mj_name2id: NameToId,
    pub mj_id2name: IdToName,
    pub mj_get_plugin_config: PluginConfig,
    pub mj_object_velocity: ObjectVelocity,
    pub mj_apply_ft: ApplyForceTorque,
    pub mj_jac: Jacobian,
    pub mj_solve_m: SolveInertia,
    pub mj_rne: NewtonEuler,
    pub mj_fwd_actuation: Actuation,
    pub mj_mul_jac_t_vec: ConstraintForce,
    pub mj_contact_force: ContactForce,
    pub mj_state_size: StateSize,
    pub mj_get_state: GetState,
    pub mju_error: Message,
    pub mju_warning: Message,
    pub mjp_register_plugin: RegisterPlugin,
    pub mjcb_passive: &'static AtomicPtr<c_void>,
    pub layout: Option<Layout>,
}

static LIBRARY: OnceLock<Option<(Library, String)>> = OnceLock::new();
/// The layout of [`Library::set_layout`].
static GIVEN: OnceLock<Layout> = OnceLock::new();

impl Library {
    /// The loaded library, looked up once; `None` if the process has not loaded MuJoCo.
    pub fn here() -> Option<&'static Self> {
        LIBRARY.get_or_init(find).as_ref().map(|(library, _)| library)
    }

    /// The error for an unsupported version; `None` for a supported one.
    pub fn refusal() -> Option<CouplingError> {
        let (_, version) = LIBRARY.get()?.as_ref()?;
        if GIVEN.get().is_some() { None } else { Layout::of(version).err() }
    }

    /// Replaces the layout of the table; only the first call has an effect.
    ///
    /// # Safety
    /// The layout is that of the loaded library.
    pub unsafe fn set_layout(layout: Layout) {
        GIVEN.get_or_init(|| layout);
    }

    /// Major, minor and patch version, if the version string consists of three numbers.
    pub fn version() -> Option<(u32, u32, u32)> {
        let (_, version) = LIBRARY.get()?.as_ref()?;
        let mut parts = version.split('.').map(str::parse);
        match (parts.next()?, parts.next()?, parts.next()?) {
            (Ok(major), Ok(minor), Ok(patch)) => Some((major, minor, patch)),
            _ => None,
        }
    }

    /// The layout of MuJoCo's structs. Refuses an unsupported version.
    pub fn layout(&self) -> Result<&Layout, CouplingError> {
        GIVEN.get().or(self.layout.as_ref()).ok_or_else(|| Self::refusal().unwrap_or(CouplingError::NotLoaded))
    }
}

fn find() -> Option<(Library, String)> {
    let mujoco = Loaded::mujoco()?;
    /// The function of a name. Its type is that of MuJoCo's header and the same in all supported versions.
    unsafe fn function<F: Copy>(mujoco: Loaded, name: &CStr) -> Option<F> {
        let found = mujoco.symbol(name)?;
        // SAFETY: the caller requests the function pointer type of this name, which has the size of a pointer.
        Some(unsafe { std::mem::transmute_copy::<*mut c_void, F>(&found) })
    }
    // SAFETY: each type is that of the function or variable in mujoco.h, and the library stays loaded.
    unsafe {
        let version: VersionString = function(mujoco, c"mj_versionString")?;
        let version = CStr::from_ptr(version()).to_string_lossy().into_owned();
        let library = Library {
            mj_name2id: function(mujoco, c"mj_name2id")?,
            mj_id2name: function(mujoco, c"mj_id2name")?,
            mj_get_plugin_config: function(mujoco, c"mj_getPluginConfig")?,
            mj_object_velocity: function(mujoco, c"mj_objectVelocity")?,
            mj_apply_ft: function(mujoco, c"mj_applyFT")?,
            mj_jac: function(mujoco, c"mj_jac")?,
            mj_solve_m: function(mujoco, c"mj_solveM")?,
            mj_rne: function(mujoco, c"mj_rne")?,
            mj_fwd_actuation: function(mujoco, c"mj_fwdActuation")?,
            mj_mul_jac_t_vec: function(mujoco, c"mj_mulJacTVec")?,
            mj_contact_force: function(mujoco, c"mj_contactForce")?,
            mj_state_size: function(mujoco, c"mj_stateSize")?,
            mj_get_state: function(mujoco, c"mj_getState")?,
            mju_error: function(mujoco, c"mju_error")?,
            mju_warning: function(mujoco, c"mju_warning")?,
            mjp_register_plugin: function(mujoco, c"mjp_registerPlugin")?,
            mjcb_passive: AtomicPtr::from_ptr(mujoco.symbol(c"mjcb_passive")?.cast()),
            layout: Layout::of(&version).ok(),
        };
        Some((library, version))
    }
}
