//! The readers, each with words of its format and the bounds that it must keep.

mod calibration;
mod descriptions;
mod meshes;
mod page;
mod recordings;
mod robots;
mod states;

use crate::repair;
use std::path::Path;

/// One reader.
pub struct Target {
    /// Name, and folder of its corpus.
    pub name: &'static str,
    /// Reads an input and checks what was accepted: finite, and the same after writing and reading. An error is the
    /// sentence of a refusal; a panic is a finding. The folder is for files and is emptied by nobody.
    pub run: Run,
    /// Words of the format.
    pub words: Words,
    /// Memory that any input may take (bytes), and memory for each byte of it.
    pub memory: (usize, usize),
    /// CPU time that an input may take (s).
    pub seconds: f64,
    /// Makes checksums right again.
    pub repair: Option<fn(&mut [u8])>,
    /// Inputs besides the corpus, which would be too large for it.
    pub seeds: Option<fn() -> Vec<Vec<u8>>>,
}

const MIB: usize = 1 << 20;

const XML: &[&str] = &[
    "<",
    ">",
    "</",
    "/>",
    "=\"",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "&lt;",
    "&#0;",
    "<?xml",
    "<!DOCTYPE a [<!ENTITY b \"c\">]>",
    "&b;",
];
const STL: &[&str] = &["solid", "facet normal ", "outer loop", "vertex ", "endloop", "endfacet", "endsolid"];
const OBJ: &[&str] = &["v ", "vn ", "vt ", "f ", "o ", "g ", "//", "/", "usemtl", "\\\n", "f -1 -2 -3\n"];
const PLY: &[&str] = &[
    "ply\n",
    "format ascii 1.0\n",
    "format binary_little_endian 1.0\n",
    "format binary_big_endian 1.0\n",
    "element vertex ",
    "element face ",
    "property float x\n",
    "property double y\n",
    "property list uchar int vertex_indices\n",
    "property list uint uint vertex_index\n",
    "end_header\n",
    "comment ",
    "uchar",
    "ushort",
    "int8",
    "uint64",
];
const GLTF: &[&str] = &[
    "\"accessors\"",
    "\"bufferViews\"",
    "\"buffers\"",
    "\"byteOffset\"",
    "\"byteLength\"",
    "\"byteStride\"",
    "\"count\"",
    "\"componentType\"",
    "5120",
    "5121",
    "5123",
    "5125",
    "5126",
    "\"type\"",
    "\"VEC3\"",
    "\"SCALAR\"",
    "\"sparse\"",
    "\"indices\"",
    "\"values\"",
    "\"mode\"",
    "\"matrix\"",
    "\"children\"",
    "\"nodes\"",
    "\"scenes\"",
    "\"scene\"",
    "\"translation\"",
    "\"rotation\"",
    "\"scale\"",
    "\"uri\"",
    "data:application/octet-stream;base64,",
    "\"extensionsRequired\"",
    "KHR_draco_mesh_compression",
    "KHR_mesh_quantization",
    "\"primitives\"",
    "\"POSITION\"",
    "null",
    "[[",
    "]]",
];
const VTK: &[&str] = &[
    "# vtk DataFile Version 3.0\n",
    "# vtk DataFile Version 5.1\n",
    "ASCII",
    "BINARY",
    "DATASET UNSTRUCTURED_GRID",
    "POINTS ",
    "CELLS ",
    "CELL_TYPES ",
    "float",
    "double",
    "OFFSETS vtktypeint64",
    "CONNECTIVITY vtktypeint64",
    "METADATA",
    "10",
];
const MSH: &[&str] = &[
    "$MeshFormat",
    "$EndMeshFormat",
    "2.2 0 8",
    "4.1 0 8",
    "4.1 1 8",
    "$Nodes",
    "$EndNodes",
    "$Elements",
    "$EndElements",
    "$Entities",
    "$PhysicalNames",
];
const TOML: &[&str] = &[
    "[",
    "]",
    "[[",
    "]]",
    "{",
    "}",
    "=",
    "\"",
    "'''",
    "\n",
    ".",
    ", ",
    "true",
    "false",
    "nan",
    "inf",
    "-inf",
    "1979-05-27",
    "[]",
    "{}",
    "0x7fffffffffffffff",
    "name = \"a\"\n",
    "kind = ",
    "\"springs\"",
    "\"hydroelastic\"",
    "\"layer\"",
    "\"gel\"",
    "\"imprint\"",
    "rows = ",
    "cols = ",
    "pitch = ",
    "thickness",
    "young",
    "poisson",
    "cell",
    "stiffness",
    "max_penetration",
    "damping",
    "friction",
    "mu_static",
    "\"1 mm\"",
    "\"0 mm\"",
    "\"-1 mm\"",
    "\"1e300 m\"",
    "\"1e-300 m\"",
    "\"nan mm\"",
    "\"200 kPa\"",
    "\"0 Pa\"",
    "[response]\n",
    "[camera]\n",
    "[light]\n",
    "[[body]]\n",
    "[[sensor]]\n",
    "[world]\n",
    "time_step",
    "duration",
    "shape.sphere.radius",
    "shape.box.size",
    "motion = \"free\"\n",
    "mass = \"1 g\"\n",
    "velocity",
    "gravity",
    "file = \"a.stl\"\n",
    "unit = \"mm\"\n",
    "preset = \"wts0614\"\n",
    "[[row]]\n",
    "[row.data]\n",
    "\"ball-images\"",
    "\"force-depth\"",
    "\"no-model\"",
    "\"taxel-positions\"",
    "\"weights\"",
    "\"force.csv\"",
    "\"readings.csv\"",
    "\"places.yaml\"",
    "\"pad.toml\"",
    "\"{grams}g-*.csv\"",
    "fit = ",
    "count = ",
    "seed = ",
    "[[randomise]]\n",
    "[[sensors]]\n",
];
const JSON: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    ":",
    ",",
    "null",
    "true",
    "false",
    "1e999",
    "-0.0",
    "\"do\"",
    "\"press\"",
    "\"object\"",
    "\"sensor\"",
    "\"catalogue\"",
    "\"slot\"",
    "\"at_mm\"",
    "\"depth_mm\"",
    "\"force_n\"",
    "\"tilt_deg\"",
    "\"yaw_deg\"",
    "\"shear_mm\"",
    "\"skin\"",
    "\"preset\"",
    "\"width_px\"",
    "\"controls\"",
    "\"stiffness\"",
    "\"friction\"",
    "\"thickness\"",
    "\"Springs\"",
    "\"Layer\"",
    "\"Gel\"",
    "\"Hydroelastic\"",
    "\"Imprint\"",
    "\\ud800",
    "\\u0000",
];
const CSV: &[&str] = &[
    ",",
    "\n",
    "\"",
    "\"\"",
    "#",
    ";",
    "time_s",
    "body",
    "fx_n",
    "t0_n",
    "x_m",
    "qw",
    ".0",
    ".1",
    "depth_mm",
    "force_n",
    "weight_g",
    "velocity_m_per_s",
    "taxel",
    "press",
    "held_s",
    "force_N",
    "raw_0_counts",
    "raw_counts",
    "\u{feff}",
    "\r\n",
];

