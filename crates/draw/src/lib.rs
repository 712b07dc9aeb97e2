//! What is looked at.
//!
//! Images as PNG files from pure Rust: no fonts, no window, no GPU, and the same numbers give the same bytes.
//! The crate knows shapes ([`TriMesh`](dermis_geometry::TriMesh)) and numbers, and nothing of sensors: those who
//! have something to show turn it into a [`HeatMap`], a [`ScatterMap`], a [`Plot`] or a [`Scene`], each of which
//! gives an [`Image`], and put several together on a [`Sheet`].

mod axis;
mod bar;
mod camera;
mod canvas;
pub mod colour;
mod dash;
mod facet;
mod glyphs;
mod heat;
mod legend;
mod light;
mod marker;
mod mask;
mod material;
mod plot;
mod raster;
mod rect;
mod scatter;
mod scene;
mod series;
mod sheet;
mod solid;
mod text;
mod view;

pub use axis::{Scale, Ticks};
pub use camera::Camera;
pub use canvas::{Canvas, Ink};
pub use colour::{ColourMap, PALETTE};
pub use dermis_sensor::image::{Image, Rgb};
pub use heat::HeatMap;
pub use material::{Edges, Material};
pub use plot::Plot;
pub use rect::Rect;
pub use scatter::ScatterMap;
pub use scene::Scene;
pub use series::{LineStyle, Marker, Series};
pub use sheet::Sheet;
pub use text::{Anchor, Font};
