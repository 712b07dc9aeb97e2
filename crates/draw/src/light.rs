//! The lighting of a scene: sky, a key light that casts shadows, and a fill light.
//!
//! All values are linear light; 1 in a channel is the white of the background.

use crate::camera::Camera;
use crate::raster::scan;
use dermis_geometry::{Bounds, Vec2, Vec3};

/// A surface point to shade.
pub(crate) struct Surface {
    pub point: Vec3,
    /// Unit normal on the side that faces the camera.
    pub normal: Vec3,
    /// Unit vector to the camera.
    pub to_eye: Vec3,
    pub colour: Vec3,
    pub shine: f64,
}

/// The lights, placed for one camera and one scene.
pub(crate) struct Light {
    to_key: Vec3,
    to_fill: Vec3,
    shadow: ShadowMap,
    contact: Option<ContactMap>,
}

impl Light {
    /// Places the lights. `bounds` contains all `triangles` (m); `ground_m` is the height of the ground.
    pub fn new(camera: &Camera, bounds: Bounds, triangles: &[[Vec3; 3]], ground_m: Option<f64>) -> Self {
        let [right, _, forward] = camera.axes();
        let level = Vec3::new(forward.x, forward.y, 0.0).normalize_or_zero();
        let to_key = (Vec3::Z * 1.0 - right * 0.45 - level * 0.38).normalize();
        let to_fill = (Vec3::Z * 0.35 + right * 0.8 - level * 0.55).normalize();
        let contact = ground_m.map(|z| ContactMap::new(bounds, triangles, z));
        Self { to_key, to_fill, shadow: ShadowMap::new(to_key, bounds, triangles), contact }
    }

    /// Returns the light from a surface point to the camera.
    pub fn shade(&self, surface: &Surface) -> Vec3 {
        let Surface { point, normal, to_eye, colour, shine } = *surface;
        let sky = Vec3::new(0.50, 0.52, 0.56);
        let floor = Vec3::new(0.27, 0.26, 0.25);
        let ambient = floor.lerp(sky, 0.5 + 0.5 * normal.z);
        let facing_key = normal.dot(self.to_key);
        let lit = if facing_key > 0.0 { self.shadow.lit(point, normal) } else { 0.0 };
        let key = Vec3::new(0.60, 0.585, 0.56) * (facing_key.max(0.0) * lit);
        let fill = Vec3::new(0.12, 0.13, 0.15) * normal.dot(self.to_fill).max(0.0);
        // Blinn–Phong, with a rim term that brightens grazing angles.
        let half = (self.to_key + to_eye).normalize_or_zero();
        let gloss = normal.dot(half).max(0.0).powf(18.0 + 60.0 * shine) * lit;
        let rim = (1.0 - normal.dot(to_eye).clamp(0.0, 1.0)).powi(5);
        colour * (ambient + key + fill) + Vec3::splat(shine * (0.42 * gloss + 0.16 * rim))
    }

    /// Ambient occlusion of a point of the ground: 1 under an open sky, 0 when fully covered.
    pub fn on_ground(&self, point: Vec3) -> f64 {
        let lit = self.shadow.lit(point, Vec3::Z);
        let open = self.contact.as_ref().map_or(1.0, |contact| contact.open(point));
        (0.62 + 0.38 * lit) * (0.55 + 0.45 * open)
    }
}

/// The shadow map of a light: height of the nearest surface above a plane normal to its rays.
struct ShadowMap {
    to_lamp: Vec3,
    across: (Vec3, Vec3),
    origin: Vec3,
    cells_per_m: f64,
    nearest: Vec<f32>,
    /// Largest height of each block of cells and of the eight blocks around it.
    blocks: Vec<f32>,
}

const SHADOW_SIDE: usize = 1024;
const BLOCK: usize = 16;
/// Radius (cells) in which the shadow of a point is sampled; less than a block.
const SOFTNESS: f64 = 9.0;

impl ShadowMap {
    fn new(to_lamp: Vec3, bounds: Bounds, triangles: &[[Vec3; 3]]) -> Self {
        let across = to_lamp.any_orthonormal_pair();
        let origin = bounds.center();
        let radius_m = (bounds.size().length() / 2.0).max(1e-9) * 1.05;
        let cells_per_m = SHADOW_SIDE as f64 / (2.0 * radius_m);
        let nearest = vec![f32::NEG_INFINITY; SHADOW_SIDE * SHADOW_SIDE];
        let mut map = Self { to_lamp, across, origin, cells_per_m, nearest, blocks: Vec::new() };
        for corners in triangles {
            let placed = corners.map(|c| map.place(c));
            scan(placed, SHADOW_SIDE, SHADOW_SIDE, |x, y, height| {
                let cell = &mut map.nearest[y * SHADOW_SIDE + x];
                *cell = cell.max(height as f32);
            });
        }
        map.blocks = block_heights(&map.nearest);
        map
    }

    /// Position on the map and height towards the light, in cells.
    fn place(&self, point: Vec3) -> (Vec2, f64) {
        let arm = (point - self.origin) * self.cells_per_m;
        let middle = SHADOW_SIDE as f64 / 2.0;
        (Vec2::new(arm.dot(self.across.0) + middle, arm.dot(self.across.1) + middle), arm.dot(self.to_lamp))
    }

