//! What is kept: recordings and tables in files that other tools open.

pub mod hdf5;
pub mod lerobot;
pub mod shelf;
pub mod table;
pub mod tar;
