//! Section V-A, Figs 8 and 9: images of indenters on a device and on the model fitted to it.

use super::kappassov_device::{ANGLES_DEG, LOADS_G, difference, fitted, hidden, image, indenters, median, weigh};
use super::{ExperimentError, Findings, Options, Progress, tell};
use dermis_draw::{ColourMap, HeatMap, Image, Sheet};
use dermis_skin::Object;

pub(super) fn run(_: &Options, progress: Progress<'_>) -> Result<Findings, ExperimentError> {
    let mut findings = Findings::default();
    let (device, _) = hidden()?;
    let (_, _, spec) = fitted(&device, &mut |done| progress(0.5 * done))?;
    let model = spec.build(None)?;
    let shapes = indenters()?;
    let mut sheet = Sheet::new(4 * ANGLES_DEG.len()).title(
        "Indenters under 100 g (left pair) and 500 g (right pair) at 0, 45 and 90°: hidden device | fitted model, with their difference",
    );
    let mut table = String::from("shape,angle_deg,load_g,image_difference\n");
    let mut all = Vec::new();
    for (done, (name, mesh)) in shapes.iter().enumerate() {
        let object = Object::new(mesh.clone());
        let mut of_shape = Vec::new();
        for angle in ANGLES_DEG {
            for load in LOADS_G {
                let a = image(&device, &weigh(&device, &object, angle, load)?)?;
                let b = image(&model, &weigh(&model, &object, angle, load)?)?;
                let d = difference(&a, &b);
                table += &format!("{name},{angle},{load},{d:.4}\n");
                of_shape.push(d);
                let most = a.iter().chain(&b).copied().fold(0.01, f64::max);
                sheet = sheet
                    .picture(picture(&a, most), format!("{name} {angle}°"))
                    .picture(picture(&b, most), format!("{load} g: {:.1} %", 100.0 * d));
            }
        }
        findings.metric(format!("image_difference_{name}"), median(of_shape.clone()));
        all.extend(of_shape);
        tell(progress, 0.5 + 0.5 * (done + 1) as f64 / shapes.len() as f64)?;
    }
    findings.metric("images", all.len() as f64);
    findings.metric("worst_image_difference", all.iter().copied().fold(0.0, f64::max));
    findings.metric("median_image_difference", median(all));
    findings.files.add("image-differences.csv", table);
    findings.files.add_image("images.png", &sheet.render());
    findings.note("Every pair shares its scale: white is nothing, black the strongest tactel of the two.");
    Ok(findings)
}

fn picture(values: &[f64], most: f64) -> Image {
    HeatMap::new(14, 6, values).map(ColourMap::Grey).max(most).cell_px(12).bare().render()
}
