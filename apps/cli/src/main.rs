//! The command line of dermis.
fn main() {}
