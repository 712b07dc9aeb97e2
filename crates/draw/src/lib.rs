//! Figures: heat maps, plots and rendered scenes.
//!
//! Renders images in pure Rust with an embedded font, without windows or a GPU; the same input gives the same bytes. A [`HeatMap`], a
//! [`ScatterMap`], a [`Plot`] or a [`Scene`] of meshes (`dermis_geometry::TriMesh`) renders to an [`Image`],
//! and a [`FigurePage`] arranges several images with captions.

mod axis;
mod bar;
mod camera;
mod canvas;
pub mod colour;
mod facet;
mod figure_page;
mod heat;
mod legend;
mod light;
mod map_axes;
mod marker;
mod material;
mod plot;
mod raster;
mod rect;
mod scatter;
mod scene;
mod series;
mod solid;
mod text;
mod view;

pub use axis::{Scale, Ticks};
pub use bar::with_colour_bar;
pub use camera::Camera;
pub use canvas::{Canvas, Ink};
pub use colour::{ColourMap, PALETTE};
pub use dermis_sensor::image::{Image, Rgb};
pub use figure_page::FigurePage;
pub use heat::HeatMap;
pub use material::{Edges, Material};
pub use plot::Plot;
pub use rect::Rect;
pub use scatter::ScatterMap;
pub use scene::Scene;
pub use series::{LineStyle, Marker, Series};
pub use text::{Anchor, Font};
