//! The files of the repository that checks read: those of `xtask/own-files.txt`, wherever they were unpacked. Results of commands, such as
//! those of `dermis demo` in `out`, and other files of the user are not among them.

use std::fs;
use std::path::Path;

/// Folders and files, and with `!` the names of folders that are skipped inside.
const LIST: &str = include_str!("../own-files.txt");

/// All files of the repository at `root` with one of the endings, relative to it, with forward slashes, sorted.
pub fn own_files(root: &Path, endings: &[&str]) -> Vec<String> {
    let mut found = Vec::new();
    for entry in entries().filter(|entry| !entry.starts_with('!')) {
        match entry.strip_suffix('/') {
            Some(folder) => collect(root, folder, &mut found),
            None if root.join(entry).is_file() => found.push(entry.to_owned()),
            None => {}
        }
    }
    found.retain(|file| file.rsplit_once('.').is_some_and(|(_, end)| endings.contains(&end)));
    found.sort();
    found
}

fn entries() -> impl Iterator<Item = &'static str> {
    LIST.lines().filter(|line| !line.is_empty() && !line.starts_with('#'))
}

/// Unreadable folders are skipped, and links are not followed: they could lead round in a circle.
fn collect(root: &Path, folder: &str, found: &mut Vec<String>) {
    for entry in fs::read_dir(root.join(folder)).into_iter().flatten().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let path = format!("{folder}/{name}");
        let is_skipped = name.starts_with('.') || entries().any(|entry| entry == format!("!{name}/"));
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && !is_skipped => collect(root, &path, found),
            Ok(kind) if kind.is_file() => found.push(path),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{refused_calls, source_size, vocabulary};

    /// The demo writes into `out`, examples of the guide into folders that the reader names, and a TOML file beside the README.
    const STRAY: [&str; 6] =
        ["out/demo/", "my-scenes/src/", "target/release/", "crates/skin/out/", "crates/skin/.cache/", ""];

    #[test]
    fn results_of_the_demo_and_other_files_of_the_user_are_not_checked() {
        let root = std::env::temp_dir().join(format!("dermis-own-files-{}", std::process::id()));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        // Too long, with a refused word and a refused call.
        let wrong = format!("// a {}\nx{};\n{}", ["pict", "ure"].concat(), ".unwrap()", "\n".repeat(700));
        for folder in STRAY {
            ["a.rs", "a.py", "a.md", "a.toml"].iter().for_each(|name| write(&format!("{folder}{name}"), &wrong));
        }
        let checks = || {
            [source_size::warnings(&root), vocabulary::violations(&root), refused_calls::violations(&root)]
                .map(|found| found.len())
        };
        let before = checks();
        write("crates/skin/src/a.rs", &wrong);
        let after = checks();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!((before, after), ([0; 3], [1; 3]));
    }

    fn repository() -> std::path::PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
    }

    #[test]
    fn every_file_of_the_repository_is_on_the_list() {
        let Ok(listed) = std::process::Command::new("git").arg("ls-files").current_dir(repository()).output() else {
            return;
        };
        let endings = ["rs", "cu", "cuh", "py", "pyi", "js", "md", "html", "toml"];
        let own = own_files(&repository(), &endings);
        let tracked = String::from_utf8_lossy(&listed.stdout).into_owned();
        let has_ending = |file: &&str| file.rsplit_once('.').is_some_and(|(_, end)| endings.contains(&end));
        // A file that was removed and not yet committed is on git's list.
        let exists = |file: &&str| repository().join(file).is_file();
        for file in tracked.lines().filter(has_ending).filter(exists) {
            assert!(own.iter().any(|known| known == file), "{file} is missing: add its folder to xtask/own-files.txt");
        }
    }

    /// A check that walks the whole folder, or asks git, reads what the user has put there, or nothing.
    #[test]
    fn no_check_walks_the_repository_by_itself() {
        let walks = [["\"ls-", "files"], ["ROOT.r", "glob"], ["ROOT.glob(\"*", "*"], ["ROOT.glob(\"*", "."]];
        for file in own_files(&repository(), &["rs", "py"]) {
            let is_check = file.starts_with("xtask/src/") || file.starts_with("docs/site/") || file.contains("/tests/");
            if is_check && !file.ends_with("/own_files.rs") {
                let text = fs::read_to_string(repository().join(&file)).unwrap();
                for walk in walks.map(|parts| parts.concat()) {
                    assert!(!text.contains(&walk), "{file}: `{walk}`; use own_files");
                }
            }
        }
    }

    #[test]
    fn continuous_integration_runs_the_commands_of_the_readme_in_their_order() {
        let read = |file: &str| fs::read_to_string(repository().join(file)).unwrap();
        let readme = read("README.md");
        let block = readme.split("```sh needs=sources\n").nth(1).unwrap().split("```").next().unwrap();
        let commands: Vec<&str> = block.lines().map(|line| line.split('#').next().unwrap().trim()).collect();
        assert_eq!(commands.len(), 2, "{commands:?}");
        let script = read(".ci/run");
        let run: Vec<&str> = script.lines().filter(|line| line.starts_with("cargo ")).collect();
        assert_eq!(run, commands);
        assert!(read(".gitignore").lines().any(|line| line == "/out"));
    }
}
