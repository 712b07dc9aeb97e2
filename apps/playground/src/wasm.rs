//! The WebAssembly boundary: an input buffer, one call, two output buffers.
//!
//! The page calls [`dermis_input`] with the lengths of a request and of a file, writes both to the returned address,
//! calls [`dermis_answer`], and reads JSON and arrays at the addresses of [`dermis_output`] before the next request.
#![allow(unsafe_code, reason = "names must be exported as they are, for a page that has no linker")]

use crate::Engine;
use std::cell::RefCell;

/// The engine with its input and output buffers.
#[derive(Default)]
struct Boundary {
    engine: Engine,
    input: Vec<u8>,
    request_len: usize,
    answer: Vec<u8>,
    arrays: Vec<u8>,
}

thread_local! {
    static BOUNDARY: RefCell<Boundary> = RefCell::default();
}

/// Allocates the input buffer for a request and a file (lengths in bytes); returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn dermis_input(request_len: usize, file_len: usize) -> *mut u8 {
    BOUNDARY.with_borrow_mut(|boundary| {
        boundary.request_len = request_len;
        boundary.input = vec![0; request_len + file_len];
        boundary.input.as_mut_ptr()
    })
}

/// Answers the request in the input buffer.
#[unsafe(no_mangle)]
pub extern "C" fn dermis_answer() {
    BOUNDARY.with_borrow_mut(|boundary| {
        let input = std::mem::take(&mut boundary.input);
        let (request, file) = input.split_at(boundary.request_len.min(input.len()));
        let (answer, arrays) = boundary.engine.answer(&String::from_utf8_lossy(request), file);
        boundary.answer = answer.to_string().into_bytes();
        boundary.arrays = arrays.bytes().to_vec();
    });
}

/// Address and length of the output: 0 and 1 for the JSON, 2 and 3 for the arrays.
#[unsafe(no_mangle)]
pub extern "C" fn dermis_output(which: u32) -> usize {
    BOUNDARY.with_borrow(|boundary| match which {
        0 => boundary.answer.as_ptr() as usize,
        1 => boundary.answer.len(),
        2 => boundary.arrays.as_ptr() as usize,
        _ => boundary.arrays.len(),
    })
}
