//! Each error names the file, the position, the problem and the remedy.

use super::{FileError, Format, MeshError, Problem, make, parse};

/// Returns the error, whose message must contain all of `parts`.
#[track_caller]
fn refused(format: Format, bytes: impl AsRef<[u8]>, parts: &[&str]) -> FileError {
    let error = parse(format, bytes.as_ref()).expect_err("must be refused");
    let text = error.to_string();
    assert!(text.starts_with("part"), "{text}");
    for part in parts {
        assert!(text.contains(part), "no {part:?} in {text:?}");
    }
    error
}

#[test]
fn stl_text() {
    let good = make::stl_text();
    let lines: Vec<&str> = good.lines().collect();
    let without_end = lines[..lines.len() - 1].join("\n");
    refused(Format::STL, without_end, &["line 85", "endsolid", "cut off"]);
    refused(Format::STL, good.replacen("endloop", "vertex 1 2 3", 1), &["line 7", "endloop", "vertex"]);
    refused(Format::STL, good.replacen("vertex 0e0 0 0", "vertex 0e0 0 zero", 1), &["line 4", "coordinate", "zero"]);
    refused(Format::STL, good.replacen("vertex 0e0 0 0", "vertex nan 0 0", 1), &["vertex 0", "NaN", "line 4"]);
    refused(Format::STL, good.clone() + "more", &["line 87", "more"]);
    refused(Format::STL, "solid nothing\nendsolid nothing\n", &["empty"]);
    let flat =
        "solid\nfacet normal 0 0 1 outer loop vertex 0 0 0\nvertex 1 0 0 vertex 2 0 0 endloop endfacet\nendsolid";
    let error = refused(Format::STL, flat, &["triangle 0", "no area", "line 2", "dropped"]);
    assert!(matches!(error.problem, Problem::Mesh(MeshError::ZeroArea { triangle: 0, a: 0, b: 1, c: 2, .. })));
    assert!(
        parse(Format::STL, (good.clone() + "\n" + &good).to_uppercase().as_bytes()).is_ok(),
        "two solids are legal"
    );
}

#[test]
fn stl_binary() {
    for header in ["by hand", "solid by hand"] {
        let good = make::stl_binary(header);
        let error = refused(Format::STL, &good[..good.len() - 1], &["12 triangles", "684", "683", "cut off"]);
        assert!(matches!(error.problem, Problem::StlLength { triangles: 12, expected: 684, found: 683 }));
        refused(Format::STL, [&good[..], &[0]].concat(), &["684", "685"]);
    }
    let mut bytes = make::stl_binary("");
    bytes[80..84].copy_from_slice(&50_000_001u32.to_le_bytes());
    refused(Format::STL, &bytes, &["byte 80", "50000001 triangles", "50000000", "simplify"]);
    let mut bytes = make::stl_binary("");
    bytes[84 + 50 + 24..][..4].copy_from_slice(&f32::INFINITY.to_le_bytes());
    refused(Format::STL, &bytes, &["vertex 4", "inf", "byte 158"]);
    refused(Format::STL, "<html>not found</html>", &["<html>", "solid"]);
    refused(Format::STL, "v 0 0 0\n".repeat(20), &["160 bytes", "solid"]);
}

