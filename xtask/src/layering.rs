//! Allowed dependencies between crates.
//!
//! ```text
//! geometry, fft → skin → sensor → world → dermis → research → apps, bindings
//!                   ↘ gpu, draw, record ↗
//! ```
//! A crate may depend only on crates to its left, in any of its dependency tables: a dev-dependency to the right
//! would let a crate's tests depend on the crates above it. [`ROOMS`] lists the allowed dependencies of every crate, so that checking direct
//! dependencies suffices. [`KEPT_IN`] restricts third-party crates to some folders.
//!
//! Rows are matched by folder, not by package name.

use crate::workspace::Package;

/// A folder of the workspace and the folders it may depend on. A trailing `*` stands for any ending.
struct Room {
    folder: &'static str,
    may_use: &'static [&'static str],
}

/// The first matching row applies.
const ROOMS: &[Room] = &[
    Room { folder: "crates/geometry", may_use: &[] },
    Room { folder: "crates/fft", may_use: &[] },
    Room { folder: "crates/files", may_use: &[] },
    Room { folder: "crates/skin", may_use: &["crates/geometry", "crates/fft"] },
    Room { folder: "crates/sensor", may_use: &["crates/geometry", "crates/skin"] },
    Room { folder: "crates/world", may_use: &["crates/geometry", "crates/skin", "crates/sensor"] },
    Room { folder: "crates/draw", may_use: &["crates/geometry", "crates/skin", "crates/sensor"] },
    Room { folder: "crates/record", may_use: &["crates/files", "crates/geometry", "crates/skin", "crates/sensor"] },
    Room { folder: "crates/gpu", may_use: &["crates/files", "crates/geometry", "crates/skin", "crates/sensor"] },
    Room {
        folder: "crates/mujoco-coupling",
        may_use: &["crates/geometry", "crates/skin", "crates/sensor", "crates/world"],
    },
    Room {
        folder: "crates/dermis",
        may_use: &[
            "crates/geometry",
            "crates/skin",
            "crates/sensor",
            "crates/world",
            "crates/draw",
            "crates/record",
            "crates/gpu",
        ],
    },
    Room { folder: "crates/research", may_use: &["crates/dermis"] },
    // The page must stay small, so it may take single crates instead of the facade.
    Room { folder: "apps/playground", may_use: &["crates/*"] },
    Room { folder: "apps/*", may_use: &["crates/dermis", "crates/research"] },
    // The wheel contains the command line.
    Room {
        folder: "bindings/python",
        may_use: &["crates/dermis", "crates/research", "crates/mujoco-coupling", "apps/cli"],
    },
    Room { folder: "bindings/*", may_use: &["crates/dermis", "crates/research", "crates/mujoco-coupling"] },
    // Reads with every reader.
    Room {
        folder: "validation/fuzz",
        may_use: &["crates/dermis", "crates/research", "apps/cli", "apps/playground", "bindings/mujoco"],
    },
    Room { folder: "xtask", may_use: &[] },
];

/// A third-party crate and the folders that may use it.
struct Kept {
    package: &'static str,
    folders: &'static [&'static str],
}

const KEPT_IN: &[Kept] = &[
    Kept { package: "rapier*", folders: &["crates/world"] },
    Kept { package: "rustfft", folders: &["crates/fft"] },
    Kept { package: "realfft", folders: &["crates/fft"] },
    Kept { package: "cudarc", folders: &["crates/gpu"] },
    Kept { package: "pyo3*", folders: &["bindings/python"] },
    Kept { package: "numpy", folders: &["bindings/python"] },
    Kept { package: "clap*", folders: &["apps/*", "xtask"] },
    Kept { package: "indicatif", folders: &["apps/*", "xtask"] },
    Kept { package: "anyhow", folders: &["apps/*", "xtask"] },
];

/// All violations, one line each, in the order of the packages.
pub fn violations(packages: &[Package]) -> Vec<String> {
    packages.iter().flat_map(|package| violations_of(package, packages)).collect()
}

