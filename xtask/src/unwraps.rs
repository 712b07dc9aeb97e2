//! Refuses `.unwrap()` outside of tests: what a user can write must become an error, and what cannot fail says so in an
//! `expect`.

use std::fs;
use std::path::Path;
use std::process::Command;

/// All calls in the sources at `root`, as `file:line` with the rule. Without git, nothing is checked.
pub fn violations(root: &Path) -> Vec<String> {
    let Ok(listed) = Command::new("git").args(["ls-files", "*.rs"]).current_dir(root).output() else {
        return Vec::new();
    };
    let listed = String::from_utf8_lossy(&listed.stdout).into_owned();
    let texts = listed
        .lines()
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
    let calls = |(_, line): &(usize, &str)| line.contains(".unwrap()") && !line.trim_start().starts_with("//");
    let found = before_tests.lines().enumerate().filter(calls);
    found
        .map(|(index, _)| {
            format!("{file}:{}: `.unwrap()` outside of tests; return an error, or `expect` with the reason", index + 1)
        })
        .collect()
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
