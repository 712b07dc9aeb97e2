//! Meshes from files.