fn violations_of(package: &Package, packages: &[Package]) -> Vec<String> {
    let folder = package.folder.as_str();
    let Some(room) = ROOMS.iter().find(|room| fits(room.folder, folder)) else {
        return vec![format!(
            "{folder}/Cargo.toml: `{}` has no place in the chain; add a row for {folder:?} to ROOMS in xtask/src/layering.rs",
            package.name
        )];
    };
    let mut found = Vec::new();
    // A crate may name itself as a dev-dependency, to switch on a feature for its tests.
    for dependency in package.dependencies.iter().filter(|dependency| dependency.name != package.name) {
        let rule = match packages.iter().find(|other| other.name == dependency.name) {
            Some(other) if fits_any(room.may_use, &other.folder) => continue,
            Some(_) if room.may_use.is_empty() => format!("{folder} may depend on no other crate of the workspace"),
            Some(_) => format!("{folder} may depend only on {}", room.may_use.join(", ")),
            None => match KEPT_IN.iter().find(|kept| fits(kept.package, &dependency.name)) {
                Some(kept) if !fits_any(kept.folders, folder) => {
                    format!("{} may be used only in {}", kept.package, kept.folders.join(", "))
                }
                _ => continue,
            },
        };
        found.push(format!("{folder}/Cargo.toml: [{}] `{}`: {rule}", dependency.table, dependency.name));
    }
    found
}

fn fits_any(patterns: &[&str], name: &str) -> bool {
    patterns.iter().any(|pattern| fits(pattern, name))
}

