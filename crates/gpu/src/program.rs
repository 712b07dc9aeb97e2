//! Kernels, from text to what a GPU runs.

use crate::GpuError;
use cudarc::nvrtc::{Ptx, result, sys};
use std::ffi::{CStr, CString};

/// Compiles for one kind of GPU, to its machine code: a driver that is older than the compiler cannot read the compiler's
/// intermediate code, but can run this.
pub fn compile(name: &'static str, source: &str, architecture: &str, options: &[&str]) -> Result<Ptx, GpuError> {
    let refused = |log: String| GpuError::Compile { program: name, architecture: architecture.to_owned(), log };
    let text = CString::new(source).map_err(|error| refused(error.to_string()))?;
    let title = CString::new(name).map_err(|error| refused(error.to_string()))?;
    let failed = |error: result::NvrtcError| refused(format!("{error:?}"));
    let program = Program(result::create_program(&text, Some(&title)).map_err(failed)?);
    let mut all = vec![format!("--gpu-architecture={architecture}"), "--std=c++17".to_owned()];
    all.extend(options.iter().map(|&option| option.to_owned()));
    // SAFETY: the program is alive until `Program` is dropped.
    #[allow(unsafe_code)]
    unsafe {
        if result::compile_program(program.0, &all).is_err() {
            return Err(refused(program.log()));
        }
        let mut size = 0;
        sys::nvrtcGetCUBINSize(program.0, &raw mut size).result().map_err(failed)?;
        let mut code = vec![0u8; size];
        sys::nvrtcGetCUBIN(program.0, code.as_mut_ptr().cast()).result().map_err(failed)?;
        Ok(Ptx::from_binary(code))
    }
}

struct Program(sys::nvrtcProgram);

impl Program {
    /// What the compiler says, its first lines.
    fn log(&self) -> String {
        const LINES: usize = 12;
        // SAFETY: the program is alive, and its log ends with a zero.
        #[allow(unsafe_code)]
        let log = unsafe {
            result::get_program_log(self.0).map(|log| CStr::from_ptr(log.as_ptr()).to_string_lossy().into_owned())
        };
        log.unwrap_or_default().lines().take(LINES).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // SAFETY: it is destroyed once, here.
        #[allow(unsafe_code)]
        let _ = unsafe { result::destroy_program(self.0) };
    }
}
