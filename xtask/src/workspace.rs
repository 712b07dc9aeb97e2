//! The parts of `cargo metadata` that the checks need.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// The workspace and its members.
#[derive(Debug, Default)]
pub struct Workspace {
    /// The folder of the top `Cargo.toml`.
    pub root: PathBuf,
    /// Cargo's target folder.
    pub target: PathBuf,
    /// The members, in Cargo's order.
    pub packages: Vec<Package>,
}

/// One member of the workspace.
#[derive(Clone, Debug)]
pub struct Package {
    /// The package name, such as `dermis-skin`.
    pub name: String,
    /// Its folder relative to the root, with forward slashes, such as `crates/skin`.
    pub folder: String,
    /// All dependencies of its manifest, including optional and target-specific ones.
    pub dependencies: Vec<Dependency>,
    /// Its example programs.
    pub examples: Vec<Example>,
}

/// One line of a manifest's dependency tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Dependency {
    /// The true package name, even where the manifest renames it.
    pub name: String,
    /// The table of the dependency: `dependencies`, `dev-dependencies` or `build-dependencies`.
    pub table: &'static str,
}

/// One example program.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// The name after `--example`.
    pub name: String,
    /// The features that it requires.
    pub required_features: Vec<String>,
}

impl Workspace {
    /// Asks Cargo about the workspace around the current folder.
    pub fn read() -> Result<Workspace, String> {
        let output = Command::new("cargo")
            .args(["metadata", "--no-deps", "--format-version", "1"])
            .output()
            .map_err(|error| format!("`cargo metadata` could not start: {error}"))?;
        if !output.status.success() {
            return Err(format!("`cargo metadata` failed: {}", String::from_utf8_lossy(&output.stderr).trim()));
        }
        let metadata = serde_json::from_slice(&output.stdout)
            .map_err(|error| format!("`cargo metadata` printed something that is not JSON: {error}"))?;
        Workspace::from_metadata(&metadata)
    }

    /// Reads the JSON of `cargo metadata --format-version 1`.
    pub fn from_metadata(metadata: &Value) -> Result<Workspace, String> {
        let root = PathBuf::from(text(metadata, "workspace_root")?);
        let target = PathBuf::from(text(metadata, "target_directory")?);
        let packages = list(metadata, "packages")?
            .iter()
            .map(|package| Package::from_metadata(package, &root))
            .collect::<Result<_, _>>()?;
        Ok(Workspace { root, target, packages })
    }
}

impl Package {
    fn from_metadata(package: &Value, root: &Path) -> Result<Package, String> {
        let manifest = Path::new(text(package, "manifest_path")?);
        let folder = manifest.parent().unwrap_or(manifest);
        let folder = folder.strip_prefix(root).unwrap_or(folder).to_string_lossy().replace('\\', "/");
        let dependencies =
            list(package, "dependencies")?.iter().map(Dependency::from_metadata).collect::<Result<_, _>>()?;
        let mut examples = Vec::new();
        for target in list(package, "targets")? {
            let is_example = list(target, "kind")?.iter().any(|kind| kind == "example");
            // An example may also be a library (`crate-type = ["cdylib"]`), and that cannot be run.
            let is_program = list(target, "crate_types")?.iter().any(|crate_type| crate_type == "bin");
            if is_example && is_program {
                examples.push(Example::from_metadata(target)?);
            }
        }
        Ok(Package { name: text(package, "name")?.to_owned(), folder, dependencies, examples })
    }
}

impl Dependency {
    fn from_metadata(dependency: &Value) -> Result<Dependency, String> {
        let table = match dependency["kind"].as_str() {
            None => "dependencies",
            Some("dev") => "dev-dependencies",
            Some("build") => "build-dependencies",
            Some(other) => return Err(format!("`cargo metadata` names an unknown kind of dependency, {other:?}")),
        };
        Ok(Dependency { name: text(dependency, "name")?.to_owned(), table })
    }
}

impl Example {
    fn from_metadata(target: &Value) -> Result<Example, String> {
        // Cargo leaves the key out when there are none.
        let features = target["required-features"].as_array().map_or(&[][..], Vec::as_slice);
        let required_features = features.iter().filter_map(Value::as_str).map(str::to_owned).collect();
        Ok(Example { name: text(target, "name")?.to_owned(), required_features })
    }
}

fn text<'a>(object: &'a Value, key: &str) -> Result<&'a str, String> {
    object[key].as_str().ok_or_else(|| format!("`cargo metadata` has no text under `{key}`"))
}

fn list<'a>(object: &'a Value, key: &str) -> Result<&'a [Value], String> {
    object[key].as_array().map(Vec::as_slice).ok_or_else(|| format!("`cargo metadata` has no list under `{key}`"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn metadata_is_cut_down_to_what_the_checks_need() {
        let workspace = Workspace::from_metadata(&json!({
            "workspace_root": "/repo",
            "target_directory": "/repo/target",
            "packages": [{
                "name": "dermis-skin",
                "manifest_path": "/repo/crates/skin/Cargo.toml",
                "dependencies": [
                    { "name": "dermis-geometry", "kind": null, "rename": "geometry" },
                    { "name": "tempfile", "kind": "dev" },
                    { "name": "cc", "kind": "build", "target": "cfg(unix)", "optional": true },
                ],
                "targets": [
                    { "name": "dermis_skin", "kind": ["lib"], "crate_types": ["lib"] },
                    { "name": "press", "kind": ["example"], "crate_types": ["bin"] },
                    { "name": "slide", "kind": ["example"], "crate_types": ["bin"], "required-features": ["serde"] },
                    { "name": "plugin", "kind": ["example"], "crate_types": ["cdylib"] },
                ],
            }],
        }))
        .unwrap();

        assert!(workspace.packages.iter().any(|package| package.name == "dermis-skin"));
        let skin = &workspace.packages[0];
        assert_eq!(skin.folder, "crates/skin");
        let tables: Vec<_> = skin.dependencies.iter().map(|d| (d.name.as_str(), d.table)).collect();
        assert_eq!(
            tables,
            [("dermis-geometry", "dependencies"), ("tempfile", "dev-dependencies"), ("cc", "build-dependencies")]
        );
        assert_eq!(
            skin.examples,
            [
                Example { name: "press".into(), required_features: vec![] },
                Example { name: "slide".into(), required_features: vec!["serde".into()] },
            ]
        );
    }

    #[test]
    fn metadata_without_packages_is_refused_by_key() {
        let error = Workspace::from_metadata(&json!({ "workspace_root": "/r", "target_directory": "/t" })).unwrap_err();
        assert!(error.contains("`packages`"), "{error}");
    }
}
