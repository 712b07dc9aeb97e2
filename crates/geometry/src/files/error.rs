//! Errors of mesh files.

use super::Format;
use crate::MeshError;
use std::fmt;
use std::io::ErrorKind;

/// A position in a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// A line of text, counted from 1.
    Line(usize),
    /// A line and a column of the JSON text of a glTF file, counted from 1.
    Json(usize, usize),
    /// An offset into a binary file, counted from 0.
    Byte(usize),
    /// A primitive of a glTF mesh, both counted from 0.
    Primitive {
        /// Index of the mesh.
        mesh: usize,
        /// Index of the primitive in the mesh.
        primitive: usize,
    },
    /// An element of a glTF file by its kind and index, such as `accessor 3`.
    Element(&'static str, usize),
    /// A part of a glTF file without an index.
    Named(&'static str),
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Json(line, column) => write!(f, "line {line}, column {column} of the JSON"),
            Self::Byte(byte) => write!(f, "byte {byte}"),
            Self::Primitive { mesh, primitive } => write!(f, "mesh {mesh}, primitive {primitive}"),
            Self::Element(kind, index) => write!(f, "{kind} {index}"),
            Self::Named(name) => f.write_str(name),
        }
    }
}

/// Error when reading a mesh file: the file, the position in it, the problem and its remedy.
#[derive(Clone, Debug, PartialEq)]
pub struct FileError {
    /// Path or name of the file.
    pub file: String,
    /// Position of the problem, if known.
    pub place: Option<Place>,
    /// The problem.
    pub problem: Problem,
}

impl std::error::Error for FileError {}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { file, place, problem } = self;
        match (problem, place) {
            // A mesh error begins with the name of the mesh.
            (Problem::Mesh(error), Some(place)) => write!(f, "{error} (at {place} of the file)"),
            (Problem::Mesh(_), None) => write!(f, "{problem}"),
            (_, Some(place)) => write!(f, "{file}, {place}: {problem}"),
            (_, None) => write!(f, "{file}: {problem}"),
        }
    }
}

