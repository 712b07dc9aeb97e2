//! Points scattered on a surface.
