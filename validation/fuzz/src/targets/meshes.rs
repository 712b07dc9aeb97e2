//! Mesh files.

use super::said;
use dermis::geometry::files::{
    Format, Import, LengthUnit, TetFormat, parse, parse_tets, read_points, write_obj, write_stl,
};
use dermis::geometry::{Surface, TriMesh, Vec3};
use std::path::Path;

pub fn stl(bytes: &[u8], _: &Path) -> Result<(), String> {
    triangles(Format::STL, bytes)
}

pub fn obj(bytes: &[u8], _: &Path) -> Result<(), String> {
    triangles(Format::OBJ, bytes)
}

pub fn ply(bytes: &[u8], _: &Path) -> Result<(), String> {
    triangles(Format::PLY, bytes)
}

pub fn gltf(bytes: &[u8], _: &Path) -> Result<(), String> {
    triangles(Format::GLTF, bytes)
}

pub fn glb(bytes: &[u8], _: &Path) -> Result<(), String> {
    triangles(Format::GLB, bytes)
}

pub fn vtk(bytes: &[u8], _: &Path) -> Result<(), String> {
    tets(TetFormat::Vtk, bytes)
}

pub fn msh(bytes: &[u8], _: &Path) -> Result<(), String> {
    tets(TetFormat::Msh, bytes)
}

pub fn xyz(bytes: &[u8], folder: &Path) -> Result<(), String> {
    let path = folder.join("points.xyz");
    std::fs::write(&path, bytes).map_err(said)?;
    let points = read_points(&path, LengthUnit::Millimetre).map_err(said)?;
    assert!(points.iter().all(|point| point.is_finite()), "a point is not finite");
    Ok(())
}

fn triangles(format: Format, bytes: &[u8]) -> Result<(), String> {
    let import = |weld, drop_degenerate| Import { unit: Some(LengthUnit::Metre), weld, drop_degenerate };
    let loose = parse("a", format, bytes, &import(true, true));
    if let Ok(mesh) = &loose {
        check(mesh);
    }
    let mesh = parse("a", format, bytes, &import(false, false)).map_err(said)?;
    check(&mesh);
    let text = write_obj(&mesh, LengthUnit::Metre);
    let again = parse("a", Format::OBJ, text.as_bytes(), &import(false, false)).expect("an OBJ of our own is read");
    assert_eq!((again.vertices(), again.triangles()), (mesh.vertices(), mesh.triangles()), "OBJ does not round-trip");
    // Numbers of STL are rounded, which may flatten a triangle: it may be refused, and may not panic.
    let _ = parse("a", Format::STL, &write_stl(&mesh, LengthUnit::Metre), &import(true, true));
    // What the skins ask first.
    let _ = (mesh.check_closed(), mesh.mass_properties(1.0));
    let surface = Surface::new(mesh);
    let nearest = surface.closest(Vec3::new(1.0, 2.0, 3.0));
    assert!(nearest.point.is_finite(), "the closest point is not finite");
    Ok(())
}

fn check(mesh: &TriMesh) {
    assert!(mesh.vertices().iter().all(|vertex| vertex.is_finite()), "a vertex is not finite");
    let count = mesh.vertices().len();
    assert!(mesh.triangles().iter().flatten().all(|&corner| (corner as usize) < count), "a corner does not exist");
    assert!(mesh.area_m2().is_finite() && mesh.volume_m3().is_finite(), "area or volume is not finite");
    assert!((0..mesh.triangles().len()).all(|i| mesh.face_normal(i).is_finite()), "a normal is not finite");
}

fn tets(format: TetFormat, bytes: &[u8]) -> Result<(), String> {
    let mesh = parse_tets("a", format, bytes, LengthUnit::Millimetre).map_err(said)?;
    assert!(mesh.vertices().iter().all(|vertex| vertex.is_finite()), "a vertex is not finite");
    assert!(mesh.volume_m3().is_finite(), "the volume is not finite");
    if let Ok(boundary) = mesh.boundary() {
        check(&boundary);
    }
    Ok(())
}
