//! `cargo xtask release VERSION`: checks everything, dates the changelog, makes the packages, commits and tags. It publishes nothing.

use std::fs;
use std::path::Path;

use crate::date::today;
use crate::step::{Failure, Invocation};
use crate::validate;
use crate::workspace::Workspace;

/// Files that contain the version as text.
const VERSIONED: [&str; 3] = ["Cargo.toml", "CITATION.cff", "docs/cite.md"];
/// Folder of the packages.
const OUT: &str = "dist/release";

/// Makes a release.
pub fn run(version: &str, workspace: &Workspace) -> Result<(), String> {
    let root = &workspace.root;
    let told = |failure: Failure| format!("{}; repeat it with: {}", failure.reason, failure.repeat);
    let old = current(&read(root, "Cargo.toml")?)?;
    let (new, before) = (numbers(version)?, numbers(&old)?);
    let changelog = read(root, "CHANGELOG.md")?;
    if new < before || (new == before && !changelog.contains(&format!("## {version} (unreleased)"))) {
        return Err(format!("{version} is not later than {old}, the version of Cargo.toml"));
    }
    let changes = Invocation::new("git status --porcelain").printed(root).map_err(told)?;
    if !changes.is_empty() {
        return Err(format!("the working tree has changes; commit them first:\n{changes}"));
    }
    let dated = dated(&changelog, version, &today())?;
    for file in VERSIONED {
        let text = read(root, file)?;
        write(
            root,
            file,
            &text
                .replace(&format!("\"{old}\""), &format!("\"{version}\""))
                .replace(&format!("{{{old}}}"), &format!("{{{version}}}")),
        )?;
    }
    write(root, "CHANGELOG.md", &dated)?;
    Invocation::new("cargo update --workspace --offline").run(root).map_err(told)?;
    Invocation::new("cargo xtask test").run(root).map_err(told)?;
    validate::run(&validate::chosen(Some("packages"))?, &[], workspace)?;
    let out = root.join(OUT);
    place(&workspace.target.join("validation/packages"), &out).map_err(|error| format!("{OUT}: {error}"))?;
    let sums = Invocation::new("sh -c").args(["sha256sum *.whl *.crate > SHA256SUMS && sha256sum --check SHA256SUMS"]);
    sums.run(&out).map_err(told)?;
    let message = format!("release {version}");
    Invocation::new("git commit --all --message").args([&message]).run(root).map_err(told)?;
    Invocation::new("git tag --annotate --message").args([&message, &format!("v{version}")]).run(root).map_err(told)?;
    println!("{OUT} has the packages and SHA256SUMS; `git push --follow-tags` starts the workflow that publishes them");
    Ok(())
}

fn read(root: &Path, file: &str) -> Result<String, String> {
    fs::read_to_string(root.join(file)).map_err(|error| format!("{file}: {error}"))
}

fn write(root: &Path, file: &str, text: &str) -> Result<(), String> {
    fs::write(root.join(file), text).map_err(|error| format!("{file}: {error}"))
}

/// The version of the workspace.
fn current(manifest: &str) -> Result<String, String> {
    let line = manifest.lines().find_map(|line| line.strip_prefix("version = \"")?.strip_suffix('"'));
    line.map(str::to_owned).ok_or_else(|| "Cargo.toml has no `version`".to_owned())
}

/// The three numbers of a version.
fn numbers(version: &str) -> Result<[u32; 3], String> {
    let parts: Vec<u32> = version.split('.').map_while(|part| part.parse().ok()).collect();
    match (parts.try_into(), version.matches('.').count()) {
        (Ok(numbers), 2) => Ok(numbers),
        _ => Err(format!("a version has three numbers, such as 0.2.0, got {version:?}")),
    }
}

/// The changelog with the section of the version dated, and a new section for what follows.
fn dated(changelog: &str, version: &str, date: &str) -> Result<String, String> {
    let heads: Vec<&str> =
        changelog.lines().filter(|line| line.starts_with("## ") && line.ends_with("(unreleased)")).collect();
    match heads[..] {
        [head] => Ok(changelog.replacen(head, &format!("## {version} ({date})"), 1)),
        _ => Err(format!("CHANGELOG.md has {} sections `## … (unreleased)`, and a release needs one", heads.len())),
    }
}

/// Copies wheels and crates.
fn place(work: &Path, out: &Path) -> std::io::Result<()> {
    if out.exists() {
        fs::remove_dir_all(out)?;
    }
    fs::create_dir_all(out)?;
    for folder in ["wheels", "package/package/tmp-registry"] {
        for entry in fs::read_dir(work.join(folder))? {
            let path = entry?.path();
            if path.extension().is_some_and(|end| end == "whl" || end == "crate") {
                fs::copy(&path, out.join(path.file_name().unwrap_or_default()))?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_three_numbers() {
        assert_eq!(numbers("0.10.2"), Ok([0, 10, 2]));
        for wrong in ["0.1", "1", "0.1.0-rc1", "a.b.c", "1.2.3.4", ""] {
            assert!(numbers(wrong).unwrap_err().contains("three numbers"), "{wrong}");
        }
        assert_eq!(current("[workspace.package]\nversion = \"0.1.0\"\n"), Ok("0.1.0".into()));
    }

    #[test]
    fn a_release_dates_its_section_of_the_changelog() {
        let text = "# Changelog\n\n## 0.2.0 (unreleased)\n\n- new\n\n## 0.1.0 (2026-11-17)\n";
        assert_eq!(dated(text, "0.2.0", "2026-12-01").unwrap(), text.replace("(unreleased)", "(2026-12-01)"));
        assert!(dated("# Changelog\n", "0.2.0", "2026-12-01").unwrap_err().contains("0 sections"));
    }

    #[test]
    fn every_file_with_the_version_and_the_address_agrees() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
        let manifest = read(&root, "Cargo.toml").unwrap();
        let version = current(&manifest).unwrap();
        for file in VERSIONED {
            assert!(read(&root, file).unwrap().contains(&version), "{file}");
        }
        let address =
            manifest.lines().find_map(|line| line.strip_prefix("repository = \"")).unwrap().trim_end_matches('"');
        for file in ["bindings/python/pyproject.toml", "bindings/python/README.md", "CITATION.cff", "docs/cite.md"] {
            let text = read(&root, file).unwrap();
            let found: Vec<_> = text.match_indices("https://github.com/").map(|(at, _)| &text[at..]).collect();
            assert!(!found.is_empty() && found.iter().all(|found| found.starts_with(address)), "{file}: {address}");
        }
    }
}