/// A problem of a mesh file, with its remedy.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[expect(missing_docs, reason = "the messages describe the fields")]
pub enum Problem {
    /// The path does not exist.
    #[error("there is no such file; check the spelling and the folder that the path starts from")]
    NotFound,
    /// The user may not read the file.
    #[error("reading is not permitted; ask for read permission on the file and its folders")]
    NotPermitted,
    /// The path is a folder.
    #[error("this is a folder; name a mesh file in it ({})", Format::extension_list())]
    IsDirectory,
    /// A device, pipe or socket.
    #[error("this is no regular file but a device or a pipe; name a file on a disk")]
    NotRegular,
    /// Another error of the file system.
    #[error("cannot be read ({reason}); check the disk that holds it")]
    Unreadable { reason: String },
    /// The file has no bytes.
    #[error("the file is empty (0 bytes); export it again")]
    Empty,
    /// No triangle mesh format has the extension.
    #[error("{extension:?} is not an extension of a mesh file; convert it to one of {}", Format::extension_list())]
    UnknownExtension { extension: String },
    /// No format of tetrahedra has the extension.
    #[error("the extension {extension:?} is none of a file of tetrahedra; convert it to .vtk (legacy) or .msh")]
    UnknownTetExtension { extension: String },
    /// No format of points has the extension.
    #[error("the extension {extension:?} is none of a cloud of points; convert it to .xyz or .ply")]
    UnknownPointExtension { extension: String },
    /// The format does not define a length unit and none was given.
    #[error("{format} does not say its unit; say mm or m (or cm or in), whichever it was exported in")]
    NoUnit { format: Format },
    /// The file has more vertices or triangles than the reader accepts.
    #[error("{claimed} {what}, and at most {limit} are read; simplify the mesh")]
    TooLarge { what: &'static str, claimed: u64, limit: u64 },
    /// The file is larger than the reader accepts.
    #[error("{reason}; simplify the mesh")]
    TooManyBytes { reason: String },
    /// The content is not a valid mesh. Elements and vertices are numbered as in the file.
    #[error(transparent)]
    Mesh(MeshError),

    /// A cell is not a tetrahedron; `kind` is its type in the numbering of the format.
    #[error(
        "cell {cell} is of type {kind} with {corners} corners; only linear tetrahedra are read, so mesh the solid with these alone"
    )]
    NotTets { cell: usize, kind: i64, corners: usize },
    /// The cells and cell types of a VTK file differ in number.
    #[error("{cells} cells but {types} cell types; the file was damaged, so export it again")]
    CellCounts { cells: usize, types: usize },
    /// A Gmsh file has a version that is not read.
    #[error(
        "Gmsh format {version}{}; versions 2.2 and 4.1 are read, as text (in Gmsh: -format msh41 without -bin)",
        if *.binary { " in binary" } else { "" }
    )]
    MshVersion { version: f64, binary: bool },
    /// A Gmsh file lacks a section.
    #[error("there is no section {section}; it was cut off or holds no mesh, so export it again")]
    MshMissing { section: &'static str },

    /// A line of text holds an unexpected word.
    #[error("expected {expected}, found {found:?}; the line was damaged or cut off, so export the file again")]
    Unexpected { expected: String, found: String },
    /// A text file ends too early.
    #[error("the file ends where {expected} was expected; it was cut off, so export it again")]
    CutOff { expected: String },
    /// A face of an OBJ or PLY file has fewer than three corners.
    #[error("a face with {corners} corners, but at least 3 are needed; the file was damaged, so export it again")]
    FaceCorners { corners: usize },

    /// The file is neither a text nor a binary STL.
    #[error(
        "{bytes} bytes that begin with {found:?} are no STL, which begins with \"solid\" or has a binary header of 84 bytes; export it again"
    )]
    NotStl { bytes: usize, found: String },
    /// The length of a binary STL does not fit its number of triangles.
    #[error(
        "a binary STL of {triangles} triangles has {expected} bytes, but this one has {found}; it was cut off or damaged, so export it again"
    )]
    StlLength { triangles: u32, expected: u64, found: u64 },
    /// A face of an OBJ file refers to vertex 0; OBJ counts from 1.
    #[error("a face refers to vertex 0 ({found:?}); OBJ counts vertices from 1, so correct the exporter")]
    ObjIndexZero { found: String },

    /// A PLY header lacks an element or property.
    #[error("the PLY header declares no {missing}; export the file as a mesh with vertices and faces")]
    PlyMissing { missing: &'static str },
    /// A PLY body ends before the count of its header.
    #[error(
        "the file ends after {complete} of the {claimed} {element:?} elements that its header claims; it was cut off, so export it again"
    )]
    PlyCutOff { element: String, complete: usize, claimed: usize },
    /// A count or index of a PLY file is not a whole number.
    #[error("{found} is no {what}, which is a whole number; the file was damaged, so export it again")]
    PlyNotWhole { what: &'static str, found: f64 },
    /// A PLY file has data after its last element.
    #[error(
        "there is more in the file than its header claims (the byte {found}); correct the counts, or export the file again"
    )]
    PlyTrailing { found: u8 },

    /// The JSON of a glTF file is invalid or does not follow the specification.
    #[error("{reason}; the file was cut off or is no glTF 2.0, so export it again")]
    GltfJson { reason: String },
    /// The file follows another version of glTF.
    #[error("the version is {found:?}, but only glTF 2 is read; export it as glTF 2.0")]
    GltfVersion { found: String },
    /// The header of a GLB file or chunk is invalid.
    #[error("expected {expected}, found {found:?}; the file is no GLB or was damaged, so export it again")]
    GlbHeader { expected: &'static str, found: String },
    /// The length of a GLB file or chunk differs from the length in its header.
    #[error("{what} of {claimed} bytes is announced, but there are {found}; the file was cut off, so export it again")]
    GlbLength { what: &'static str, claimed: usize, found: usize },
    /// An index refers to an element that does not exist.
    #[error("refers to {kind} {index}, but there are {count}; the file was damaged, so export it again")]
    GltfReference { kind: &'static str, index: usize, count: usize },
    /// A buffer, view or accessor is larger than the memory that holds it (bytes).
    #[error("needs {needs} bytes, but {holder} has {has}; the file was cut off or damaged, so export it again")]
    GltfTooShort { holder: String, needs: u64, has: u64 },
    /// glTF does not allow a value, or the reader does not support it.
    #[error("expected {expected}, found {found}; export the file again with plain geometry")]
    GltfValue { expected: &'static str, found: String },
    /// The file uses an unsupported feature that changes the shape.
    #[error("uses {feature}, which is not read; {remedy}")]
    GltfUnsupported { feature: String, remedy: &'static str },
    /// The nodes do not form a tree.
    #[error("is reached twice, by a cycle or from two parents; nodes must form a tree, so export the file again")]
    GltfCycle,
    /// The default scene has no triangles.
    #[error(
        "draws no triangles (its nodes hold {skipped} point or line primitives); put a triangle mesh into the default scene"
    )]
    GltfNothing { skipped: usize },
    /// A buffer is in another file, but there is no file system.
    #[error("lies in another file, {uri:?}, which cannot be reached from here; use a .glb, or embed the buffers")]
    GltfExternal { uri: String },
    /// The file of a buffer cannot be read.
    #[error("cannot read {path} ({reason}); keep the .bin file beside the .gltf")]
    GltfBuffer { path: String, reason: String },
    /// An embedded buffer is not base64; `offset` counts from the comma of the URI.
    #[error(
        "character {offset} of the embedded data, {found:?}, is not base64; the file was damaged, so export it again"
    )]
    GltfBase64 { offset: usize, found: String },
}

impl Problem {
    /// The error at a position; [`FileError::in_file`] adds the file.
    pub(super) fn at(self, place: Place) -> FileError {
        FileError { file: String::new(), place: Some(place), problem: self }
    }

    pub(super) fn in_file(self, file: &str) -> FileError {
        FileError::from(self).in_file(file)
    }

    pub(super) fn from_io(error: &std::io::Error) -> Self {
        match error.kind() {
            ErrorKind::NotFound | ErrorKind::NotADirectory => Self::NotFound,
            ErrorKind::PermissionDenied => Self::NotPermitted,
            ErrorKind::IsADirectory => Self::IsDirectory,
            ErrorKind::Unsupported => Self::NotRegular,
            ErrorKind::FileTooLarge => Self::TooManyBytes { reason: error.to_string() },
            _ => Self::Unreadable { reason: error.to_string() },
        }
    }
}

impl From<Problem> for FileError {
    fn from(problem: Problem) -> Self {
        Self { file: String::new(), place: None, problem }
    }
}

impl FileError {
    /// Adds the name of the file, also to the mesh error of a reader.
    pub(super) fn in_file(mut self, file: &str) -> Self {
        self.file = file.into();
        if let Problem::Mesh(MeshError::IndexOutOfRange { mesh, .. }) = &mut self.problem {
            *mesh = file.into();
        }
        self
    }
}