#[test]
fn obj() {
    let with = |line: &str| format!("v 0 0 0\nv 1 0 0\nv 0 1 0\n{line}\nf 1 2 3\n");
    refused(Format::OBJ, with("v 1 2"), &["line 4", "three coordinates", "v 1 2"]);
    refused(Format::OBJ, with("v 1 2 x"), &["line 4", "coordinates", "v 1 2 x"]);
    refused(Format::OBJ, with("v 1 2 3 4 5 6 7 8"), &["line 4"]);
    refused(Format::OBJ, with("v 1 inf 3"), &["vertex 3", "inf", "line 4"]);
    let error = refused(Format::OBJ, with("f 1 2"), &["line 4", "2 corners", "at least 3"]);
    assert!(matches!(error.problem, Problem::FaceCorners { corners: 2 }));
    refused(Format::OBJ, with("f 1 2 3/"), &["line 4", "corner", "3/"]);
    refused(Format::OBJ, with("f 1 2 3//"), &["line 4", "3//"]);
    refused(Format::OBJ, with("f 1 2 3/1/1/1"), &["line 4", "3/1/1/1"]);
    refused(Format::OBJ, with("f 0 1 2"), &["line 4", "vertex 0", "from 1"]);
    let error = refused(Format::OBJ, with("f 1 2 4"), &["vertex 4", "only 3", "line 4"]);
    assert!(matches!(error.problem, Problem::Mesh(MeshError::IndexOutOfRange { index: 4, vertices: 3, .. })));
    refused(Format::OBJ, with("f 1 2 -4"), &["vertex -4", "only 3", "line 4"]);
    refused(Format::OBJ, with("f 1 2 99999999999"), &["vertex 99999999999"]);
    refused(Format::OBJ, with("f 1 2 99999999999999999999"), &["line 4", "corner"]);
    refused(Format::OBJ, with("f 1 2 2"), &["triangle 0", "no area", "vertices 0, 1, 1", "line 4"]);
    refused(Format::OBJ, with("curv2 1 2"), &["line 4", "curv2"]);
    refused(Format::OBJ, "v 0 0 0\nv 1 0 \\", &["line 2", "continued", "cut off"]);
    refused(Format::OBJ, "# nothing\n", &["empty"]);
    assert!(parse(Format::OBJ, b"f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n").is_ok(), "vertices may come later");
}

#[test]
fn ply_header() {
    let good = String::from_utf8(make::ply("ascii")).unwrap();
    let changed = |from: &str, to: &str| good.replacen(from, to, 1);
    refused(Format::PLY, changed("ply", "plug"), &["line 1", "\"ply\"", "plug"]);
    refused(Format::PLY, changed("ascii", "utf8"), &["line 2", "binary_little_endian", "utf8"]);
    refused(Format::PLY, changed("format ascii 1.0\n", ""), &["line 17", "format"]);
    refused(Format::PLY, changed("float x", "real x"), &["line 10", "property real x"]);
    refused(Format::PLY, changed("element vertex 8", "element vertex -8"), &["line 7", "count"]);
    refused(Format::PLY, changed("element edge", "element face"), &["line 15", "already"]);
    refused(Format::PLY, changed("element vertex", "element point"), &["\"vertex\""]);
    refused(Format::PLY, changed("element face", "element patch"), &["\"face\""]);
    refused(Format::PLY, changed("float y", "float v"), &["\"y\""]);
    refused(Format::PLY, changed("vertex_indices", "corners"), &["vertex_indices"]);
    refused(Format::PLY, changed("element face 6", "element face 60000000"), &["line 12", "60000000 triangles"]);
    refused(Format::PLY, &good[..good.find("end_header").unwrap()], &["end_header", "cut off"]);
    assert!(parse(Format::PLY, changed("vertex_indices", "vertex_index").as_bytes()).is_ok());
    assert!(parse(Format::PLY, good.replace('\n', "\r\n").as_bytes()).is_ok());
}

