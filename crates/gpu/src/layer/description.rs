//! What a layer and its camera are made of, as plain numbers.

/// A layer on a grid of square cells, row 0 at +y, column 0 at −x.
#[derive(Clone, Debug)]
pub struct SheetDescription {
    /// What messages call it.
    pub name: String,
    /// Cells along y.
    pub rows: usize,
    /// Cells along x.
    pub cols: usize,
    /// Edge of a cell (m).
    pub cell_m: f64,
    /// Middle of the grid (m).
    pub center_m: [f64; 2],
    /// What a unit traction on a cell does to those `row`, `col` away, row by row from zero on: sinking by pressure; motion along x by shear
    /// along x, y by y, x by y; motion along x and y by pressure; then below: pressure by pressure, shear x by x, y by y, x by y, shear
    /// along x and y by pressure, pressure by shear along x and y.
    pub influences: [Vec<f64>; 14],
    /// Friction.
    pub mu: f64,
    /// Violation that is left, by the greatest depth.
    pub tolerance: f64,
    /// Whether motion along the surface is wanted where nothing rubs.
    pub lateral: bool,
    /// What is higher than this over the surface (m) is not met.
    pub highest_m: f64,
    /// What is deeper than this (m) is refused.
    pub deepest_m: f64,
    /// Its taxels, if they are a grid.
    pub taxels: Option<TaxelCells>,
    /// Its camera.
    pub camera: Option<CameraDescription>,
}

/// Which influences are odd: 1 in x, 2 in y, 3 in both.
pub(super) const ODD: [i32; 14] = [0, 0, 0, 3, 1, 2, 0, 0, 0, 3, 1, 2, 1, 2];

/// A grid of taxels under a layer.
#[derive(Clone, Debug)]
pub struct TaxelCells {
    /// From one to the next (m).
    pub pitch_m: f64,
    /// The rows of cells that each row of taxels is over.
    pub rows: Vec<Span>,
    /// The columns of cells that each column of taxels is over.
    pub cols: Vec<Span>,
}

/// Cells one after the other, and how much of a pitch each takes.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Span {
    /// The first cell.
    pub first: usize,
    /// A share for each.
    pub shares: Vec<f64>,
}

/// A camera behind a layer.
#[derive(Clone, Debug)]
pub struct CameraDescription {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// What a pixel spans on the undeformed surface (m).
    pub pixel_m: f64,
    /// From the pinhole to that surface (m), if it is not infinitely far.
    pub distance_m: Option<f64>,
    /// Where the optical axis meets that surface (m).
    pub axis_m: [f64; 2],
    /// Where it meets the image: column and row.
    pub axis_px: [f64; 2],
    /// +x to the left.
    pub mirror: bool,
    /// The nodes at which the surface is looked up: row and column of the first cell.
    pub first: [i32; 2],
    /// Cells from node to node.
    pub stride: usize,
    /// Rows and columns of nodes.
    pub nodes: [usize; 2],
    /// For each column of pixels the first of the four nodes that make it, and their weights.
    pub across: Vec<(usize, [f32; 4])>,
    /// For each row of pixels.
    pub down: Vec<(usize, [f32; 4])>,
    /// Factor on the light.
    pub exposure: f32,
    /// The part of the light that is lost in the corners.
    pub vignetting: f32,
    /// Dots on the gel.
    pub markers: Option<Dots>,
    /// The image without lamps or contact: red, green, blue (levels).
    pub background: [Vec<f32>; 3],
    /// The light.
    pub light: LightDescription,
}

/// Dots on the gel.
#[derive(Clone, Debug)]
pub struct Dots {
    /// Where they are on the untouched gel (m).
    pub points_m: Vec<[f64; 2]>,
    /// Radius (pixels).
    pub radius_px: f32,
    /// Colour (levels).
    pub colour: [f32; 3],
}

/// How a gel is lit.
#[derive(Clone, Debug)]
pub enum LightDescription {
    /// As it was measured: for monomials of the surface's normal and depth a polynomial of the place each.
    Fitted {
        /// Degree of the polynomials of the place.
        degree: usize,
        /// Each monomial as an earlier one, or 1 without, times one of: normal to the right, normal down, depth (mm).
        monomials: Vec<(Option<usize>, usize)>,
        /// For each row of pixels, colour and monomial a polynomial of the place along the row, lowest power first.
        lines: Vec<f32>,
        /// The place of each column of pixels.
        places: Vec<f32>,
        /// What is deeper counts as this (mm).
        deepest_mm: f32,
        /// Smaller slopes in 32 pixels side by side add nothing.
        least_slope: f32,
        /// Smaller depths (mm) there add nothing.
        least_mm: f32,
    },
    /// By distant lamps and the model of Phong.
    Lamps {
        /// The lamps.
        lamps: Vec<LampDescription>,
        /// Of highlights.
        shininess: u32,
        /// Shadows, if there are any.
        shadow: Option<ShadowDescription>,
    },
}

/// A distant lamp.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LampDescription {
    /// Towards it: right, up, towards the camera.
    pub direction: [f32; 3],
    /// Red, green, blue (levels).
    pub diffuse: [f32; 3],
    /// Red, green, blue (levels).
    pub specular: [f32; 3],
    /// What it gives to an untouched gel, diffuse and specular, where that is taken off.
    pub flat: [f32; 2],
}

/// Shadows of bumps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShadowDescription {
    /// The part of a light that a full shadow takes away.
    pub strength: f32,
    /// How far (m) under the ray a shadow is full.
    pub softness_m: f32,
    /// What a pixel spans (m).
    pub pixel_m: f32,
}
