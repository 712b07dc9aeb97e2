//! Phong shading.

use super::gradient::ByRelief;
use super::shadow::{Shadow, ShadowSpec};
use super::wide::widest;
use super::{BackgroundSpec, FloatImage, LightResidual, OpticsError, Relief};
use dermis_geometry::quantity::Angle;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// The description of Phong shading with any number of coloured lights. Tacchi 2023, eqs (12) and (13):
/// ```text
/// I = k_a i_a + Σ_m ( k_d (L_m·N) i_m,d + k_s (R_m·V)^α i_m,s ),   R_m = 2 (L_m·N) N − L_m
/// ```
/// N is the unit normal towards the camera and V points to the camera. Negative products are set to zero, which the
/// paper does not state. `k i` is one colour here, in levels of an 8-bit image (0–255).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PhongSpec {
    /// Ambient term k_a i_a: the image without the lights below.
    pub background: BackgroundSpec,
    /// Subtracts the light on a flat gel without contact, so that its image is the background.
    #[serde(default)]
    pub relative: bool,
    /// Specular exponent α.
    #[serde(default = "shininess")]
    pub shininess: u32,
    /// The lights.
    pub sources: Vec<LightSourceSpec>,
    /// Shadows of bumps; defaults to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shadow: Option<ShadowSpec>,
    /// Error of the fit, which `dermis calibrate optics` writes and `dermis estimate` has in its intervals; defaults to none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub residual: Option<LightResidual>,
}

fn shininess() -> u32 {
    5
}

/// A distant light.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LightSourceSpec {
    /// Azimuth: 0° towards the right of the image, 90° towards its top.
    pub azimuth: Angle,
    /// Elevation above the gel, on the camera's side.
    pub elevation: Angle,
    /// Diffuse term k_d i_d: red, green, blue (levels).
    pub diffuse: [f64; 3],
    /// Specular term k_s i_s: red, green, blue (levels).
    #[serde(default)]
    pub specular: [f64; 3],
}

/// Phong shading with checked parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct Phong {
    background: FloatImage,
    relative: bool,
    shininess: u32,
    sources: Vec<LightSource>,
    shadow: Option<Shadow>,
}

/// A distant light with checked parameters.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LightSource {
    /// Unit vector towards the light: right, up, towards the camera.
    pub direction: [f32; 3],
    /// Diffuse term k_d i_d (levels).
    pub diffuse: [f32; 3],
    /// Specular term k_s i_s (levels).
    pub specular: [f32; 3],
}

/// Maximum exponent; beyond it a highlight is smaller than a pixel.
const MAX_SHININESS: u32 = 1000;

impl PhongSpec {
    /// Checks the parameters and reads the background.
    pub fn build(
        &self,
        width: usize,
        height: usize,
        pixel_m: f64,
        folder: Option<&Path>,
    ) -> Result<Phong, OpticsError> {
        let bad = |key: &'static str, rule: String| Err(OpticsError::Bad { table: "light", key, rule });
        if self.shininess == 0 || self.shininess > MAX_SHININESS {
            return bad("shininess", format!("must be 1 to {MAX_SHININESS}, got {}", self.shininess));
        }
        for source in &self.sources {
            let degrees = source.elevation.si().to_degrees();
            if !(0.0..=90.0).contains(&degrees) {
                return bad(
                    "elevation",
                    format!("must be between 0 and 90 deg, got {} deg", (degrees * 1e6).round() / 1e6),
                );
            }
            let is_level = |level: &f64| level.is_finite() && *level >= 0.0;
            if let Some(level) = source.diffuse.iter().chain(&source.specular).find(|level| !is_level(level)) {
                return bad("diffuse", format!("and `specular` need levels of 0 or more, got {level}"));
            }
        }
        Ok(Phong {
            background: self.background.build(width, height, folder)?,
            relative: self.relative,
            shininess: self.shininess,
            sources: self.sources.iter().map(LightSourceSpec::build).collect(),
            shadow: self.shadow.map(|shadow| shadow.build(pixel_m)).transpose()?,
        })
    }
}

impl LightSourceSpec {
    /// Unit vector towards the light: right and up in the image, towards the camera.
    pub fn direction(&self) -> [f64; 3] {
        let ((sin_a, cos_a), (sin_e, cos_e)) = (self.azimuth.si().sin_cos(), self.elevation.si().sin_cos());
        [cos_e * cos_a, cos_e * sin_a, sin_e]
    }

