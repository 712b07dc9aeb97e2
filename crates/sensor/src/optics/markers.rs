//! Dots on the gel that move with it.

use super::{Camera, FloatImage, Membrane, OpticsError};
use dermis_geometry::limits::MAX_MARKERS;
use dermis_geometry::quantity::Length;
use dermis_geometry::{Random, Vec3};
use dermis_skin::SurfaceField;
use serde::{Deserialize, Serialize};

/// The description of markers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MarkersSpec {
    /// Positions on the undeformed gel.
    pub pattern: Pattern,
    /// Radius of a dot.
    pub radius: Length,
    /// Colour of a dot (levels, 0–255).
    #[serde(default)]
    pub colour: [f64; 3],
}

/// Positions on the undeformed gel, in the sensor's frame.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Pattern {
    /// Rows and columns around a centre, row 0 at +y, column 0 at −x.
    Grid {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        cols: usize,
        /// Distance between neighbours.
        pitch: Length,
        /// Centre of the grid; defaults to the sensor's origin.
        #[serde(default = "origin")]
        center: [Length; 2],
    },
    /// A list of points.
    List {
        /// x and y.
        points: Vec<[Length; 2]>,
    },
    /// Random positions in a rectangle centred at the origin.
    Random {
        /// Number of markers.
        count: usize,
        /// Width and height of the rectangle.
        size: [Length; 2],
        /// Minimum distance between two markers; markers that do not fit are omitted.
        #[serde(default = "nothing")]
        apart: Length,
        /// Seed.
        #[serde(default)]
        seed: u64,
    },
}

fn origin() -> [Length; 2] {
    [Length::new(0.0); 2]
}

fn nothing() -> Length {
    Length::new(0.0)
}

/// Markers with checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Markers {
    points_m: Vec<[f64; 2]>,
    radius_m: f64,
    colour: [f32; 3],
}

impl Pattern {
    fn points_m(&self) -> Vec<[f64; 2]> {
        match self {
            Self::Grid { rows, cols, pitch, center } => {
                let along = |i: usize, count: usize| (i as f64 - 0.5 * (count as f64 - 1.0)) * pitch.si();
                let place =
                    |i: usize| [center[0].si() + along(i % cols, *cols), center[1].si() - along(i / cols, *rows)];
                (0..rows * cols).map(place).collect()
            }
            Self::List { points } => points.iter().map(|point| point.map(Length::si)).collect(),
            Self::Random { count, size, apart, seed } => {
                let mut random = Random::new(*seed);
                let mut points: Vec<[f64; 2]> = Vec::new();
                let min_squared = apart.si() * apart.si();
                for _ in 0..50 * count {
                    if points.len() == *count {
                        break;
                    }
                    let point = size.map(|side| random.between(-0.5, 0.5) * side.si());
                    let clear =
                        |other: &[f64; 2]| (point[0] - other[0]).powi(2) + (point[1] - other[1]).powi(2) >= min_squared;
                    if points.iter().all(clear) {
                        points.push(point);
                    }
                }
                points
            }
        }
    }

    fn count(&self) -> usize {
        match self {
            Self::Grid { rows, cols, .. } => rows.saturating_mul(*cols),
            Self::List { points } => points.len(),
            Self::Random { count, .. } => *count,
        }
    }
}

impl MarkersSpec {
    /// Checks the parameters.
    pub fn build(&self) -> Result<Markers, OpticsError> {
        let bad = |key: &'static str, rule: String| Err(OpticsError::Bad { table: "markers", key, rule });
        let count = self.pattern.count();
        if count == 0 || count > MAX_MARKERS {
            return bad("pattern", format!("must have 1 to {MAX_MARKERS} markers, got {count}"));
        }
        let radius_m = self.radius.si();
        if !(radius_m > 0.0 && radius_m.is_finite()) {
            return bad("radius", format!("must be a positive length, got {} mm", radius_m * 1e3));
        }
        Ok(Markers { points_m: self.pattern.points_m(), radius_m, colour: self.colour.map(|level| level as f32) })
    }
}

/// A pixel under a marker.
struct CoveredPixel {
    marker: usize,
    pixel: usize,
    /// Part of the pixel that the marker covers.
    cover: f64,
    /// Its derivatives by column and row of the marker.
    by_place: [f64; 2],
}

impl Markers {
    /// Positions on the undeformed gel: x and y (m), in the sensor's frame.
    pub fn points_m(&self) -> &[[f64; 2]] {
        &self.points_m
    }

    /// Radius of a dot (m).
    pub fn radius_m(&self) -> f64 {
        self.radius_m
    }

    /// Colour of a dot (levels).
    pub fn colour(&self) -> [f32; 3] {
        self.colour
    }

    /// Position of each marker in the image (pixels) without contact and in this touch: column, row, column, row.
    pub fn track(&self, field: &SurfaceField, camera: &Camera) -> Vec<[f64; 4]> {
        let sheet = Membrane::new(field);
        let track = |&point: &[f64; 2]| {
            let coordinates = sheet.coordinates(point);
            let [from, to] = [sheet.rest(coordinates), sheet.point(coordinates)].map(|at| camera.project(at));
            [from[0], from[1], to[0], to[1]]
        };
        self.points_m.iter().map(track).collect()
    }

