//! Why a file is not a mesh.

use super::Format;
use crate::MeshError;
use std::fmt;
use std::io::ErrorKind;

/// Where in a file something stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of text, counted from 1.
    Line(usize),
    /// An offset into a binary file, counted from 0.
    Byte(usize),
    /// A part of a glTF mesh, both counted from 0.
    Primitive {
        /// Index of the mesh.
        mesh: usize,
        /// Index of the primitive in it.
        primitive: usize,
    },
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
            Self::Primitive { mesh, primitive } => write!(f, "mesh {mesh}, primitive {primitive}"),
        }
    }
}

/// Why a file is not a mesh. Each names the file, the place, what is there and what to do.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum FileError {
    /// Nothing under that path.
    #[error("{file}: there is no such file; check the spelling and the folder that the path starts from")]
    NotFound {
        /// Path as given.
        file: String,
    },
    /// The system does not let us.
    #[error("{file}: reading is not permitted; ask for read permission on the file and its folders")]
    NotPermitted {
        /// Path as given.
        file: String,
    },
    /// A folder.
    #[error("{file}: this is a folder; name a mesh file in it ({})", Format::extension_list())]
    IsDirectory {
        /// Path as given.
        file: String,
    },
    /// Any other trouble of the file system, in its own words.
    #[error("{file}: cannot be read ({reason}); check the disk that holds it")]
    Unreadable {
        /// Path as given.
        file: String,
        /// What the system says.
        reason: String,
    },
    /// No bytes.
    #[error("{file}: the file is empty (0 bytes); export it again")]
    Empty {
        /// Name of the file.
        file: String,
    },
    /// Not a format that is read.
    #[error(
        "{file}: {extension:?} is not an extension of a mesh file; convert it to one of {}",
        Format::extension_list()
    )]
    UnknownExtension {
        /// Path as given.
        file: String,
        /// What follows its last dot.
        extension: String,
    },
    /// Not a format that tetrahedra are read from.
    #[error("{file}: the extension {extension:?} is none of a file of tetrahedra; convert it to .vtk (legacy) or .msh")]
    UnknownTetExtension {
        /// Path as given.
        file: String,
        /// What follows its last dot.
        extension: String,
    },
    /// Not a format that points are read from.
    #[error("{file}: the extension {extension:?} is none of a cloud of points; convert it to .xyz or .ply")]
    UnknownPointExtension {
        /// Path as given.
        file: String,
        /// What follows its last dot.
        extension: String,
    },
    /// Lengths in a format without units.
    #[error("{file}: {format} does not say its unit; say mm or m (or cm or in), whichever it was exported in")]
    NoUnit {
        /// Name of the file.
        file: String,
        /// Its format.
        format: Format,
    },
    /// More than is sensible.
    #[error("{file}, {place}: {claimed} {what}, and at most {limit} are read; simplify the mesh")]
    TooLarge {
        /// Name of the file.
        file: String,
        /// Where the count stands or is passed.
        place: Place,
        /// Vertices or triangles.
        what: &'static str,
        /// How many.
        claimed: u64,
        /// How many are read.
        limit: u64,
    },
    /// What the file says is no mesh.
    #[error("{error}{}", .place.map_or_else(String::new, |p| format!(" (at {p} of the file)")))]
    Mesh {
        /// What is wrong with it. Triangles and vertices are numbered as in the file.
        error: MeshError,
        /// Where the element stands, when the format's reader knows.
        place: Option<Place>,
    },

    /// What the file says is no mesh of tetrahedra.
    #[error(transparent)]
    Tets(#[from] crate::TetMeshError),
    /// Cells that are no tetrahedra.
    #[error(
        "{file}: cell {cell} is of type {kind} with {corners} corners; only linear tetrahedra are read, so mesh the solid with these alone"
    )]
    NotTets {
        /// Name of the file.
        file: String,
        /// Number of the cell, as in the file.
        cell: usize,
        /// Its type, in the numbering of the format.
        kind: i64,
        /// How many corners it has, where that is known.
        corners: usize,
    },
    /// A VTK file whose cells and types do not match.
    #[error("{file}: {cells} cells but {types} cell types; the file was damaged, so export it again")]
    CellCounts {
        /// Name of the file.
        file: String,
        /// Number of cells.
        cells: usize,
        /// Number of types.
        types: usize,
    },
    /// A Gmsh file of another version.
    #[error(
        "{file}: Gmsh format {version}{}; versions 2.2 and 4.1 are read, as text (in Gmsh: -format msh41 without -bin)",
        if *.binary { " in binary" } else { "" }
    )]
    MshVersion {
        /// Name of the file.
        file: String,
        /// Version in the file.
        version: f64,
        /// Whether it is binary.
        binary: bool,
    },
    /// A Gmsh file without a section.
    #[error("{file}: there is no section {section}; it was cut off or holds no mesh, so export it again")]
    MshMissing {
        /// Name of the file.
        file: String,
        /// The section.
        section: &'static str,
    },

    /// A line of text with something else than belongs there.
    #[error(
        "{file}, line {line}: expected {expected}, found {found:?}; the line was damaged or cut off, so export the file again"
    )]
    Unexpected {
        /// Name of the file.
        file: String,
        /// Line, counted from 1.
        line: usize,
        /// What belongs there.
        expected: String,
        /// What is there.
        found: String,
    },
    /// Text that stops too early.
    #[error("{file}, line {line}: the file ends where {expected} was expected; it was cut off, so export it again")]
    CutOff {
        /// Name of the file.
        file: String,
        /// Last line, counted from 1.
        line: usize,
        /// What belongs there.
        expected: String,
    },
    /// A face of an OBJ or PLY file that bounds nothing.
    #[error(
        "{file}, {place}: a face with {corners} corners, but at least 3 are needed; the file was damaged, so export it again"
    )]
    FaceCorners {
        /// Name of the file.
        file: String,
        /// Where the face stands.
        place: Place,
        /// How many corners it has.
        corners: usize,
    },

    /// Neither kind of STL.
    #[error(
        "{file}: {bytes} bytes that begin with {found:?} are no STL, which begins with \"solid\" or has a binary header of 84 bytes; export it again"
    )]
    NotStl {
        /// Name of the file.
        file: String,
        /// Length of the file.
        bytes: usize,
        /// Its first characters.
        found: String,
    },
    /// A binary STL that was cut off or has something behind it.
    #[error(
        "{file}, byte 80: a binary STL of {triangles} triangles has {expected} bytes, but this one has {found}; it was cut off or damaged, so export it again"
    )]
    StlLength {
        /// Name of the file.
        file: String,
        /// The count that stands there.
        triangles: u32,
        /// The length it calls for.
        expected: u64,
        /// The length of the file.
        found: u64,
    },

    /// Vertices of an OBJ file are counted from 1.
    #[error(
        "{file}, line {line}: a face refers to vertex 0 ({found:?}); OBJ counts vertices from 1, so correct the exporter"
    )]
    ObjIndexZero {
        /// Name of the file.
        file: String,
        /// Line, counted from 1.
        line: usize,
        /// The corner as written.
        found: String,
    },

    /// A PLY header without what a mesh needs.
    #[error("{file}: the PLY header declares no {missing}; export the file as a mesh with vertices and faces")]
    PlyMissing {
        /// Name of the file.
        file: String,
        /// The element or property.
        missing: &'static str,
    },
    /// A PLY body that stops before its header's count.
    #[error(
        "{file}, {place}: the file ends after {complete} of the {claimed} {element:?} elements that its header claims; it was cut off, so export it again"
    )]
    PlyCutOff {
        /// Name of the file.
        file: String,
        /// Where the file ends.
        place: Place,
        /// Name of the element.
        element: String,
        /// How many are whole.
        complete: usize,
        /// How many there should be.
        claimed: usize,
    },
    /// A PLY number that cannot be a count or an index.
    #[error("{file}, {place}: {found} is no {what}, which is a whole number; the file was damaged, so export it again")]
    PlyNotWhole {
        /// Name of the file.
        file: String,
        /// Where it stands.
        place: Place,
        /// What it should be.
        what: &'static str,
        /// What it is.
        found: f64,
    },
    /// Bytes behind the last element of a PLY file.
    #[error(
        "{file}, {place}: there is more in the file than its header claims (the byte {found}); correct the counts, or export the file again"
    )]
    PlyTrailing {
        /// Name of the file.
        file: String,
        /// Where it stands.
        place: Place,
        /// The first byte of it.
        found: u8,
    },

    /// JSON that is broken, or is no glTF.
    #[error(
        "{file}, line {line}, column {column} of the JSON: {reason}; the file was cut off or is no glTF 2.0, so export it again"
    )]
    GltfJson {
        /// Name of the file.
        file: String,
        /// Line of the JSON text, counted from 1.
        line: usize,
        /// Column, counted from 1.
        column: usize,
        /// What is wrong there.
        reason: String,
    },
    /// Another glTF.
    #[error("{file}, {place}: the version is {found:?}, but only glTF 2 is read; export it as glTF 2.0")]
    GltfVersion {
        /// Name of the file.
        file: String,
        /// Where the version stands.
        place: &'static str,
        /// The version.
        found: String,
    },
    /// A GLB container that does not begin like one.
    #[error(
        "{file}, byte {offset}: expected {expected}, found {found:?}; the file is no GLB or was damaged, so export it again"
    )]
    GlbHeader {
        /// Name of the file.
        file: String,
        /// Where it stands.
        offset: usize,
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A GLB file or chunk that is not as long as it says.
    #[error(
        "{file}, byte {offset}: {what} of {claimed} bytes is announced, but there are {found}; the file was cut off, so export it again"
    )]
    GlbLength {
        /// Name of the file.
        file: String,
        /// Where the length stands.
        offset: usize,
        /// The file or a chunk.
        what: &'static str,
        /// The length that stands there.
        claimed: usize,
        /// The length there is.
        found: usize,
    },
    /// An index to something that is not there.
    #[error(
        "{file}, {place}: refers to {kind} {index}, but there are {count}; the file was damaged, so export it again"
    )]
    GltfReference {
        /// Name of the file.
        file: String,
        /// What refers.
        place: String,
        /// What is referred to.
        kind: &'static str,
        /// The index that is out of range.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A buffer, view or accessor that is larger than what holds it.
    #[error(
        "{file}, {place}: needs {needs} bytes, but {holder} has {has}; the file was cut off or damaged, so export it again"
    )]
    GltfTooShort {
        /// Name of the file.
        file: String,
        /// What is too large.
        place: String,
        /// What it lies in.
        holder: String,
        /// Bytes it needs.
        needs: u64,
        /// Bytes there are.
        has: u64,
    },
    /// A value that glTF does not allow, or that is not read.
    #[error("{file}, {place}: expected {expected}, found {found}; export the file again with plain geometry")]
    GltfValue {
        /// Name of the file.
        file: String,
        /// Where it stands.
        place: String,
        /// What belongs there.
        expected: &'static str,
        /// What is there.
        found: String,
    },
    /// A feature that changes the shape and is not read.
    #[error("{file}, {place}: uses {feature}, which is not read; {remedy}")]
    GltfUnsupported {
        /// Name of the file.
        file: String,
        /// What uses it.
        place: String,
        /// Its name.
        feature: String,
        /// How to do without.
        remedy: &'static str,
    },
    /// Nodes that are no tree.
    #[error(
        "{file}, node {node}: is reached twice, by a cycle or from two parents; nodes must form a tree, so export the file again"
    )]
    GltfCycle {
        /// Name of the file.
        file: String,
        /// Index of the node.
        node: usize,
    },
    /// A scene of lines, points or nothing.
    #[error(
        "{file}, scene {scene}: draws no triangles (its nodes hold {skipped} point or line primitives); put a triangle mesh into the default scene"
    )]
    GltfNothing {
        /// Name of the file.
        file: String,
        /// Index of the scene.
        scene: usize,
        /// Primitives that are not triangles.
        skipped: usize,
    },
    /// A glTF file that needs another file, where there is no file system.
    #[error(
        "{file}, buffer {buffer}: lies in another file, {uri:?}, which cannot be reached from here; use a .glb, or embed the buffers"
    )]
    GltfExternal {
        /// Name of the file.
        file: String,
        /// Index of the buffer.
        buffer: usize,
        /// Where it lies.
        uri: String,
    },
    /// A glTF file whose other file cannot be read.
    #[error("{file}, buffer {buffer}: cannot read {path} ({reason}); keep the .bin file beside the .gltf")]
    GltfBuffer {
        /// Name of the file.
        file: String,
        /// Index of the buffer.
        buffer: usize,
        /// The other file.
        path: String,
        /// What the system says.
        reason: String,
    },
    /// An embedded buffer that is not base64.
    #[error(
        "{file}, buffer {buffer}: character {offset} of the embedded data, {found:?}, is not base64; the file was damaged, so export it again"
    )]
    GltfBase64 {
        /// Name of the file.
        file: String,
        /// Index of the buffer.
        buffer: usize,
        /// Offset from the comma of the URI.
        offset: usize,
        /// The character there, or the end when the text stops inside a byte.
        found: String,
    },
}

impl FileError {
    pub(super) fn from_io(file: &str, error: &std::io::Error) -> Self {
        let file = file.to_owned();
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::NotFound { file },
            ErrorKind::PermissionDenied => Self::NotPermitted { file },
            ErrorKind::IsADirectory => Self::IsDirectory { file },
            _ => Self::Unreadable { file, reason: error.to_string() },
        }
    }
}
