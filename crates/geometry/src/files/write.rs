//! Writes mesh files.

use super::LengthUnit;
use crate::TriMesh;
use std::fmt::Write;

/// Encodes a binary STL in the given unit. Its numbers are `f32`, so positions are rounded to about 7 digits.
pub fn write_stl(mesh: &TriMesh, unit: LengthUnit) -> Vec<u8> {
    let mut bytes = format!("{:<80}", format!("binary STL by dermis, unit {unit}")).into_bytes();
    bytes.reserve_exact(4 + 50 * mesh.triangles().len());
    bytes.extend((mesh.triangles().len() as u32).to_le_bytes());
    for triangle in 0..mesh.triangles().len() {
        let [a, b, c] = mesh.corners(triangle).map(|v| unit.in_unit(v));
        for vector in [mesh.face_normal(triangle), a, b, c] {
            bytes.extend(vector.to_array().into_iter().flat_map(|x| (x as f32).to_le_bytes()));
        }
        bytes.extend([0, 0]);
    }
    bytes
}

/// Encodes an OBJ in the given unit, with all digits of its vertices.
pub fn write_obj(mesh: &TriMesh, unit: LengthUnit) -> String {
    let mut text = format!("# OBJ by dermis, unit {unit}\n");
    for &vertex in mesh.vertices() {
        let v = unit.in_unit(vertex);
        // Writing to a `String` cannot fail.
        let _ = writeln!(text, "v {} {} {}", v.x, v.y, v.z);
    }
    for [a, b, c] in mesh.triangles() {
        let _ = writeln!(text, "f {} {} {}", u64::from(*a) + 1, u64::from(*b) + 1, u64::from(*c) + 1);
    }
    text
}