    fn build(&self) -> LightSource {
        let to_f32 = |values: [f64; 3]| values.map(|value| value as f32);
        LightSource {
            direction: to_f32(self.direction()),
            diffuse: to_f32(self.diffuse),
            specular: to_f32(self.specular),
        }
    }
}

/// Number of pixels per block.
const BLOCK: usize = 32;

type Block = [f32; BLOCK];

impl Phong {
    /// Ambient term k_a i_a.
    pub fn background(&self) -> &FloatImage {
        &self.background
    }

    /// The same light with another ambient term.
    pub fn on_background(self, background: FloatImage) -> Self {
        Self { background, ..self }
    }

    /// Specular exponent α.
    pub fn shininess(&self) -> u32 {
        self.shininess
    }

    /// The lights, each with the subtracted L·N and (R·V)^α of a flat gel; zero unless `relative`.
    pub fn sources(&self) -> impl Iterator<Item = (&LightSource, [f32; 2])> {
        self.sources.iter().map(|source| (source, self.flat(source)))
    }

    /// Shadows, if any.
    pub fn shadow(&self) -> Option<&Shadow> {
        self.shadow.as_ref()
    }

    /// Renders a relief.
    pub fn shade(&self, relief: &Relief) -> FloatImage {
        let mut image = self.background.clone();
        let shadow = |source: &LightSource| self.shadow.as_ref().map(|shadow| shadow.lit(relief, source.direction));
        let lamps: Vec<Lamp> =
            self.sources.iter().map(|source| Lamp { source, lit: shadow(source), flat: self.flat(source) }).collect();
        for start in (0..relief.z_m.len()).step_by(BLOCK) {
            let end = (start + BLOCK).min(relief.z_m.len());
            let mut normals = [[0.0; BLOCK]; 3];
            to_normals(&relief.slope_right[start..end], &relief.slope_down[start..end], &mut normals);
            for lamp in &lamps {
                let (mut diffuse, mut specular) = ([0.0; BLOCK], [0.0; BLOCK]);
                reflect(lamp.source, self.shininess, &normals, &mut diffuse, &mut specular);
                if let Some(lit) = &lamp.lit {
                    for ((diffuse, specular), &lit) in diffuse.iter_mut().zip(&mut specular).zip(&lit[start..end]) {
                        *diffuse *= lit;
                        *specular *= lit;
                    }
                }
                for (c, channel) in image.channels.iter_mut().enumerate() {
                    let colour = [lamp.source.diffuse[c], lamp.source.specular[c]];
                    if colour != [0.0; 2] {
                        add(&mut channel[start..end], &diffuse, &specular, colour, lamp.flat);
                    }
                }
            }
        }
        image
    }

