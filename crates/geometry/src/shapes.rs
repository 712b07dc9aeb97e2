//! Meshes of our own making.
