//! The boundary to the page: a room for the question, one call, two rooms for the answer.
//!
//! The page calls [`dermis_room`] with the lengths of a question and of a file, writes both there one after the other, calls
//! [`dermis_answer`], and reads JSON and arrays where [`dermis_place`] says they are, before it asks again.
#![allow(unsafe_code, reason = "names must be exported as they are, for a page that has no linker")]

use crate::Engine;
use std::cell::RefCell;

/// The engine with what goes in and out.
#[derive(Default)]
struct Boundary {
    engine: Engine,
    room: Vec<u8>,
    question_len: usize,
    answer: Vec<u8>,
    arrays: Vec<u8>,
}

thread_local! {
    static BOUNDARY: RefCell<Boundary> = RefCell::default();
}

/// Makes room for a question and a file (bytes) and says where it is.
#[unsafe(no_mangle)]
pub extern "C" fn dermis_room(question_len: usize, file_len: usize) -> *mut u8 {
    BOUNDARY.with_borrow_mut(|boundary| {
        boundary.question_len = question_len;
        boundary.room = vec![0; question_len + file_len];
        boundary.room.as_mut_ptr()
    })
}

/// Answers what is in the room.
#[unsafe(no_mangle)]
pub extern "C" fn dermis_answer() {
    BOUNDARY.with_borrow_mut(|boundary| {
        let room = std::mem::take(&mut boundary.room);
        let (question, file) = room.split_at(boundary.question_len.min(room.len()));
        let (answer, arrays) = boundary.engine.answer(&String::from_utf8_lossy(question), file);
        boundary.answer = answer.to_string().into_bytes();
        boundary.arrays = arrays.bytes().to_vec();
    });
}

/// Where the answer is: 0 and 1 are place and length of the JSON, 2 and 3 of the arrays.
#[unsafe(no_mangle)]
pub extern "C" fn dermis_place(which: u32) -> usize {
    BOUNDARY.with_borrow(|boundary| match which {
        0 => boundary.answer.as_ptr() as usize,
        1 => boundary.answer.len(),
        2 => boundary.arrays.as_ptr() as usize,
        _ => boundary.arrays.len(),
    })
}