    /// An upper bound on the heights within the radius of [`ShadowMap::lit`].
    fn highest_around(&self, at: Vec2) -> f64 {
        let side = SHADOW_SIDE as f64;
        if !(at.x > -SOFTNESS && at.y > -SOFTNESS && at.x < side + SOFTNESS && at.y < side + SOFTNESS) {
            return f64::NEG_INFINITY;
        }
        let block = |v: f64| v.clamp(0.0, side - 1.0) as usize / BLOCK;
        f64::from(self.blocks[block(at.y) * (SHADOW_SIDE / BLOCK) + block(at.x)])
    }

    /// Fraction of the light that is visible from a point: the mean over a disc on the map.
    fn lit(&self, point: Vec3, normal: Vec3) -> f64 {
        const TAPS: usize = 32;
        let (at, height) = self.place(point);
        let facing = normal.dot(self.to_lamp).max(0.12);
        // The slope of the surface itself, so that it does not shadow itself.
        let (by_x, by_y) = (-normal.dot(self.across.0) / facing, -normal.dot(self.across.1) / facing);
        let below = height + 2.5 / facing - SOFTNESS * (by_x.abs() + by_y.abs());
        if self.highest_around(at) <= below {
            return 1.0;
        }
        let mut seen = 0;
        for tap in 0..TAPS {
            let angle = tap as f64 * 2.399_963_229_728_653;
            let offset = Vec2::from_angle(angle) * (SOFTNESS * ((tap as f64 + 0.5) / TAPS as f64).sqrt());
            let spot = (at + offset).floor();
            let inside = spot.x >= 0.0 && spot.y >= 0.0 && spot.x < SHADOW_SIDE as f64 && spot.y < SHADOW_SIDE as f64;
            let own = height + (by_x * offset.x + by_y * offset.y) + 2.5 / facing;
            let free = !inside || f64::from(self.nearest[spot.y as usize * SHADOW_SIDE + spot.x as usize]) <= own;
            seen += usize::from(free);
        }
        seen as f64 / TAPS as f64
    }
}

fn block_heights(nearest: &[f32]) -> Vec<f32> {
    const SIDE: usize = SHADOW_SIDE / BLOCK;
    let mut own = vec![f32::NEG_INFINITY; SIDE * SIDE];
    for (i, &height) in nearest.iter().enumerate() {
        let block = &mut own[i / SHADOW_SIDE / BLOCK * SIDE + i % SHADOW_SIDE / BLOCK];
        *block = block.max(height);
    }
    let around = |v: usize| v.saturating_sub(1)..(v + 2).min(SIDE);
    (0..SIDE * SIDE)
        .map(|i| {
            let cells = around(i / SIDE).flat_map(|y| around(i % SIDE).map(move |x| y * SIDE + x));
            cells.map(|cell| own[cell]).fold(f32::NEG_INFINITY, f32::max)
        })
        .collect()
}

/// Occlusion of the ground by the objects above it, on a coarse grid.
struct ContactMap {
    corner: Vec2,
    cells_per_m: f64,
    closed: Vec<f32>,
}

const CONTACT_SIDE: usize = 128;

impl ContactMap {
    fn new(bounds: Bounds, triangles: &[[Vec3; 3]], ground_m: f64) -> Self {
        let radius_m = (bounds.size().length() / 2.0).max(1e-9) * 1.3;
        let cells_per_m = CONTACT_SIDE as f64 / (2.0 * radius_m);
        let corner = bounds.center().truncate() - Vec2::splat(radius_m);
        let mut lowest = vec![f64::INFINITY; CONTACT_SIDE * CONTACT_SIDE];
        for corners in triangles {
            let placed = corners.map(|c| ((c.truncate() - corner) * cells_per_m, c.z));
            scan(placed, CONTACT_SIDE, CONTACT_SIDE, |x, y, z| {
                let cell = &mut lowest[y * CONTACT_SIDE + x];
                *cell = cell.min(z);
            });
        }
        let reach_m = 0.16 * radius_m;
        let mut closed: Vec<f32> = lowest.iter().map(|z| (-(z - ground_m).max(0.0) / reach_m).exp() as f32).collect();
        for _ in 0..3 {
            closed = blurred(&blurred(&closed, 1, CONTACT_SIDE), CONTACT_SIDE, 1);
        }
        Self { corner, cells_per_m, closed }
    }

    fn open(&self, point: Vec3) -> f64 {
        let at = (point.truncate() - self.corner) * self.cells_per_m - Vec2::splat(0.5);
        let (base, part) = (at.floor(), at - at.floor());
        let cell = |x: f64, y: f64| {
            let inside = x >= 0.0 && y >= 0.0 && x < CONTACT_SIDE as f64 && y < CONTACT_SIDE as f64;
            if inside { f64::from(self.closed[y as usize * CONTACT_SIDE + x as usize]) } else { 0.0 }
        };
        let row = |y: f64| cell(base.x, y) * (1.0 - part.x) + cell(base.x + 1.0, y) * part.x;
        1.0 - (row(base.y) * (1.0 - part.y) + row(base.y + 1.0) * part.y)
    }
}

/// Mean over seven cells along one direction; `step` is the stride to the next cell, `line` that to the next line.
fn blurred(values: &[f32], step: usize, line: usize) -> Vec<f32> {
    const REACH: usize = 3;
    let mut out = vec![0.0; values.len()];
    for l in 0..CONTACT_SIDE {
        for i in 0..CONTACT_SIDE {
            let around = i.saturating_sub(REACH)..(i + REACH + 1).min(CONTACT_SIDE);
            let sum: f32 = around.map(|k| values[l * line + k * step]).sum();
            out[l * line + i * step] = sum / (2 * REACH + 1) as f32;
        }
    }
    out
}