/// All readers.
pub const ALL: &[Target] = &[
    mesh("stl", meshes::stl, STL, None),
    mesh("obj", meshes::obj, OBJ, None),
    mesh("ply", meshes::ply, PLY, None),
    mesh("gltf", meshes::gltf, GLTF, None),
    mesh("glb", meshes::glb, GLTF, Some(repair::glb)),
    mesh("vtk", meshes::vtk, VTK, None),
    mesh("msh", meshes::msh, MSH, None),
    mesh("xyz", meshes::xyz, &["#", ",", "ply\n", "nan", "\t"], None),
    reader("sensor-toml", descriptions::sensor, TOML, (64 * MIB, 1000), 5.0),
    // Some damaged scenes take 4 s.
    reader("scene-toml", descriptions::scene, TOML, (64 * MIB, 1000), 15.0),
    reader("dataset-toml", descriptions::dataset, TOML, (64 * MIB, 1000), 5.0),
    reader("real-toml", descriptions::real, TOML, (64 * MIB, 1000), 5.0),
    reader(
        "object-flag",
        descriptions::object,
        &["sphere", "box", ":", "=", ",", "radius", "size", "mm", "x", "cylinder", "cone", "height", "edge"],
        (MIB, 1000),
        2.0,
    ),
    Target { seeds: Some(states::seeds), ..reader("states-json", states::state, JSON, (256 * MIB, 1000), 10.0) },
    Target {
        repair: Some(repair::mcap),
        ..reader(
            "mcap",
            recordings::mcap,
            &[
                "\u{89}MCAP0\r\n",
                "zstd",
                "lz4",
                "json",
                "cdr",
                "protobuf",
                "ros2msg",
                "float64[] data",
                "std_msgs/msg/Float64MultiArray",
            ],
            (2048 * MIB, 4000),
            20.0,
        )
    },
    reader("parquet", recordings::parquet, &["PAR1", "time_s", "sensor"], (4096 * MIB, 4000), 20.0),
    reader("csv", recordings::csv, CSV, (64 * MIB, 4000), 5.0),
    reader(
        "npy",
        recordings::npy,
        &["\u{93}NUMPY", "'descr': '<f8'", "'<f4'", "'|u1'", "'shape': (", "'fortran_order': True", "(,)", ", }"],
        (MIB, 100),
        1.0,
    ),
    reader(
        "bag",
        recordings::bag,
        &["SQLite format 3\0", "topics", "messages", "cdr", "std_msgs/msg/Float64MultiArray"],
        (256 * MIB, 4000),
        10.0,
    ),
    Target {
        repair: Some(repair::png),
        ..reader(
            "png",
            calibration::png,
            &["IHDR", "PLTE", "IDAT", "IEND", "tRNS", "fcTL", "fdAT", "acTL", "gAMA", "iCCP"],
            (1200 * MIB, 4000),
            10.0,
        )
    },
    reader("stiffness-csv", calibration::stiffness, CSV, (64 * MIB, 4000), 5.0),
    reader("friction-csv", calibration::friction, CSV, (64 * MIB, 4000), 5.0),
    reader("taxels-csv", calibration::taxels, CSV, (256 * MIB, 4000), 20.0),
    reader("creep-csv", calibration::creep, CSV, (256 * MIB, 4000), 20.0),
    reader(
        "labels-csv",
        calibration::labels,
        &["file", "center_x_px", "center_y_px", "contact_radius_px", "x_mm", "y_mm", "depth_mm", ",", "\n", "ball.png"],
        (64 * MIB, 4000),
        5.0,
    ),
    reader("request-json", page::request, JSON, (64 * MIB, 1000), 10.0),
    reader(
        "http",
        page::http,
        &["GET ", "HEAD ", "POST ", " HTTP/1.1", " HTTP/1.0", "\r\n", "Host: ", "host:", "/", "?", "#", "%00", "key="],
        (MIB, 100),
        1.0,
    ),
    reader("mjcf", robots::mjcf, TOML, (64 * MIB, 1000), 5.0),
    reader(
        "urdf",
        robots::urdf,
        &[
            "<sensor name=\"tip\">",
            "<tactile>",
            "<array",
            "<taxel",
            "rows=\"",
            "cols=\"",
            "idx=\"",
            "xyz=\"",
            "rpy=\"",
            "size=\"",
            "spacing=\"",
            "offset=\"",
            "order=\"",
            "<origin",
            "/>",
            "<!ENTITY",
            "&amp;",
        ],
        (256 * MIB, 1000),
        2.0,
    ),
    reader("openrave", robots::openrave, XML, (64 * MIB, 1000), 2.0),
];

type Run = fn(&[u8], &Path) -> Result<(), String>;
type Words = &'static [&'static str];

/// A reader without checksums, whose inputs are those of the corpus.
const fn reader(name: &'static str, run: Run, words: Words, memory: (usize, usize), seconds: f64) -> Target {
    Target { name, run, words, memory, seconds, repair: None, seeds: None }
}

const fn mesh(name: &'static str, run: Run, words: Words, repair: Option<fn(&mut [u8])>) -> Target {
    Target { repair, ..reader(name, run, words, (16 * MIB, 2000), 5.0) }
}

/// The reader of a name.
pub fn find(name: &str) -> Option<&'static Target> {
    ALL.iter().find(|target| target.name == name)
}

/// The input as text; readers of text refuse other bytes before they read.
fn text(bytes: &[u8]) -> Result<&str, String> {
    std::str::from_utf8(bytes).map_err(|_| "no text in UTF-8".to_owned())
}

fn said(error: impl std::fmt::Display) -> String {
    error.to_string()
}
