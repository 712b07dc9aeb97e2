//! The objects of a data set.

use super::error::DatasetError;
use super::randomise;
use super::spec::ObjectSource;
use crate::object::{ObjectError, ObjectSpec, RoughnessSpec};
use dermis_geometry::Random;
use dermis_geometry::files::{Format, LengthUnit};
use dermis_geometry::shapes::indenters;
use dermis_skin::Object;
use std::path::Path;

/// An object of a data set, built on demand.
#[derive(Clone, Debug, PartialEq)]
pub struct DatasetObject {
    /// Label of the object; several objects may share a label.
    pub label: String,
    /// Index of the label, in order of first appearance.
    pub label_index: usize,
    /// Its shape.
    pub shape: ObjectSpec,
    /// Scale factor.
    pub scale: f64,
    /// Surface roughness.
    pub roughness: Option<RoughnessSpec>,
}

impl DatasetObject {
    /// Builds the object.
    pub fn build(&self, folder: Option<&Path>) -> Result<Object, ObjectError> {
        let object = self.shape.object(folder, self.roughness.as_ref())?;
        if self.scale == 1.0 { Ok(object) } else { Ok(object.scaled(self.scale)?) }
    }
}

/// All objects of the sources, and their labels.
pub fn list(
    sources: &[ObjectSource],
    seed: u64,
    file: &str,
    folder: Option<&Path>,
) -> Result<(Vec<DatasetObject>, Vec<String>), DatasetError> {
    let (mut objects, mut labels): (Vec<DatasetObject>, Vec<String>) = (Vec::new(), Vec::new());
    let mut random = Random::new(seed);
    for source in sources {
        for (name, shape) in shapes(source, file, folder)? {
            let label_index = labels.iter().position(|label| *label == name).unwrap_or_else(|| {
                labels.push(name.clone());
                labels.len() - 1
            });
            for _ in 0..source.copies {
                let scale = source.scale.as_ref().map_or(1.0, |axis| randomise::pick(axis, &mut random));
                let roughness = source.roughness.clone().map(|roughness| match source.copies {
                    1 => roughness,
                    _ => RoughnessSpec { seed: u64::from(random.next_u32()), ..roughness },
                });
                objects.push(DatasetObject {
                    label: name.clone(),
                    label_index,
                    shape: shape.clone(),
                    scale,
                    roughness,
                });
            }
        }
    }
    Ok((objects, labels))
}

/// Labels and shapes of one source.
fn shapes(source: &ObjectSource, file: &str, folder: Option<&Path>) -> Result<Vec<(String, ObjectSpec)>, DatasetError> {
    let named = |default: &str| source.name.clone().unwrap_or_else(|| default.to_owned());
    if let Some(shape) = &source.shape {
        return Ok(vec![(named(shape.kind()), shape.clone())]);
    }
    if let Some(names) = &source.indenters {
        let all = names.len() == 1 && names[0] == "all";
        let names: Vec<String> =
            if all { indenters::NAMES.iter().map(|name| (*name).to_owned()).collect() } else { names.clone() };
        for name in &names {
            let refused = |error| DatasetError::Object { file: file.to_owned(), object: name.clone(), error };
            indenters::find(name).map_err(|error| refused(Box::new(error.into())))?;
        }
        return Ok(names.into_iter().map(|name| (named(&name), ObjectSpec::Indenter { name })).collect());
    }
    let rule = |rule: String| DatasetError::Rule { file: file.to_owned(), key: "object.folder", rule };
    let within = source.folder.as_deref().unwrap_or(Path::new("."));
    let path = folder.map_or_else(|| within.to_owned(), |folder| folder.join(within));
    let entries = std::fs::read_dir(&path).map_err(|error| rule(format!("{}: {error}", path.display())))?;
    let mut files: Vec<_> =
        entries.flatten().map(|entry| entry.path()).filter(|path| Format::from_path(path).is_some()).collect();
    // The file system lists files in arbitrary order.
    files.sort();
    if files.is_empty() {
        return Err(rule(format!("{} holds no mesh files ({})", path.display(), Format::extension_list())));
    }
    Ok(files.iter().map(|mesh| mesh_entry(mesh, within, source.unit, &named)).collect())
}

fn mesh_entry(
    mesh: &Path,
    within: &Path,
    unit: Option<LengthUnit>,
    named: &dyn Fn(&str) -> String,
) -> (String, ObjectSpec) {
    let stem = mesh.file_stem().unwrap_or_default().to_string_lossy();
    let file = within.join(mesh.file_name().unwrap_or_default());
    (named(&stem), ObjectSpec::Mesh { file, unit, repair: false })
}
