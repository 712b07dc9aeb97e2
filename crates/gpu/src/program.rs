//! CUDA programs: source, and compilation to machine code.

use crate::{GpuError, library};
use cudarc::nvrtc::{result, sys};
use std::borrow::Cow;
use std::ffi::{CStr, CString};

/// Numbers, vectors, rotations, hierarchies and objects: the first part of every program's source.
pub(crate) const COMMON: &str = include_str!("cuda/common.cuh");

/// Disables fused multiply-add, so that products and sums are rounded as on the CPU.
pub(crate) const UNFUSED: &str = "--fmad=false";

/// Kernels that are compiled together. The functions `programs` of `array`, `layer` and `gel` list all of them.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// Unique among all programs.
    pub name: Cow<'static, str>,
    /// Source texts, which are concatenated.
    pub source: &'static [&'static str],
    /// Compiler options.
    pub options: Vec<String>,
}

impl Program {
    pub fn new(name: impl Into<Cow<'static, str>>, source: &'static [&'static str], options: &[&str]) -> Self {
        Self { name: name.into(), source, options: options.iter().map(|&option| option.to_owned()).collect() }
    }

    /// Compiles to the machine code of one architecture, such as `sm_90`. Unlike PTX, machine code also runs with a
    /// driver that is older than the compiler.
    pub fn compile(&self, architecture: &str) -> Result<Vec<u8>, GpuError> {
        let compilation = self.compilation(architecture)?;
        let failed = |error: result::NvrtcError| self.refused(architecture, format!("{error:?}"));
        // SAFETY: nvrtc's program is alive until `compilation` is dropped, and `code` has the size that nvrtc reports.
        unsafe {
            let mut size = 0;
            sys::nvrtcGetCUBINSize(compilation.0, &raw mut size).result().map_err(failed)?;
            let mut code = vec![0u8; size];
            sys::nvrtcGetCUBIN(compilation.0, code.as_mut_ptr().cast()).result().map_err(failed)?;
            Ok(code)
        }
    }

    fn compilation(&self, architecture: &str) -> Result<Compilation, GpuError> {
        if !library::has_compiler() {
            return Err(GpuError::NoCompiler);
        }
        let refused = |log: String| self.refused(architecture, log);
        let failed = |error: result::NvrtcError| refused(format!("{error:?}"));
        let text = CString::new(self.source.concat()).map_err(|error| refused(error.to_string()))?;
        let title = CString::new(&*self.name).map_err(|error| refused(error.to_string()))?;
        let compilation = Compilation(result::create_program(&text, Some(&title)).map_err(failed)?);
        let mut options = vec![format!("--gpu-architecture={architecture}"), "--std=c++17".to_owned()];
        options.extend_from_slice(&self.options);
        // SAFETY: nvrtc's program is alive until `compilation` is dropped.
        if unsafe { result::compile_program(compilation.0, &options) }.is_err() {
            return Err(refused(compilation.log()));
        }
        Ok(compilation)
    }

    fn refused(&self, architecture: &str, log: String) -> GpuError {
        GpuError::Compile { program: self.name.to_string(), architecture: architecture.to_owned(), log }
    }
}

struct Compilation(sys::nvrtcProgram);

impl Compilation {
    /// The first lines of the compiler's messages.
    fn log(&self) -> String {
        const LINES: usize = 12;
        // SAFETY: the program is alive, and its log ends with a zero.
        let log = unsafe {
            result::get_program_log(self.0).map(|log| CStr::from_ptr(log.as_ptr()).to_string_lossy().into_owned())
        };
        log.unwrap_or_default().lines().take(LINES).collect::<Vec<_>>().join("\n")
    }
}

impl Drop for Compilation {
    fn drop(&mut self) {
        // SAFETY: the program is destroyed once, here.
        let _ = unsafe { result::destroy_program(self.0) };
    }
}

#[cfg(test)]
mod tests {
    use super::{Program, result};
    use crate::{array, gel, layer, library};
    use std::collections::BTreeSet;
    use std::io::Write;
    use std::sync::Mutex;

    /// Compiles every program for the architecture of an H100 or H200; needs nvrtc but no GPU.
    #[test]
    fn every_program_compiles() {
        let programs = [array::programs(), layer::programs(), gel::programs()].concat();
        let names: BTreeSet<_> = programs.iter().map(|program| &program.name).collect();
        assert_eq!(names.len(), programs.len(), "two programs have one name");
        if !library::has_compiler() {
            // Directly to the terminal, because the test runner captures the output of tests.
            let _ = writeln!(std::io::stderr(), "SKIPPED: every_program_compiles: libnvrtc was not found");
            return;
        }
        let (left, failures) = (Mutex::new(programs), Mutex::new(Vec::new()));
        let work = || {
            while let Some(program) = { left.lock().unwrap().pop() } {
                if let Err(error) = program.compile("sm_90") {
                    failures.lock().unwrap().push(error.to_string());
                }
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        std::thread::scope(|scope| (0..threads).for_each(|_| drop(scope.spawn(work))));
        let failures = failures.into_inner().unwrap();
        assert!(failures.is_empty(), "{}", failures.join("\n"));
    }

    /// Springs in single precision use `f64` only where they copy numbers from and to arrays of `f64`, and add to those.
    #[test]
    fn springs_in_single_precision_compute_nothing_in_f64() {
        if !library::has_compiler() {
            let _ = writeln!(std::io::stderr(), "SKIPPED: springs_in_single_precision: libnvrtc was not found");
            return;
        }
        let is_single = |program: &Program| program.name.starts_with("springs-") && program.name.ends_with("-single");
        let programs: Vec<_> = array::programs().into_iter().filter(is_single).collect();
        assert!(programs.len() >= 12);
        // Those with random parameters have all instructions of the others.
        for program in programs.iter().filter(|program| program.name.contains("random")) {
            let compilation = program.compilation("compute_90").unwrap();
            // SAFETY: the program is compiled and alive.
            let ptx = unsafe { result::get_ptx(compilation.0) }.unwrap();
            let ptx = String::from_utf8(ptx.into_iter().map(|byte| byte as u8).collect()).unwrap();
            // The kernel `reset` compares a number of its mask.
            for kernel in ptx.split(".entry ").filter(|kernel| !kernel.starts_with("reset")) {
                let is_copy =
                    |line: &str| ["ld.", "st.", "cvt.", "mov.", ".reg"].iter().any(|name| line.contains(name));
                let lines =
                    kernel.lines().filter(|line| line.contains(".f64") && line.ends_with(';') && !is_copy(line));
                let (sums, others): (Vec<_>, Vec<_>) = lines.partition(|line| line.contains("add.rn.f64"));
                // Force and torque on two bodies.
                assert!(others.is_empty() && sums.len() <= 12, "{}: {sums:?} {others:?}", program.name);
            }
        }
    }
}