    /// Paints the markers at their current positions from `track`. The edge of a dot is blurred over one pixel.
    pub(super) fn paint(&self, image: &mut FloatImage, track: &[[f64; 4]], camera: &Camera) {
        let width = image.width;
        self.cover(width, image.height, track, camera, |dot| {
            for (channel, colour) in image.channels.iter_mut().zip(self.colour) {
                let level = &mut channel[dot.pixel];
                *level += (colour - *level) * dot.cover as f32;
            }
        });
    }

    /// The transpose of [`Markers::paint`] on an image without markers: replaces the derivatives by the levels with markers by
    /// those without, and adds the derivatives by column and row of each marker.
    pub(super) fn by_paint(
        &self,
        image: &mut FloatImage,
        track: &[[f64; 4]],
        camera: &Camera,
        by_levels: &mut [Vec<f64>; 3],
        by_track: &mut [[f64; 2]],
    ) {
        let (width, mut painted) = (image.width, Vec::new());
        self.cover(width, image.height, track, camera, |dot| {
            let under = image.channels.each_ref().map(|channel| channel[dot.pixel]);
            for (channel, colour) in image.channels.iter_mut().zip(self.colour) {
                let level = &mut channel[dot.pixel];
                *level += (colour - *level) * dot.cover as f32;
            }
            painted.push((dot, under));
        });
        for (dot, under) in painted.into_iter().rev() {
            for c in 0..3 {
                let by = &mut by_levels[c][dot.pixel];
                let by_cover = *by * f64::from(self.colour[c] - under[c]);
                *by *= 1.0 - dot.cover;
                by_track[dot.marker][0] += by_cover * dot.by_place[0];
                by_track[dot.marker][1] += by_cover * dot.by_place[1];
            }
        }
    }

    /// Adds derivatives by the displacement (1/m) of each cell of the gel from those by column and row of each marker.
    pub(super) fn add_by_surface(
        &self,
        field: &SurfaceField,
        camera: &Camera,
        by_track: &[[f64; 2]],
        by_cells: &mut [Vec3],
    ) {
        let sheet = Membrane::new(field);
        for (&point, &by) in self.points_m.iter().zip(by_track).filter(|(_, by)| **by != [0.0; 2]) {
            let coordinates = sheet.coordinates(point);
            let by_point = camera.by_point(sheet.point(coordinates), by);
            sheet.add_by_point(coordinates, by_point, by_cells);
        }
    }

    /// Calls `dot` with each pixel that a marker covers, marker by marker.
    fn cover(
        &self,
        width: usize,
        height: usize,
        track: &[[f64; 4]],
        camera: &Camera,
        mut dot: impl FnMut(CoveredPixel),
    ) {
        let radius = self.radius_m / camera.pixel_m;
        let stride = width;
        let (width, height) = (width as f64, height as f64);
        for (marker, &[_, _, column, row]) in track.iter().enumerate() {
            if !(-radius..width + radius).contains(&column) || !(-radius..height + radius).contains(&row) {
                continue;
            }
            let span = |at: f64, size: f64| {
                let (from, to) = ((at - radius - 1.0).ceil().max(0.0), (at + radius + 1.0).floor().min(size - 1.0));
                from as usize..(to + 1.0) as usize
            };
            for y in span(row, height) {
                for x in span(column, width) {
                    let away = [x as f64 - column, y as f64 - row];
                    let distance = away[0].hypot(away[1]);
                    let part = radius + 0.5 - distance;
                    let at_edge = part > 0.0 && part < 1.0 && distance > 0.0;
                    let by_place = if at_edge { away.map(|away| away / distance) } else { [0.0; 2] };
                    dot(CoveredPixel { marker, pixel: y * stride + x, cover: part.clamp(0.0, 1.0), by_place });
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scattered_markers_keep_apart_and_come_back() {
        let pattern = Pattern::Random {
            count: 80,
            size: [Length::new(10e-3), Length::new(6e-3)],
            apart: Length::new(0.5e-3),
            seed: 3,
        };
        let points = pattern.points_m();
        assert_eq!(points.len(), 80);
        assert_eq!(points, pattern.points_m());
        for (i, a) in points.iter().enumerate() {
            assert!(a[0].abs() <= 5e-3 && a[1].abs() <= 3e-3);
            assert!(points[..i].iter().all(|b| (a[0] - b[0]).hypot(a[1] - b[1]) >= 0.5e-3));
        }
    }

    #[test]
    fn a_grid_has_its_first_marker_at_the_upper_left() {
        let pattern = Pattern::Grid { rows: 3, cols: 4, pitch: Length::new(2e-3), center: origin() };
        let points = pattern.points_m();
        assert_eq!(points.len(), 12);
        assert!((points[0][0] + 3e-3).abs() < 1e-15 && (points[0][1] - 2e-3).abs() < 1e-15);
    }

    #[test]
    fn no_markers_and_no_size_are_refused() {
        let spec =
            MarkersSpec { pattern: Pattern::List { points: vec![] }, radius: Length::new(1e-4), colour: [0.0; 3] };
        assert!(spec.build().unwrap_err().to_string().contains("got 0"));
        let points = vec![[Length::new(0.0); 2]];
        let spec = MarkersSpec { pattern: Pattern::List { points }, radius: Length::new(0.0), ..spec };
        assert!(spec.build().unwrap_err().to_string().contains("`radius`"));
    }
}
