//! Displacements of the markers of an optical sensor under a ball, with at most four fitted numbers.

use super::free_functions::Source;
use super::marker_fit::{MarkerField, Pixels, SHIFT, View, least_squares, sum};
use super::row::{Comparison, FITTED, Figure, Measure};
use super::score::Statistic;
use super::split::Split;
use super::table::Table;
use super::{RealError, Setting};
use dermis::draw::{Canvas, FigurePage, Image};
use dermis::geometry::Vec2;
use dermis::geometry::shapes::sphere;
use dermis::sensor::{Aim, Goal, Sensor, press};
use dermis::skin::{Object, SurfaceField};
use std::path::Path;

/// Least number of markers: a press is fitted by four numbers.
const MIN_MARKERS: usize = 6;

/// The measurements of a row.
pub struct Field<'a> {
    /// Table of `Mx`, `My`, `dx`, `dy` (pixels).
    pub file: &'a Path,
    /// Table of the same markers before the shear.
    pub before: Option<&'a Path>,
    /// Diameter of the ball (m).
    pub ball_m: f64,
    /// Centre of the contact (pixels).
    pub center_px: Pixels,
    /// Radius of the contact (pixels).
    pub contact_px: f64,
    /// Size of a pixel (m).
    pub pixel_m: f64,
    /// Intersection of the optical axis with the image (pixels).
    pub axis_px: Option<Pixels>,
    /// True if the ball was moved along the gel.
    pub sheared: bool,
}

/// Displacement of the surface per metre of shear, or by the press (m).
struct Displacements {
    field: SurfaceField,
    pixel_m: f64,
}

/// A ball that is moved along the gel.
struct Sheared {
    /// Displacement of the surface (m) per pixel of shear to the right.
    field: Displacements,
    /// Tangential force per shear (N/m).
    stiffness_newton_per_m: f64,
}

/// Scores of a press or a shear.
struct Scores {
    measures: Vec<Measure>,
    notes: Vec<String>,
    fitted: String,
    predicted: Vec<Pixels>,
}

/// Name of the model whose mount yields.
const MOUNT: &str = "mount that yields, no other shift";
/// Largest shift in the mount by the shear of the ball, in hundredths.
const MAX_YIELD_HUNDREDTHS: u32 = 1000;
/// What the measures are.
const WHAT: &str = "displacements: rmse by their root mean square";
const WHAT_SHEAR: &str = "displacements by the shear alone: rmse by their root mean square";

impl Sheared {
    /// What a mount that shifts the gel by a part of the shear (m) of the ball has as its stiffness.
    fn note(&self, shift_per_shear: f64, shear_m: [f64; 2]) -> String {
        let length_m = shear_m[0].hypot(shear_m[1]);
        let force_newton = self.stiffness_newton_per_m * length_m;
        let shear = format!("the ball sheared by {:.2} mm pulls with {force_newton:.2} N", 1e3 * length_m);
        let moves = format!("{MOUNT} (three numbers): {shear} on a gel of this modulus and moves the gel by");
        let shift_m = shift_per_shear * length_m;
        if shift_m == 0.0 {
            return format!("{moves} nothing: a rigid mount");
        }
        format!("{moves} {:.2} mm: {:.2} N/mm", 1e3 * shift_m, 1e-3 * force_newton / shift_m)
    }
}

impl Displacements {
    /// Displacement to the right, down and towards the camera (pixels) at a position relative to the contact.
    fn at(&self, [right, down]: Pixels) -> [f64; 3] {
        let field = &self.field;
        let x = right * self.pixel_m / field.cell_m + 0.5 * (field.cols as f64 - 1.0);
        let y = down * self.pixel_m / field.cell_m + 0.5 * (field.rows as f64 - 1.0);
        let last = |count: usize| count as f64 - 1.001;
        let (x, y) = (x.clamp(0.0, last(field.cols)), y.clamp(0.0, last(field.rows)));
        let (i, j, fx, fy) = (x as usize, y as usize, x.fract(), y.fract());
        let value = |row: usize, col: usize| field.values[row * field.cols + col];
        let u = value(j, i) * ((1.0 - fx) * (1.0 - fy))
            + value(j, i + 1) * (fx * (1.0 - fy))
            + value(j + 1, i) * ((1.0 - fx) * fy)
            + value(j + 1, i + 1) * (fx * fy);
        [u.x / self.pixel_m, -u.y / self.pixel_m, -u.z / self.pixel_m]
    }