/// Whether a name fits a pattern, in which a trailing `*` stands for any ending.
pub fn fits(pattern: &str, name: &str) -> bool {
    match pattern.strip_suffix('*') {
        Some(start) => name.starts_with(start),
        None => name == pattern,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::Dependency;

    /// A made-up member; a dependency written `dev:NAME` or `build:NAME` goes to that table.
    fn package(name: &str, folder: &str, dependencies: &[&str]) -> Package {
        let dependencies = dependencies.iter().map(|dependency| {
            let (table, name) = match dependency.split_once(':') {
                Some(("dev", name)) => ("dev-dependencies", name),
                Some(("build", name)) => ("build-dependencies", name),
                _ => ("dependencies", *dependency),
            };
            Dependency { name: name.to_owned(), table }
        });
        Package { name: name.into(), folder: folder.into(), dependencies: dependencies.collect(), examples: vec![] }
    }

    /// The whole workspace as the design has it, every permitted edge drawn.
    fn whole() -> Vec<Package> {
        let (geometry, skin, sensor) = ("dermis-geometry", "dermis-skin", "dermis-sensor");
        vec![
            package(geometry, "crates/geometry", &["glam", "dev:tempfile", "dev:dermis-geometry"]),
            package(skin, "crates/skin", &[geometry]),
            package(sensor, "crates/sensor", &[geometry, skin]),
            package("dermis-world", "crates/world", &[geometry, skin, sensor, "rapier3d-f64"]),
            package("dermis-draw", "crates/draw", &[geometry, skin, sensor, "png"]),
            package("dermis-record", "crates/record", &[geometry, skin, sensor]),
            package("dermis-gpu", "crates/gpu", &[geometry, skin, sensor, "cudarc"]),
            package("dermis", "crates/dermis", &[geometry, skin, sensor, "dermis-world", "dermis-draw", "dermis-gpu"]),
            package("dermis-research", "crates/research", &["dermis", "serde_json"]),
            package("dermis-cli", "apps/cli", &["dermis", "dermis-research", "clap", "indicatif", "anyhow"]),
            package("dermis-playground", "apps/playground", &[skin, "dermis-draw", "wasm-bindgen"]),
            package(
                "dermis-python",
                "bindings/python",
                &["dermis", "dermis-research", "pyo3", "numpy", "build:pyo3-build-config"],
            ),
            package("dermis-mujoco", "bindings/mujoco", &["dermis"]),
            package("xtask", "xtask", &["serde_json"]),
        ]
    }

    /// What is said when one dependency is added to one member of the whole workspace.
    fn violations_with(folder: &str, dependency: &str) -> Vec<String> {
        let mut packages = whole();
        let changed = packages.iter_mut().find(|package| package.folder == folder).unwrap();
        changed.dependencies.extend(package("", "", &[dependency]).dependencies);
        violations(&packages)
    }

    #[test]
    fn the_design_passes() {
        assert_eq!(violations(&whole()), Vec::<String>::new());
    }

    #[test]
    fn every_edge_to_the_right_or_sideways_is_refused() {
        for (folder, dependency) in [
            ("crates/geometry", "dermis-skin"),
            ("crates/skin", "dermis-sensor"),
            ("crates/skin", "dermis-gpu"),
            ("crates/sensor", "dermis-world"),
            ("crates/sensor", "dermis-draw"),
            ("crates/world", "dermis"),
            ("crates/world", "dermis-draw"),
            ("crates/draw", "dermis-world"),
            ("crates/draw", "dermis-record"),
            ("crates/record", "dermis-draw"),
            ("crates/record", "dermis-world"),
            ("crates/gpu", "dermis-world"),
            ("crates/dermis", "dermis-cli"),
            ("crates/dermis", "xtask"),
            ("crates/dermis", "dermis-research"),
            ("crates/research", "dermis-sensor"),
            ("crates/research", "dermis-cli"),
            ("apps/cli", "dermis-skin"),
            ("apps/cli", "dermis-playground"),
            ("apps/playground", "dermis-cli"),
            ("bindings/python", "dermis-sensor"),
            ("bindings/mujoco", "dermis-cli"),
            ("bindings/mujoco", "dermis-python"),
            ("xtask", "dermis"),
            ("xtask", "dermis-geometry"),
        ] {
            let found = violations_with(folder, dependency);
            assert_eq!(found.len(), 1, "{folder} with {dependency}: {found:?}");
            assert!(found[0].starts_with(&format!("{folder}/Cargo.toml: [dependencies] `{dependency}`:")), "{found:?}");
        }
    }

    #[test]
    fn dev_and_build_dependencies_count() {
        assert_eq!(
            violations_with("crates/skin", "dev:dermis-world"),
            [
                "crates/skin/Cargo.toml: [dev-dependencies] `dermis-world`: crates/skin may depend only on crates/geometry, crates/fft"
            ]
        );
        assert_eq!(
            violations_with("crates/geometry", "build:dermis-skin"),
            ["crates/geometry/Cargo.toml: [build-dependencies] `dermis-skin`: \
              crates/geometry may depend on no other crate of the workspace"]
        );
    }

    #[test]
    fn outside_crates_stay_in_their_rooms() {
        for (folder, dependency) in [
            ("crates/dermis", "rapier3d-f64"),
            ("crates/sensor", "dev:rapier3d"),
            ("crates/skin", "cudarc"),
            ("crates/dermis", "pyo3"),
            ("bindings/mujoco", "numpy"),
            ("bindings/mujoco", "build:pyo3-build-config"),
            ("crates/world", "clap"),
            ("crates/draw", "indicatif"),
            ("bindings/python", "anyhow"),
        ] {
            let found = violations_with(folder, dependency);
            assert_eq!(found.len(), 1, "{folder} with {dependency}: {found:?}");
            assert!(found[0].contains("may be used only in"), "{found:?}");
        }
        assert_eq!(violations_with("apps/playground", "anyhow"), Vec::<String>::new());
        assert_eq!(violations_with("xtask", "clap"), Vec::<String>::new());
    }

    #[test]
    fn a_crate_without_a_row_is_told_where_to_add_one() {
        let mut packages = whole();
        packages.push(package("dermis-sound", "crates/sound", &[]));
        assert_eq!(
            violations(&packages),
            ["crates/sound/Cargo.toml: `dermis-sound` has no place in the chain; \
              add a row for \"crates/sound\" to ROOMS in xtask/src/layering.rs"]
        );
    }

    #[test]
    fn every_broken_rule_is_listed() {
        let packages = [
            package("dermis-geometry", "crates/geometry", &["dermis-skin", "rapier3d-f64"]),
            package("dermis-skin", "crates/skin", &["anyhow"]),
        ];
        assert_eq!(violations(&packages).len(), 3);
    }

    /// A typing slip in a row would forbid too much, or nothing: each name in a row must have a row of its own.
    #[test]
    fn the_tables_name_only_rooms_that_exist() {
        let named = ROOMS.iter().flat_map(|room| room.may_use).chain(KEPT_IN.iter().flat_map(|kept| kept.folders));
        for folder in named {
            assert!(ROOMS.iter().any(|room| fits(folder, room.folder) || fits(room.folder, folder)), "{folder}");
        }
    }
}