#[test]
fn ply_body() {
    let good = String::from_utf8(make::ply("ascii")).unwrap();
    let changed = |from: &str, to: &str| good.replacen(from, to, 1);
    let lines = |count: usize| good.lines().take(count).collect::<Vec<_>>().join("\n");
    refused(Format::PLY, lines(22), &["line 22", "3 of the 8", "vertex"]);
    refused(Format::PLY, lines(30), &["line 30", "3 of the 6", "face"]);
    refused(Format::PLY, changed("\n10 255 0 0\n", "\n10 255 0\n"), &["line 24", "another number", "vertex"]);
    refused(Format::PLY, changed("\n10 255 0 0\n", "\n10 255 0 0 1\n"), &["line 24", "end of the line"]);
    refused(Format::PLY, changed("\n10 255 0 0\n", "\nnan 255 0 0\n"), &["vertex 4", "NaN", "line 24"]);
    refused(Format::PLY, changed("4 0 2 3 1 9", "2 0 2 9"), &["line 28", "2 corners"]);
    refused(Format::PLY, changed("4 0 2 3 1 9", "4 0 2 3 8 9"), &["vertex 8", "only 8", "line 28"]);
    refused(Format::PLY, changed("4 0 2 3 1 9", "4 0 2 3 -1 9"), &["vertex -1", "line 28"]);
    refused(Format::PLY, changed("4 0 2 3 1 9", "4 0 2 3 0.5 9"), &["line 28", "0.5", "vertex index"]);
    refused(Format::PLY, changed("4 0 2 3 1 9", "-4 0 2 3 1 9"), &["line 28", "-4", "list length"]);
    refused(Format::PLY, good.clone() + "1", &["more in the file", "line 35"]);
    for format in ["binary_little_endian", "binary_big_endian"] {
        let good = make::ply(format);
        let length = good.len().to_string();
        let cut = (good.len() - 1).to_string();
        refused(Format::PLY, &good[..good.len() - 1], &[&format!("byte {cut}"), "0 of the 1", "edge", "cut off"]);
        refused(Format::PLY, [&good[..], &[7]].concat(), &[&format!("byte {length}"), "more in the file"]);
    }
}

#[test]
fn glb() {
    let good = make::glb(&make::gltf_json(""), &make::gltf_buffer());
    let changed = |at: usize, to: u32| {
        let mut bytes = good.clone();
        bytes[at..at + 4].copy_from_slice(&to.to_le_bytes());
        bytes
    };
    refused(Format::GLB, &good[..good.len() - 4], &["byte 8", "cut off"]);
    refused(Format::GLB, changed(12, 1_000_000), &["byte 12", "chunk of 1000000 bytes", "cut off"]);
    refused(Format::GLB, changed(4, 1), &["byte 4", "\"1\"", "glTF 2"]);
    refused(Format::GLB, changed(0, 0), &["byte 0", "\"glTF\""]);
    refused(Format::GLB, changed(16, 0x004e_4942), &["byte 16", "JSON", "BIN"]);
    refused(Format::GLB, b"glTF\x02\0\0\0", &["12 bytes", "8"]);
    let short = make::glb(&make::gltf_json(""), &make::gltf_buffer()[..196]);
    refused(Format::GLB, short, &["buffer 0", "200 bytes", "the binary chunk has 196"]);
}

