//! A rectangle of an image.

use dermis_geometry::Vec2;

/// An axis-aligned rectangle, in pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Rect {
    /// Left side.
    pub left: f64,
    /// Upper side.
    pub top: f64,
    /// Right side.
    pub right: f64,
    /// Lower side.
    pub bottom: f64,
}

impl Rect {
    /// Creates a rectangle from its sides.
    pub fn new(left: f64, top: f64, right: f64, bottom: f64) -> Self {
        Self { left, top, right, bottom }
    }

    /// Width (px).
    pub fn width(&self) -> f64 {
        self.right - self.left
    }

    /// Height (px).
    pub fn height(&self) -> f64 {
        self.bottom - self.top
    }

    /// True when the point is inside or on the border.
    pub fn contains(&self, point: Vec2) -> bool {
        point.x >= self.left && point.x <= self.right && point.y >= self.top && point.y <= self.bottom
    }
}