    /// Derivatives of a scalar by a relief and by the lights, from those by the levels of its image. `azimuth` and `elevation`
    /// have one entry per light (1/rad), `diffuse` and `specular` three. The direction of a light with shadows has none.
    #[allow(clippy::type_complexity, reason = "a list of named lists")]
    pub(super) fn vjp(&self, relief: &Relief, by_levels: &[Vec<f64>; 3]) -> (ByRelief, Vec<(&'static str, Vec<f64>)>) {
        let mut by_relief = ByRelief::zero(relief.z_m.len());
        let [mut azimuth, mut elevation, mut diffuse, mut specular]: [Vec<f64>; 4] = Default::default();
        let alpha = self.shininess as i32;
        for source in &self.sources {
            let light = source.direction.map(f64::from);
            let flat = self.flat(source).map(f64::from);
            let (mut by_light, mut by_diffuse, mut by_specular) = ([0.0; 3], [0.0; 3], [0.0; 3]);
            let reached = self.shadow.as_ref().map(|shadow| shadow.lit(relief, source.direction));
            let mut by_reached = vec![0.0; reached.as_ref().map_or(0, Vec::len)];
            for i in 0..relief.z_m.len() {
                let by = by_levels.each_ref().map(|channel| channel[i]);
                if by == [0.0; 3] {
                    continue;
                }
                let (right, down) = (f64::from(relief.slope_right[i]), f64::from(relief.slope_down[i]));
                let scale = 1.0 / (1.0 + right * right + down * down).sqrt();
                let normal = [right * scale, -down * scale, scale];
                let lit = light[0] * normal[0] + light[1] * normal[1] + light[2] * normal[2];
                let mirrored = if lit > 0.0 { (2.0 * lit * normal[2] - light[2]).max(0.0) } else { 0.0 };
                let (mut by_lit, mut by_mirrored) = (0.0, 0.0);
                let shine = mirrored.powi(alpha);
                let part = reached.as_ref().map_or(1.0, |reached| f64::from(reached[i]));
                for c in 0..3 {
                    by_diffuse[c] += by[c] * (lit.max(0.0) * part - flat[0]);
                    by_specular[c] += by[c] * (shine * part - flat[1]);
                    by_lit += by[c] * f64::from(source.diffuse[c]);
                    by_mirrored += by[c] * f64::from(source.specular[c]);
                }
                if self.relative {
                    // L·N and R·V of a flat gel are both the third component of L.
                    by_light[2] -= by_lit + by_mirrored * f64::from(alpha) * light[2].powi(alpha - 1);
                }
                if let Some(by_reached) = by_reached.get_mut(i) {
                    *by_reached = by_lit * lit.max(0.0) + by_mirrored * shine;
                }
                if lit <= 0.0 {
                    continue;
                }
                (by_lit, by_mirrored) = (by_lit * part, by_mirrored * part);
                by_mirrored *= f64::from(alpha) * mirrored.powi(alpha - 1) * f64::from(u8::from(mirrored > 0.0));
                by_lit += 2.0 * normal[2] * by_mirrored;
                by_light[2] -= by_mirrored;
                let mut by_normal = light.map(|part| part * by_lit);
                by_normal[2] += 2.0 * lit * by_mirrored;
                for axis in 0..3 {
                    by_light[axis] += normal[axis] * by_lit;
                }
                let along = (by_normal[0] * normal[0] + by_normal[1] * normal[1] + by_normal[2] * normal[2]) * scale;
                by_relief.right[i] += scale * by_normal[0] - normal[0] * along;
                by_relief.down[i] += normal[1] * along - scale * by_normal[1];
            }
            if let Some(shadow) = &self.shadow {
                shadow.add_by_heights(relief, source.direction, &by_reached, &mut by_relief.z);
            }
            let (around, up) = (light[1].atan2(light[0]), light[2].clamp(-1.0, 1.0).asin());
            let ((sin_a, cos_a), (sin_e, cos_e)) = (around.sin_cos(), up.sin_cos());
            azimuth.push(cos_e * (by_light[1] * cos_a - by_light[0] * sin_a));
            elevation.push(by_light[2] * cos_e - sin_e * (by_light[0] * cos_a + by_light[1] * sin_a));
            diffuse.extend(by_diffuse);
            specular.extend(by_specular);
        }
        let mut light = vec![("diffuse", diffuse), ("specular", specular)];
        if self.shadow.is_none() {
            light.extend([("azimuth", azimuth), ("elevation", elevation)]);
        }
        (by_relief, light)
    }

    /// L·N and (R·V)^α of a flat gel if they are subtracted, otherwise zero.
    fn flat(&self, source: &LightSource) -> [f32; 2] {
        if !self.relative {
            return [0.0; 2];
        }
        let up = [[0.0; BLOCK], [0.0; BLOCK], [1.0; BLOCK]];
        let (mut diffuse, mut specular) = ([0.0; BLOCK], [0.0; BLOCK]);
        reflect(source, self.shininess, &up, &mut diffuse, &mut specular);
        [diffuse[0], specular[0]]
    }
}

/// A light source applied to a relief.
struct Lamp<'a> {
    source: &'a LightSource,
    /// Fraction of the light that reaches each pixel.
    lit: Option<Vec<f32>>,
    /// Subtracted diffuse and specular reflection.
    flat: [f32; 2],
}

widest! {
    /// Converts slopes to unit normals (right, up, towards the camera).
    fn to_normals(right: &[f32], down: &[f32], normals: &mut [Block; 3]) {
        let [x, y, z] = normals;
        for ((((&right, &down), x), y), z) in right.iter().zip(down).zip(x).zip(y).zip(z) {
            let scale = 1.0 / (1.0 + right * right + down * down).sqrt();
            (*x, *y, *z) = (right * scale, -down * scale, scale);
        }
    }
}