    /// Displacement per pixel of shear of the ball to the right, and down: by isotropy, the second is the first, rotated.
    fn by_shear(&self, at: Pixels) -> [Pixels; 2] {
        let [right, down, _] = self.at(at);
        let [x, y, _] = self.at([at[1], -at[0]]);
        [[right, down], [-y, x]]
    }
}

impl Field<'_> {
    /// Fits shift and, for a sheared field, the shear of the ball, or how the camera sees the press.
    pub fn compare(&self, setting: &Setting<'_>) -> Result<Comparison, RealError> {
        let measured = self.read(setting, self.file)?;
        let before = self.before.map(|file| self.read_before(setting, file, &measured)).transpose()?;
        let (pressed, sheared, depth_m) = self.fields(&setting.spec()?.build(None)?)?;
        let Scores { measures, mut notes, fitted, predicted } = match sheared {
            None => self.compare_press(&measured, &pressed),
            Some(sheared) => self.compare_shear(&measured, before.as_ref(), &pressed, &sheared),
        };
        notes.insert(0, format!("pressed to {:.3} mm", 1e3 * depth_m));
        let (split, n) = (&measured.split, measured.at.len());
        let name = |&i: &usize| {
            let [x, y] = self.in_image(measured.at[i]);
            format!("({x}, {y})")
        };
        Ok(Comparison {
            samples: n,
            fitted_on: split.fitted.len(),
            fitted: format!("{fitted} on {} markers", split.fitted.len()),
            // Nothing is kept out of a fit to all markers.
            kept_out: if split.fitted.len() == n { Vec::new() } else { split.kept_out.iter().map(name).collect() },
            measures,
            notes,
            figures: vec![self.figure(&measured, &predicted)],
        })
    }

    fn compare_press(&self, measured: &MarkerField, pressed: &Displacements) -> Scores {
        let press: Vec<[f64; 3]> = measured.at.iter().map(|&at| pressed.at(at)).collect();
        let seen = |view: &View, i: usize| view.moved(measured.at[i], press[i]);
        let (shift, view) = measured.fit_press(&press, self.axis_to_contact(), self.pixel_m);
        let predicted: Vec<Pixels> = (0..press.len()).map(|i| sum(seen(&view, i), &SHIFT, &shift)).collect();
        let mut measure = Measure::new("markers", WHAT, Statistic::Rms);
        measure.add(FITTED, &measured.samples(&|i| predicted[i]));
        measure.add("press alone, nothing fitted", &measured.samples(&|i| seen(&View::default(), i)));
        if self.axis_px.is_some() {
            let depths: Vec<[f64; 3]> = press.iter().map(|[_, _, closer]| [0.0, 0.0, *closer]).collect();
            let (shift, view) = measured.fit_press(&depths, self.axis_to_contact(), self.pixel_m);
            let of = |i: usize| sum(view.moved(measured.at[i], depths[i]), &SHIFT, &shift);
            measure.add("depths of the press, no motion along the gel", &measured.samples(&of));
        }
        let smooth = measured.add_references(&mut measure, Source::Press, self.contact_px);
        let mut notes = vec![format!("shift: {:.3}, {:.3} px; {}", shift[0], shift[1], self.describe(&view))];
        notes.extend(smooth);
        let fitted = match self.axis_px {
            Some(_) => "shift, dilation and distance of the camera (four numbers)",
            None => "shift and dilation (three numbers)",
        };
        Scores { measures: vec![measure], notes, fitted: fitted.into(), predicted }
    }

    fn compare_shear(
        &self,
        measured: &MarkerField,
        before: Option<&MarkerField>,
        pressed: &Displacements,
        sheared: &Sheared,
    ) -> Scores {
        let press: Vec<[f64; 3]> = measured.at.iter().map(|&at| pressed.at(at)).collect();
        let seen = |view: &View, i: usize| view.moved(measured.at[i], press[i]);
        // The camera sees the press before the shear as it sees the sheared gel.
        let fit = |before: &MarkerField| before.fit_press(&press, self.axis_to_contact(), self.pixel_m).1;
        let view = before.map(fit).unwrap_or_default();
        let magnified = |(at, [_, _, closer]): (&Pixels, &[f64; 3])| {
            sheared.field.by_shear(*at).map(|shear| shear.map(|part| part * view.magnification(*closer)))
        };
        let shears: Vec<[Pixels; 2]> = measured.at.iter().zip(&press).map(magnified).collect();
        let columns = |i: usize| [SHIFT, shears[i]].concat();
        let own: Vec<Pixels> = (0..press.len()).map(|i| seen(&view, i)).collect();
        let (numbers, _) = measured.fit(&columns, &|i| own[i]);
        let predicted: Vec<Pixels> = (0..press.len()).map(|i| sum(own[i], &columns(i), &numbers)).collect();
        let mut measure = Measure::new("markers", WHAT, Statistic::Rms);
        measure.add(FITTED, &measured.samples(&|i| predicted[i]));
        measure.add("press alone, nothing fitted", &measured.samples(&|i| seen(&View::default(), i)));
        let list = |numbers: &[f64]| numbers.iter().map(|number| format!("{number:.3}")).collect::<Vec<_>>().join(", ");
        let mut notes = vec![format!("shift and shear: {} px; {}", list(&numbers), self.describe(&view))];
        // The gel in a mount that yields moves by a part of the shear.
        let mount = |part: f64| {
            let shears = &shears;
            move |i: usize| {
                shears[i].iter().zip(SHIFT).map(|(shear, shift)| sum(*shear, &[shift], &[part])).collect::<Vec<_>>()
            }
        };
        let trials = (0..=MAX_YIELD_HUNDREDTHS).map(|hundredths| 0.01 * f64::from(hundredths)).map(|part| {
            let (shear, error) = measured.fit(&mount(part), &|i| own[i]);
            (error, part, shear)
        });
        if let Some((_, part, shear)) = trials.min_by(|a, b| a.0.total_cmp(&b.0)) {
            let columns = mount(part);
            let of = |i: usize| sum(own[i], &columns(i), &shear);
            measure.add(MOUNT, &measured.samples(&of));
            notes.push(sheared.note(part, [0, 1].map(|c| shear[c] * self.pixel_m)));
        }
        let shear = [numbers[2], numbers[3]];
        notes.extend(measured.add_references(&mut measure, Source::Both(shear), self.contact_px));
        let mut measures = vec![measure];
        if let Some(before) = before {
            let alone = measured.since(before);
            let (numbers, _) = alone.fit(&columns, &|_| [0.0; 2]);
            let mut measure = Measure::new("shear", WHAT_SHEAR, Statistic::Rms);
            measure.add(FITTED, &alone.samples(&|i| sum([0.0; 2], &columns(i), &numbers)));
            alone.add_references(&mut measure, Source::Shear([numbers[2], numbers[3]]), self.contact_px);
            measures.push(measure);
            notes.push(format!("by the shear alone, fitted by itself: shift and shear {} px", list(&numbers)));
        }
        let mut fitted = "shift and shear of the ball (four numbers)".to_owned();
        if before.is_some() {
            let camera = if self.axis_px.is_some() { " and distance of the camera" } else { "" };
            fitted = format!("{fitted}, dilation{camera} on the press before,");
        }
        Scores { measures, notes, fitted, predicted }
    }

    fn describe(&self, view: &View) -> String {
        let dilation = format!("dilation {:.2} %", view.dilation);
        match (self.axis_px, view.pixel_per_distance) {
            (None, _) => dilation,
            (Some(_), 0.0) => format!("{dilation}; no perspective"),
            (Some(_), per) => format!("{dilation}; camera at {:.1} mm", 1e3 * self.pixel_m / per),
        }
    }

    /// Position of the contact relative to the optical axis.
    fn axis_to_contact(&self) -> Option<Pixels> {
        self.axis_px.map(|axis| [0, 1].map(|c| self.center_px[c] - axis[c]))
    }

    fn in_image(&self, at: Pixels) -> Pixels {
        [0, 1].map(|c| at[c] + self.center_px[c])
    }

    fn read(&self, setting: &Setting<'_>, file: &Path) -> Result<MarkerField, RealError> {
        let table = Table::read(&setting.folder.join(file))?;
        let [mx, my, dx, dy] = ["Mx", "My", "dx", "dy"].map(|name| table.column(name));
        let (mx, my, dx, dy) = (mx?, my?, dx?, dy?);
        let n = mx.len();
        if n < MIN_MARKERS {
            let rule = format!("has {n} markers and needs at least {MIN_MARKERS}: more than the fitted numbers");
            return Err(RealError::Bad { what: file.display().to_string(), rule });
        }
        let split = match setting.fit.filter(|&count| count > 0) {
            Some(count) => Split::even(n, count),
            None => Split { fitted: (0..n).collect(), kept_out: (0..n).collect() },
        };
        let at = mx.iter().zip(&my).map(|(x, y)| [x - self.center_px[0], y - self.center_px[1]]).collect();
        Ok(MarkerField { at, moved: dx.into_iter().zip(dy).map(|(x, y)| [x, y]).collect(), split })
    }

    /// The table before the shear, of the same markers as `after`.
    fn read_before(&self, setting: &Setting<'_>, file: &Path, after: &MarkerField) -> Result<MarkerField, RealError> {
        let bad = |rule: String| RealError::Bad { what: format!("`before = {:?}`", file.display().to_string()), rule };
        if !self.sheared {
            return Err(bad("is for a sheared field: add `sheared = true`, or remove it".into()));
        }
        let before = self.read(setting, file)?;
        if before.at != after.at {
            let field = self.file.display();
            return Err(bad(format!(
                "must list the markers of {field} in the same order, with the same `Mx` and `My`"
            )));
        }
        Ok(before)
    }

    /// The fields of the press and of a shear along the image's x, with the depth at which the contact has its radius.
    fn fields(&self, sensor: &Sensor) -> Result<(Displacements, Option<Sheared>, f64), RealError> {
        const SHEAR_M: f64 = 0.1e-3;
        let max_px = 0.5 * self.ball_m / self.pixel_m;
        if !(self.contact_px > 0.0 && self.contact_px <= max_px) {
            let rule = format!("must be above 0 and at most {max_px:.1}, the radius of the ball in pixels");
            return Err(RealError::Bad { what: format!("`contact_px = {}`", self.contact_px), rule });
        }
        let ball = Object::new(sphere(0.5 * self.ball_m, self.ball_m / 100.0)?);
        let max_m = 0.999 * sensor.skin().max_depth_m().min(0.6 * self.ball_m);
        let depth_m = self.depth_m(sensor, &ball, max_m)?;
        let pressed = press(sensor, &ball, &Aim::default(), Goal::Depth(depth_m))?;
        let field = |surface: Option<SurfaceField>| {
            let field = surface.ok_or_else(|| RealError::NoSurface { sensor: sensor.name().to_owned() })?;
            Ok::<_, RealError>(Displacements { field, pixel_m: self.pixel_m })
        };
        let before = field(pressed.touch.surface.clone())?;
        if !self.sheared {
            return Ok((before, None, depth_m));
        }
        let moved = pressed.sheared(sensor, &ball, [SHEAR_M, 0.0], Goal::Depth(depth_m))?;
        let stiffness_newton_per_m = moved.touch.on_sensor.force.x / SHEAR_M;
        let mut field = field(moved.touch.surface)?;
        for (after, before) in field.field.values.iter_mut().zip(&before.field.values) {
            *after = (*after - *before) * (self.pixel_m / SHEAR_M);
        }
        Ok((before, Some(Sheared { field, stiffness_newton_per_m }), depth_m))
    }

    /// The depth (m) at which the contact has its radius. Its area changes by whole cells, so that the logarithm of the area is fitted by a
    /// quadratic of that of the depth, which for a ball on a half-space or on a thin layer is a line: over all depths, then with
    /// weights nearer and nearer to the solution. The presses are the same for every radius, so that the depth follows it
    /// without steps.
    fn depth_m(&self, sensor: &Sensor, ball: &Object, max_m: f64) -> Result<f64, RealError> {
        const PRESSES: u32 = 48;
        const MIN_PART: f64 = 2e-3;
        let wanted = (std::f64::consts::PI * (self.contact_px * self.pixel_m).powi(2)).ln();
        let mut areas = Vec::new();
        for k in 0..PRESSES {
            let depth = f64::from(k) / f64::from(PRESSES - 1) * MIN_PART.ln();
            // A skin may refuse the deepest.
            let Ok(pressed) = press(sensor, ball, &Aim::default(), Goal::Depth(max_m * depth.exp())) else { continue };
            let area_m2 = pressed.touch.area_m2();
            areas.extend((area_m2 > 0.0).then(|| (depth, area_m2.ln())));
        }
        areas.reverse();
        let ends = areas.first().zip(areas.last());
        let Some((&(shallowest, least), &(deepest, largest))) = ends.filter(|_| areas.len() > 3) else {
            return Err(RealError::NoSurface { sensor: sensor.name().to_owned() });
        };
        if !(least..=largest).contains(&wanted) {
            let radius_px = |area: f64| (area.exp() / std::f64::consts::PI).sqrt() / self.pixel_m;
            let rule = format!(
                "is no contact of this ball on {}: from a depth of {:.3} to {:.3} mm its radius is {:.1} to {:.1} pixels",
                sensor.name(),
                1e3 * max_m * shallowest.exp(),
                1e3 * max_m * deepest.exp(),
                radius_px(least),
                radius_px(largest)
            );
            return Err(RealError::Bad { what: format!("`contact_px = {}`", self.contact_px), rule });
        }
        let mut found = 0.0;
        for width in [f64::INFINITY, 0.8, 0.4] {
            let row = |&(depth, area): &(f64, f64)| {
                let weight = (-0.5 * ((depth - found) / width).powi(2)).exp();
                (vec![weight, weight * depth, weight * depth * depth], weight * area)
            };
            let [at_max, slope, curvature] = least_squares(&areas.iter().map(row).collect::<Vec<_>>())[..] else {
                return Err(RealError::NoSurface { sensor: sensor.name().to_owned() });
            };
            let (mut low, mut high) = (shallowest.max(found - width), (found + width).min(deepest));
            for _ in 0..50 {
                let depth = 0.5 * (low + high);
                if at_max + depth * (slope + depth * curvature) < wanted { low = depth } else { high = depth }
            }
            found = high;
        }
        Ok(max_m * found.exp())
    }

    fn figure(&self, measured: &MarkerField, predicted: &[Pixels]) -> Figure {
        const ZOOM: f64 = 1.2;
        const LONGER: f64 = 3.0;
        let places: Vec<Pixels> = measured.at.iter().map(|&at| self.in_image(at)).collect();
        let size = |c: usize| (ZOOM * (places.iter().map(|place| place[c]).fold(0.0, f64::max) + 15.0)) as usize;
        let draw = |vectors: &dyn Fn(usize) -> Pixels| {
            let mut image = Image::new(size(0), size(1), [255; 3]);
            let mut canvas = Canvas::new(&mut image);
            for (i, place) in places.iter().enumerate() {
                let from = Vec2::new(ZOOM * place[0], ZOOM * place[1]);
                let [x, y] = vectors(i);
                canvas.arrow(from, from + Vec2::new(x, y) * (ZOOM * LONGER), 1.2, [30, 60, 120]);
            }
            image
        };
        let off = |i: usize| [0, 1].map(|c| predicted[i][c] - measured.moved[i][c]);
        let page = FigurePage::new(3)
            .image(draw(&|i| measured.moved[i]), "measured, three times as long")
            .image(draw(&|i| predicted[i]), "simulated")
            .image(draw(&off), "simulated − measured");
        Figure { caption: "Displacements of the markers".into(), image: page.render() }
    }
}
