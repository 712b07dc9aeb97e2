//! The tests of `dermis-geometry` as one binary, which links faster than many.

mod corpus;
mod files;
mod height_field;
mod indenters;
mod mass;
mod roughness;
mod sampling;
mod shapes;
mod sizes;
mod surface;
mod tet_files;
mod tet_solids;