widest! {
    /// L·N and, if the source has a specular term, (R·V)^α.
    fn reflect(source: &LightSource, shininess: u32, normals: &[Block; 3], diffuse: &mut Block, specular: &mut Block) {
        let [lx, ly, lz] = source.direction;
        let [x, y, z] = normals;
        for i in 0..BLOCK {
            diffuse[i] = (lx * x[i] + ly * y[i] + lz * z[i]).max(0.0);
        }
        if source.specular == [0.0; 3] {
            return;
        }
        let mut factor = [0.0; BLOCK];
        for i in 0..BLOCK {
            // A face that points away from the light has no highlight either.
            let mirrored = (2.0 * diffuse[i] * z[i] - lz).max(0.0);
            factor[i] = if diffuse[i] > 0.0 { mirrored } else { 0.0 };
        }
        // Power by repeated squaring, for all pixels at once.
        specular.fill(1.0);
        let mut left = shininess;
        while left > 0 {
            if left & 1 == 1 {
                specular.iter_mut().zip(&factor).for_each(|(power, factor)| *power *= factor);
            }
            factor.iter_mut().for_each(|factor| *factor *= *factor);
            left >>= 1;
        }
    }
}

widest! {
    /// Adds the reflected light minus that of a flat gel, in one colour.
    fn add(levels: &mut [f32], diffuse: &Block, specular: &Block, colour: [f32; 2], flat: [f32; 2]) {
        for ((level, diffuse), specular) in levels.iter_mut().zip(diffuse).zip(specular) {
            *level += (diffuse - flat[0]) * colour[0] + (specular - flat[1]) * colour[1];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slope(right: f32, down: f32) -> Relief {
        Relief {
            width: 2,
            height: 2,
            pixel_m: 1e-5,
            z_m: vec![0.0; 4],
            slope_right: vec![right; 4],
            slope_down: vec![down; 4],
            seen: None,
        }
    }

    fn spec(azimuth_deg: f64, elevation_deg: f64, diffuse: [f64; 3], specular: [f64; 3]) -> PhongSpec {
        let source = LightSourceSpec {
            azimuth: Angle::new(azimuth_deg.to_radians()),
            elevation: Angle::new(elevation_deg.to_radians()),
            diffuse,
            specular,
        };
        let background = BackgroundSpec::Colour([10.0, 20.0, 30.0]);
        PhongSpec { background, relative: false, shininess: 4, sources: vec![source], shadow: None, residual: None }
    }

    /// Eqs (12) and (13) by hand, on a face tilted by 30° towards a light at 40°: N·L = cos 20°; the mirrored ray
    /// leaves at 20° beyond the normal, which is 30° from the camera, so R·V = cos 10°.
    #[test]
    fn a_tilted_face_has_the_papers_brightness() {
        // Tilted towards the right: from the camera, its normal leans to the right, where z increases.
        let relief = slope(30f32.to_radians().tan(), 0.0);
        let light = spec(0.0, 40.0, [100.0, 0.0, 50.0], [0.0, 80.0, 0.0]).build(2, 2, 1e-5, None).unwrap();
        let image = light.shade(&relief);
        let cos = |degrees: f64| degrees.to_radians().cos();
        let expected = [10.0 + 100.0 * cos(20.0), 20.0 + 80.0 * cos(10.0).powi(4), 30.0 + 50.0 * cos(20.0)];
        for (channel, expected) in image.channels.iter().zip(expected) {
            assert!((f64::from(channel[3]) - expected).abs() < 1e-3, "{} {expected}", channel[3]);
        }
    }

    #[test]
    fn what_looks_away_is_dark_and_not_negative() {
        let light = spec(90.0, 20.0, [100.0; 3], [100.0; 3]).build(2, 2, 1e-5, None).unwrap();
        // The light is at the top; z of a face that leans down decreases upwards, so increases downwards.
        let image = light.shade(&slope(0.0, 3.0));
        assert_eq!(image.channels.map(|channel| channel[0]), [10.0, 20.0, 30.0]);
        let image = light.shade(&slope(0.0, -3.0));
        assert!(image.channels[0][0] > 80.0);
    }

    #[test]
    fn relative_lights_leave_an_untouched_gel_as_it_is() {
        let light = PhongSpec { relative: true, ..spec(30.0, 20.0, [100.0; 3], [70.0; 3]) };
        let image = light.build(2, 2, 1e-5, None).unwrap().shade(&slope(0.0, 0.0));
        for (channel, level) in image.channels.iter().zip([10.0, 20.0, 30.0]) {
            assert!((channel[0] - level).abs() < 1e-4);
        }
    }

    #[test]
    fn a_light_under_the_gel_is_refused() {
        let message = spec(0.0, -5.0, [1.0; 3], [0.0; 3]).build(2, 2, 1e-5, None).unwrap_err().to_string();
        assert!(message.contains("`elevation`") && message.contains("-5"), "{message}");
    }
}
