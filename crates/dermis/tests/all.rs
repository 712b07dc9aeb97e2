//! The tests of `dermis` as one program: many would each take as long to link.

mod compare;
mod dataset;
