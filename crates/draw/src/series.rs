//! The data series of a plot.

use crate::Rgb;
use dermis_geometry::Vec2;

/// The line style of a series.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum LineStyle {
    /// Solid.
    #[default]
    Solid,
    /// Long dashes.
    Dashed,
    /// Dots.
    Dotted,
    /// No line.
    None,
}

/// The marker of a point.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Marker {
    /// No marker.
    #[default]
    None,
    /// A filled disc.
    Disc,
    /// A circle, white inside.
    Ring,
    /// A filled square.
    Square,
    /// A filled triangle.
    Triangle,
    /// A filled square on its corner.
    Diamond,
    /// Two crossed lines.
    Cross,
}

/// A curve or a set of points.
#[derive(Clone, Debug)]
pub struct Series {
    pub(crate) label: String,
    pub(crate) points: Vec<Vec2>,
    pub(crate) colour: Option<Rgb>,
    pub(crate) style: LineStyle,
    pub(crate) marker: Marker,
    pub(crate) width: f64,
    pub(crate) errors: Vec<f64>,
    pub(crate) band: Vec<(f64, f64)>,
}

impl Series {
    /// Points joined by a line. The line breaks at points that the axes cannot show. A series with an empty label is
    /// omitted from the legend.
    pub fn line(label: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self {
            label: label.into(),
            points: points.into_iter().map(|(x, y)| Vec2::new(x, y)).collect(),
            colour: None,
            style: LineStyle::Solid,
            marker: Marker::None,
            width: 2.0,
            errors: Vec::new(),
            band: Vec::new(),
        }
    }

    /// Points drawn as discs, without a line.
    pub fn scatter(label: impl Into<String>, points: impl IntoIterator<Item = (f64, f64)>) -> Self {
        Self::line(label, points).style(LineStyle::None).marker(Marker::Disc)
    }

    /// Sets the line style.
    pub fn style(mut self, style: LineStyle) -> Self {
        self.style = style;
        self
    }

    /// Sets the marker.
    pub fn marker(mut self, marker: Marker) -> Self {
        self.marker = marker;
        self
    }

    /// Sets the colour; by default the next one of the palette.
    pub fn colour(mut self, colour: Rgb) -> Self {
        self.colour = Some(colour);
        self
    }

    /// Sets the width (px) of the line.
    pub fn width(mut self, width: f64) -> Self {
        self.width = width;
        self
    }

    /// Adds symmetric error bars, ± the given value at each point.
    pub fn errors(mut self, errors: impl IntoIterator<Item = f64>) -> Self {
        self.errors = errors.into_iter().collect();
        self
    }

    /// Adds a translucent band from the first to the second value at each point.
    pub fn band(mut self, band: impl IntoIterator<Item = (f64, f64)>) -> Self {
        self.band = band.into_iter().collect();
        self
    }

    /// All values along y, including error bars and bands.
    pub(crate) fn heights(&self) -> impl Iterator<Item = f64> + '_ {
        let bars = self.points.iter().zip(&self.errors).flat_map(|(p, e)| [p.y - e, p.y + e]);
        let band = self.band.iter().flat_map(|&(low, high)| [low, high]);
        self.points.iter().map(|p| p.y).chain(bars).chain(band)
    }
}
