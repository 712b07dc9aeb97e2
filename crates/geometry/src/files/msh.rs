//! Gmsh meshes, versions 2.2 and 4.1, as text.

use super::raw_mesh::RawTets;
use super::text::{TextReader, number};
use super::{FileError, Problem};
use crate::Vec3;
use std::collections::HashMap;

/// Number of nodes of the Gmsh element types that are read or skipped, and whether the type is a tetrahedron; the first
/// four nodes of a tetrahedron are its corners.
fn nodes_of(kind: u64) -> Option<(usize, bool)> {
    match kind {
        1 => Some((2, false)),
        2 => Some((3, false)),
        3 => Some((4, false)),
        4 => Some((4, true)),
        8 => Some((3, false)),
        9 => Some((6, false)),
        10 => Some((9, false)),
        11 => Some((10, true)),
        15 => Some((1, false)),
        16 => Some((8, false)),
        _ => None,
    }
}

pub(super) fn parse(bytes: &[u8]) -> Result<RawTets, FileError> {
    let mut reader = Reader { words: TextReader::new(bytes), of_tag: HashMap::new() };
    reader.words.keyword("$MeshFormat")?;
    let version = reader.words.number("version of the format")?;
    let binary = reader.whole("0 for text or 1 for binary")?;
    reader.words.number("size of a number")?;
    reader.words.keyword("$EndMeshFormat")?;
    if binary != 0 || !(version == 2.2 || version == 4.1) {
        return Err(Problem::MshVersion { version, binary: binary != 0 }.into());
    }
    let mut vertices = None;
    let mut tets = None;
    while let Some(word) = reader.words.next() {
        match word {
            b"$Nodes" => vertices = Some(if version < 3.0 { reader.nodes_2()? } else { reader.nodes_4()? }),
            b"$Elements" => tets = Some(if version < 3.0 { reader.elements_2()? } else { reader.elements_4()? }),
            _ => {}
        }
    }
    let missing = |section: &'static str| FileError::from(Problem::MshMissing { section });
    let vertices = vertices.ok_or_else(|| missing("$Nodes"))?;
    let tets = tets.ok_or_else(|| missing("$Elements"))?;
    // Nodes may follow the elements in the file, so that tags are mapped to indices only here.
    let place = |tag: u64| reader.of_tag.get(&tag).copied().unwrap_or(u32::MAX);
    Ok(RawTets { vertices, tets: tets.into_iter().map(|tet: [u64; 4]| tet.map(place)).collect() })
}

struct Reader<'a> {
    words: TextReader<'a>,
    of_tag: HashMap<u64, u32>,
}

impl Reader<'_> {
    fn whole(&mut self, expected: &str) -> Result<u64, FileError> {
        let word = self.words.required(expected)?;
        let whole = number(word).filter(|n| n.fract() == 0.0 && *n >= 0.0 && *n < 9e15);
        whole.map(|n| n as u64).ok_or_else(|| self.words.unexpected(expected, word))
    }

    /// Skips a number; tags of entities may be negative.
    fn any(&mut self, expected: &str) -> Result<(), FileError> {
        self.words.number(expected).map(|_| ())
    }

    fn point(&mut self) -> Result<Vec3, FileError> {
        Ok(Vec3::new(
            self.words.number("x of a node")?,
            self.words.number("y of a node")?,
            self.words.number("z of a node")?,
        ))
    }

    fn nodes_2(&mut self) -> Result<Vec<Vec3>, FileError> {
        let mut vertices = Vec::new();
        for _ in 0..self.whole("number of nodes")? {
            let tag = self.whole("number of a node")?;
            self.of_tag.insert(tag, vertices.len() as u32);
            vertices.push(self.point()?);
        }
        self.words.keyword("$EndNodes")?;
        Ok(vertices)
    }

    fn nodes_4(&mut self) -> Result<Vec<Vec3>, FileError> {
        let mut vertices = Vec::new();
        let blocks = self.whole("number of blocks")?;
        (0..3).try_for_each(|_| self.any("number of nodes"))?;
        for _ in 0..blocks {
            let dimension = self.whole("dimension of an entity")?;
            self.any("tag of an entity")?;
            let parameters = if self.whole("0 or 1")? == 0 { 0 } else { dimension };
            let count = self.whole("number of nodes")?;
            for k in 0..count {
                let tag = self.whole("tag of a node")?;
                self.of_tag.insert(tag, (vertices.len() as u64 + k) as u32);
            }
            for _ in 0..count {
                vertices.push(self.point()?);
                (0..parameters).try_for_each(|_| self.any("parameter of a node"))?;
            }
        }
        self.words.keyword("$EndNodes")?;
        Ok(vertices)
    }

    fn element(&mut self, element: u64, kind: u64, tets: &mut Vec<[u64; 4]>) -> Result<(), FileError> {
        let Some((nodes, is_tet)) = nodes_of(kind) else {
            let (kind, cell) = (kind as i64, element as usize);
            return Err(Problem::NotTets { cell, kind, corners: 0 }.into());
        };
        let mut corners = [0; 4];
        for k in 0..nodes {
            let tag = self.whole("node of an element")?;
            if let Some(corner) = corners.get_mut(k) {
                *corner = tag;
            }
        }
        if is_tet {
            tets.push(corners);
        }
        Ok(())
    }

    fn elements_2(&mut self) -> Result<Vec<[u64; 4]>, FileError> {
        let mut tets = Vec::new();
        for _ in 0..self.whole("number of elements")? {
            let element = self.whole("number of an element")?;
            let kind = self.whole("type of an element")?;
            let tags = self.whole("number of tags")?;
            (0..tags).try_for_each(|_| self.any("tag of an element"))?;
            self.element(element, kind, &mut tets)?;
        }
        self.words.keyword("$EndElements")?;
        Ok(tets)
    }

    fn elements_4(&mut self) -> Result<Vec<[u64; 4]>, FileError> {
        let mut tets = Vec::new();
        let blocks = self.whole("number of blocks")?;
        (0..3).try_for_each(|_| self.any("number of elements"))?;
        for _ in 0..blocks {
            self.whole("dimension of an entity")?;
            self.any("tag of an entity")?;
            let kind = self.whole("type of the elements")?;
            for _ in 0..self.whole("number of elements")? {
                let element = self.whole("tag of an element")?;
                self.element(element, kind, &mut tets)?;
            }
        }
        self.words.keyword("$EndElements")?;
        Ok(tets)
    }
}