#[test]
fn gltf() {
    let good = make::gltf();
    let changed = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1)
    };
    refused(Format::GLTF, &good[..300], &["line 5", "column", "cut off"]);
    refused(Format::GLTF, changed(r#""2.0""#, r#""1.0""#), &["asset", "\"1.0\"", "glTF 2"]);
    refused(
        Format::GLTF,
        changed(r#""count": 36"#, r#""count": 39"#),
        &["accessor 1", "78 bytes", "bufferView 1 has 72"],
    );
    refused(Format::GLTF, changed(r#""count": 36"#, r#""count": 35"#), &["mesh 0, primitive 0", "35"]);
    refused(Format::GLTF, changed(r#""count": 8"#, r#""count": 4000000000"#), &["4000000000 vertices"]);
    refused(Format::GLTF, changed(r#""count": 8"#, r#""count": -8"#), &["line 4", "-8"]);
    refused(Format::GLTF, changed(r#""count": 36"#, r#""count": 180000003"#), &["60000001 triangles"]);
    refused(Format::GLTF, changed(r#""count": 8"#, r#""count": 4"#), &["refers to vertex", "only 4", "primitive 0"]);
    refused(
        Format::GLTF,
        changed(r#""byteLength": 72"#, r#""byteLength": 73"#),
        &["bufferView 1", "201", "buffer 0 has 200"],
    );
    refused(Format::GLTF, changed(r#""byteStride": 16"#, r#""byteStride": 8"#), &["bufferView 0", "byteStride", "8"]);
    refused(
        Format::GLTF,
        changed(r#""byteLength": 200"#, r#""byteLength": 201"#),
        &["buffer 0", "201 bytes", "has 200"],
    );
    refused(
        Format::GLTF,
        changed(r#""POSITION": 0"#, r#""POSITION": 2"#),
        &["primitive 0", "accessor 2", "there are 2"],
    );
    refused(Format::GLTF, changed(r#""POSITION": 0, "#, ""), &["primitive 0", "POSITION"]);
    refused(Format::GLTF, changed(r#""mesh": 0"#, r#""mesh": 1"#), &["mesh 1", "there are 1"]);
    refused(Format::GLTF, changed(r#""nodes": [0]"#, r#""nodes": [5]"#), &["node 5", "there are 1"]);
    refused(Format::GLTF, changed(r#""scene": 0"#, r#""scene": 3"#), &["scene 3", "there are 1"]);
    refused(Format::GLTF, changed("5126", "5123"), &["accessor 0", "VEC3 of float", "5123"]);
    refused(Format::GLTF, changed("5123", "5122"), &["accessor 1", "unsigned", "5122"]);
    refused(Format::GLTF, changed(r#""bufferView": 0, "#, ""), &["accessor 0", "bufferView", "none"]);
    let sparse = r#"{"count": 1, "indices": {"bufferView": 1, "componentType": 5123}, "values": {"bufferView": 0}}"#;
    refused(
        Format::GLTF,
        changed(r#""count": 8"#, &format!(r#""sparse": {sparse}, "count": 8"#)),
        &["accessor 0", "sparse"],
    );
    refused(Format::GLTF, changed(";base64,", ";base32,"), &["buffer 0", "base64"]);
    refused(Format::GLTF, changed(";base64,", ";base64,ö"), &["buffer 0", "character 0", "\"ö\""]);
    refused(Format::GLTF, changed(";base64,", ";base64,A"), &["buffer 0", "character 268", "\"=\""]);
    refused(
        Format::GLTF,
        changed(r#""indices": 1"#, r#""indices": 1, "mode": 7"#),
        &["primitive 0", "mode from 0 to 6"],
    );
    refused(Format::GLTF, changed(r#""mesh": 0"#, r#""mesh": 0, "skin": 2"#), &["node 0", "skin 2"]);
    refused(Format::GLTF, make::gltf_json(""), &["buffer 0", "uri"]);
    let buffers = format!(r#""buffers": [{}{{"byteLength": 8, "uri": "a"}}]"#, r#"{"byteLength": 9e18, "uri": "a"}, "#)
        .replace("9e18", "9000000000000000000");
    let many = make::gltf_json("").replacen(r#""buffers": "#, &format!("{buffers}, \"extras\": "), 1);
    refused(Format::GLTF, many, &["buffer 0", "9000000000000000000 bytes of buffers", "17179869184"]);
}

#[test]
fn gltf_compression_is_refused_by_name() {
    let good = make::gltf();
    let required =
        |name: &str| good.replacen(r#""scene": 0"#, &format!(r#""extensionsRequired": ["{name}"], "scene": 0"#), 1);
    refused(Format::GLTF, required("KHR_draco_mesh_compression"), &["extensionsRequired", "Draco", "without"]);
    refused(Format::GLTF, required("EXT_meshopt_compression"), &["meshopt", "without"]);
    refused(Format::GLTF, required("ACME_origami"), &["ACME_origami"]);
    assert!(parse(Format::GLTF, required("KHR_materials_unlit").as_bytes()).is_ok(), "looks do not matter");
    let beside = |member: &str, name: &str| {
        good.replacen(member, &format!(r#"{member}, "extensions": {{"{name}": {{"bufferView": 0}}}}"#), 1)
    };
    let draco = beside(r#""indices": 1"#, "KHR_draco_mesh_compression");
    refused(Format::GLTF, draco, &["mesh 0, primitive 0", "Draco"]);
    let meshopt = beside(r#""byteStride": 16"#, "EXT_meshopt_compression");
    refused(Format::GLTF, meshopt, &["bufferView 0", "meshopt"]);
    refused(Format::GLTF, beside(r#""mesh": 0"#, "EXT_mesh_gpu_instancing"), &["node 0", "instancing"]);
}
