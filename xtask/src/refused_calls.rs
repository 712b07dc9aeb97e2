//! Refuses calls outside of tests: `.unwrap()`, because what a user can write must become an error, and what cannot fail says so in an
//! `expect`; writers of the standard library, because a killed process would leave half a file, and readers, because a device has no end; and
//! rayon's global threads, which do not exist after a fork.

use std::fs;
use std::path::Path;

use crate::own_files::own_files;

/// Calls, each with its rule; those after the second word are of another type.
const CALLS: [(&str, &str, &str); 3] = [
    (".unwrap()", "", "return an error, or `expect` with the reason"),
    ("fs::write(", "", "write with `dermis_files`"),
    ("File::create(", "AtomicFile::create(|NpyFile::create(", "write with `dermis_files`"),
];

/// Calls that belong to a few files, which check what others would forget.
struct Home {
    calls: &'static [&'static str],
    files: &'static [&'static str],
    rule: &'static str,
}

const HOMES: [Home; 3] = [
    Home {
        calls: &[
            "fs::read(",
            "fs::read_to_string(",
            "File::open(",
            "File::options(",
            "OpenOptions::new(",
            ".from_path(",
        ],
        // The reader, and files that open folders and locks only.
        files: &[
            "crates/geometry/src/regular_file.rs",
            "crates/files/src/lib.rs",
            "crates/files/src/claim.rs",
            "crates/record/src/folder.rs",
        ],
        rule: "read with `dermis_geometry::regular_file`, which refuses devices and endless files",
    },
    Home {
        calls: &[".readonly()", "extract::<Vec<f64>", "PyReadonlyArray"],
        files: &["bindings/python/src/array.rs"],
        rule: "read arrays with `crate::array`, which checks their size before it copies them",
    },
    Home {
        calls: &["print!(", "println!("],
        files: &[],
        rule: "print with `console::say` or `say_error`, which escape names of others",
    },
];

/// Calls that start rayon's global threads.
const GLOBAL_THREADS: [&str; 6] = [
    "rayon::spawn(",
    "rayon::scope(",
    "rayon::in_place_scope(",
    "rayon::broadcast(",
    "rayon::current_num_threads(",
    ".build_global(",
];
/// The threads of a process.
const THREADS: &str = "crates/skin/src/threads.rs";
/// Files whose parallel iterators are called from within others.
const INNER: [&str; 3] =
    ["crates/skin/src/gel/elasticity.rs", "crates/skin/src/gel/equilibrium.rs", "crates/skin/src/gel/stiffness.rs"];

/// Uses of rayon's global threads.
fn global_threads(file: &str, text: &str) -> Vec<String> {
    if file == THREADS {
        return Vec::new();
    }
    let rule = format!("use `dermis_skin::threads` ({THREADS}), whose threads exist after a fork too");
    let calls = GLOBAL_THREADS.into_iter().filter(|call| text.contains(call));
    let mut found: Vec<String> = calls.map(|call| format!("{file}: `{call}`; {rule}")).collect();
    if text.contains("use rayon::prelude") && !text.contains("parallel(") && !INNER.contains(&file) {
        found.push(format!("{file}: parallel iterators without `parallel`; {rule}"));
    }
    found
}

/// All calls in the sources at `root`, as `file:line` with the rule.
pub fn violations(root: &Path) -> Vec<String> {
    let files = own_files(root, &["rs"]);
    let texts = files
        .iter()
        .filter(|file| is_product(file))
        .filter_map(|file| Some((file, fs::read_to_string(root.join(file)).ok()?)));
    texts.flat_map(|(file, text)| violations_of(file, &text)).collect()
}

/// True for the source of a crate, an app or a binding that is not a module of tests.
fn is_product(file: &str) -> bool {
    let parts: Vec<&str> = file.split('/').collect();
    let place = ["crates", "apps", "bindings"].iter().any(|folder| parts.first() == Some(folder));
    place && parts.get(2) == Some(&"src") && !parts.iter().any(|part| ["tests", "tests.rs"].contains(part))
}

