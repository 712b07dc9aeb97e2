//! What is kept: recordings and tables in files that other tools open.

pub mod table;
