//! A figure page of the twenty-one indenters, seen from below.

use dermis_draw::{Camera, Edges, FigurePage, Material, Scene};
use dermis_geometry::shapes::indenters;
use dermis_geometry::{Pose, Quat, Vec3};
use std::path::PathBuf;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let rotated = Pose::from_rotation(Quat::from_axis_angle(Vec3::X, std::f64::consts::PI));
    let material = Material::new([132, 160, 196]).shine(0.2).edges(Edges::Creases);
    let mut page = FigurePage::new(7).title("The indenters, from below");
    for (name, mesh) in indenters::all()? {
        let scene = Scene::new().mesh(&mesh, &rotated, material);
        let camera = Camera::framing(scene.bounds(), -60.0, 42.0);
        page = page.image(scene.render(&camera, 220, 180), name);
    }
    let folder = PathBuf::from(std::env::var_os("DERMIS_OUT").unwrap_or_else(|| "out".into()));
    std::fs::create_dir_all(&folder)?;
    let image = page.render();
    std::fs::write(folder.join("indenters.png"), image.encode_png())?;
    assert!(image.width() > 7 * 220 && image.height() > 3 * 180, "seven to a row, three rows");
    Ok(())
}