fn violations_of(file: &str, text: &str) -> Vec<String> {
    let before_tests = text.split("\n#[cfg(test)]\nmod ").next().unwrap_or(text);
    let mut found = global_threads(file, before_tests);
    let foreign: Vec<&Home> = HOMES.iter().filter(|home| !home.files.contains(&file)).collect();
    for (index, line) in before_tests.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//")) {
        for home in &foreign {
            let used = home.calls.iter().find(|call| line.contains(**call));
            found.extend(used.map(|call| format!("{file}:{}: `{call}` outside of tests; {}", index + 1, home.rule)));
        }
        for (call, others, rule) in CALLS {
            let own = others.split('|').filter(|other| !other.is_empty());
            let rest = own.fold(line.to_owned(), |line, other| line.replace(other, ""));
            if rest.contains(call) {
                found.push(format!("{file}:{}: `{call}` outside of tests; {rule}", index + 1));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_found_outside_of_tests_and_comments_only() {
        let text = "/// x.unwrap()\nfn f() {\n    x.unwrap();\n}\n\n#[cfg(test)]\nmod tests {\n    x.unwrap();\n}\n";
        let found = violations_of("crates/skin/src/a.rs", text);
        assert_eq!(found.len(), 1, "{found:?}");
        assert!(found[0].starts_with("crates/skin/src/a.rs:3: "), "{found:?}");
        let text = "fn f() {\n    AtomicFile::create(p);\n    fs::write(p, b);\n    File::create(p);\n}\n";
        assert_eq!(violations_of("a.rs", text).len(), 2);
    }

    /// Devices were read until the memory was full, large arrays copied, and escape sequences printed.
    #[test]
    fn calls_are_refused_outside_of_their_homes() {
        let text = |call: &str| format!("fn f() {{\n    {call};\n}}\n");
        for call in ["std::fs::read(p)", "fs::read_to_string(p)", "File::open(p)", "builder.from_path(p)"] {
            assert_eq!(violations_of("crates/record/src/a.rs", &text(call)).len(), 1, "{call}");
            assert_eq!(violations_of("crates/geometry/src/regular_file.rs", &text(call)).len(), 0, "{call}");
        }
        for call in ["array.readonly()", "x.extract::<Vec<f64>>()", "println!(\"{x}\")", "eprint!(\"{x}\")"] {
            assert_eq!(violations_of("bindings/python/src/a.rs", &text(call)).len(), 1, "{call}");
        }
        for call in ["regular_file::read(p, 1)", "fs::read_dir(p)", "Format::from_path(p)", "say(x)"] {
            assert_eq!(violations_of("a.rs", &text(call)).len(), 0, "{call}");
        }
    }

    #[test]
    fn global_threads_are_refused_outside_of_their_home() {
        let bare = "use rayon::prelude::*;\nfn f(x: &[u8]) {\n    x.par_iter().for_each(drop);\n}\n";
        assert_eq!(violations_of("crates/skin/src/a.rs", bare).len(), 1);
        assert_eq!(violations_of(INNER[0], bare).len(), 0);
        let inside = bare.replace("x.par_iter().for_each(drop)", "parallel(|| x.par_iter().for_each(drop))");
        assert_eq!(violations_of("crates/skin/src/a.rs", &inside).len(), 0);
        let counted = "fn f() -> usize {\n    rayon::current_num_threads()\n}\n";
        assert_eq!((violations_of("a.rs", counted).len(), violations_of(THREADS, counted).len()), (1, 0));
    }

    #[test]
    fn tests_examples_and_tools_may_unwrap() {
        assert!(is_product("crates/skin/src/gel/mpm.rs") && is_product("bindings/python/src/batch.rs"));
        for file in
            ["crates/skin/tests/all.rs", "crates/dermis/src/scene/tests.rs", "xtask/src/main.rs", "crates/a/b.rs"]
        {
            assert!(!is_product(file), "{file}");
        }
    }
}
