//! Small valid files, written by hand so that the readers are not tested with the writers of the same crate.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use std::fmt::Write;

pub type Vertex = [f64; 3];

/// The cube from 0 to 10 in each direction, outward faces, with corner `i` at the binary digits of `i` (x first).
pub fn cube() -> (Vec<Vertex>, Vec<[u32; 3]>) {
    let vertices = (0..8).map(|i| [0, 1, 2].map(|axis| f64::from(i >> axis & 1) * 10.0)).collect();
    let quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
    (vertices, quads.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).collect())
}

pub fn stl_text() -> String {
    let (vertices, triangles) = cube();
    let mut text = String::from("solid a cube\n");
    for triangle in triangles {
        text.push_str(" facet normal 0 0 0\n  outer loop\n");
        for [x, y, z] in triangle.map(|i| vertices[i as usize]) {
            writeln!(text, "   vertex {x:e} {y} {z}").unwrap();
        }
        text.push_str("  endloop\n endfacet\n");
    }
    text + "endsolid a cube\n"
}

pub fn stl_binary(header: &str) -> Vec<u8> {
    let (vertices, triangles) = cube();
    let mut bytes = header.as_bytes().to_vec();
    bytes.resize(80, 0);
    bytes.extend(12u32.to_le_bytes());
    for triangle in triangles {
        bytes.extend([0; 12]);
        for x in triangle.iter().flat_map(|&i| vertices[i as usize]) {
            bytes.extend((x as f32).to_le_bytes());
        }
        bytes.extend([0; 2]);
    }
    bytes
}

/// An OBJ with every form of line: quads, seams, weights, colours, relative indices, continued lines.
pub fn obj() -> String {
    let lines = [
        "# cube with a path C:\\",
        "mtllib cube.mtl",
        "o cube",
        "v 0 0 0",
        "v 10 0 0 1.0",
        "v 0 10 0 0.5 0.5 0.5",
        "v 1e1 10. +0",
        "v 0 0 10",
        "v 10 \\",
        "  0 10",
        "v 0 10 10",
        "v 10 10 10 1 1 1 1",
        "vt 0 0",
        "vn 0 0 1",
        "usemtl skin",
        "s off",
        "f 1 3 4 2",
        "f 5/1 6/1 8/1 7/1",
        "f 1//1 2//1 6//1 5//1",
        "f 3/1/1 7/1/1 \\",
        "  8/1/1 4/1/1",
        "f -8 -4 -2",
        "f -8 -2 -6",
        "f 2 4 8 6",
        "",
    ];
    lines.join("\r\n")
}

/// `format` is `ascii`, `binary_little_endian` or `binary_big_endian`. The file also has elements and properties that
/// the reader skips.
pub fn ply(format: &str) -> Vec<u8> {
    let header = format!(
        "ply\nformat {format} 1.0\ncomment by hand\nelement camera 1\nproperty list uchar short view\nproperty int id\n\
         element vertex 8\nproperty double z\nproperty uchar red\nproperty float x\nproperty float y\n\
         element face 6\nproperty list uchar int vertex_indices\nproperty ushort flags\n\
         element edge 1\nproperty int vertex1\nproperty int vertex2\nend_header\n"
    );
    let mut body = Numbers { format, bytes: header.into_bytes() };
    body.put(&[(2.0, "u8"), (1.0, "i16"), (-1.0, "i16"), (7.0, "i32")]);
    for [x, y, z] in cube().0 {
        body.put(&[(z, "f64"), (255.0, "u8"), (x, "f32"), (y, "f32")]);
    }
    for quad in cube().1.chunks(2) {
        let corner = |i: u32| (f64::from(i), "i32");
        let [[a, b, c], [_, _, d]] = [quad[0], quad[1]];
        body.put(&[(4.0, "u8"), corner(a), corner(b), corner(c), corner(d), (9.0, "u16")]);
    }
    body.put(&[(0.0, "i32"), (1.0, "i32")]);
    body.bytes
}

struct Numbers<'a> {
    format: &'a str,
    bytes: Vec<u8>,
}

impl Numbers<'_> {
    fn put(&mut self, record: &[(f64, &str)]) {
        if self.format == "ascii" {
            let words: Vec<String> = record.iter().map(|(value, _)| value.to_string()).collect();
            self.bytes.extend((words.join(" ") + "\n").into_bytes());
            return;
        }
        for &(value, kind) in record {
            let mut bytes = match kind {
                "u8" => vec![value as u8],
                "i16" => (value as i16).to_le_bytes().to_vec(),
                "u16" => (value as u16).to_le_bytes().to_vec(),
                "i32" => (value as i32).to_le_bytes().to_vec(),
                "f32" => (value as f32).to_le_bytes().to_vec(),
                _ => value.to_le_bytes().to_vec(),
            };
            if self.format == "binary_big_endian" {
                bytes.reverse();
            }
            self.bytes.extend(bytes);
        }
    }
}

/// The buffer of [`gltf_json`]: 8 positions with a stride of 16, then 36 indices of 16 bits.
pub fn gltf_buffer() -> Vec<u8> {
    let (vertices, triangles) = cube();
    let mut bytes = Vec::new();
    for vertex in vertices {
        bytes.extend(vertex.into_iter().flat_map(|x| (x as f32).to_le_bytes()));
        bytes.extend([0xff; 4]);
    }
    bytes.extend(triangles.into_iter().flatten().flat_map(|i| (i as u16).to_le_bytes()));
    bytes
}

/// A cube in one node; `buffer` is the member `uri` with a comma, or empty for a container.
pub fn gltf_json(buffer: &str) -> String {
    format!(
        r#"{{"asset": {{"version": "2.0"}}, "scene": 0, "scenes": [{{"nodes": [0]}}],
"nodes": [{{"mesh": 0}}],
"meshes": [{{"primitives": [{{"attributes": {{"POSITION": 0, "NORMAL": 9}}, "indices": 1}}]}}],
"accessors": [{{"bufferView": 0, "componentType": 5126, "count": 8, "type": "VEC3"}},
 {{"bufferView": 1, "componentType": 5123, "count": 36, "type": "SCALAR"}}],
"bufferViews": [{{"buffer": 0, "byteLength": 128, "byteStride": 16}},
 {{"buffer": 0, "byteOffset": 128, "byteLength": 72}}],
"buffers": [{{{buffer}"byteLength": 200}}]}}"#
    )
}

pub fn gltf() -> String {
    gltf_json(&data_uri(&gltf_buffer()))
}

pub fn data_uri(bytes: &[u8]) -> String {
    format!(r#""uri": "data:application/octet-stream;base64,{}", "#, BASE64_STANDARD.encode(bytes))
}

pub fn glb(json: &str, binary: &[u8]) -> Vec<u8> {
    let mut json = json.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut binary = binary.to_vec();
    binary.resize(binary.len().next_multiple_of(4), 0);
    let mut bytes = b"glTF".to_vec();
    for number in [2, 12 + 16 + json.len() + binary.len(), json.len()] {
        bytes.extend((number as u32).to_le_bytes());
    }
    bytes.extend(b"JSON");
    bytes.extend(json);
    bytes.extend((binary.len() as u32).to_le_bytes());
    bytes.extend(b"BIN\0");
    bytes.extend(binary);
    bytes
}
