//! The tests of `dermis-skin` as one program, which saves linking time.

mod common;
mod conservation;
mod contact_points;
mod energy;
mod friction;
mod gel_base;
mod gel_dynamics;
mod gel_edges;
mod gel_fixed_faces;
mod gel_golden;
mod gel_gradient;
mod gel_indenters;
mod gel_particles;
mod gel_rest;
mod history;
mod hydroelastic_closed_forms;
mod hydroelastic_drop;
mod hydroelastic_mechanics;
mod hydroelastic_robust;
mod imprint;
mod layer_contact;
mod layer_friction;
mod layer_gradient;
mod layer_interior;
mod layer_relaxation;
mod lugre;
#[path = "common/paraboloid.rs"]
mod paraboloid;
mod primitives;
mod saturation;
mod skins_agree;
mod springs;
mod threads;
