//! Refuses words that the glossary of CONTRIBUTING.md has replaced, and CUDA functions that are too long.
//!
//! Words are compared whole and in any case. Identifiers are split at underscores and at capitals, so that `card_count` and `CardCount` hold
//! the word `card`, and `discard` does not.

use std::fs;
use std::path::Path;

use crate::layering::fits;
use crate::own_files::own_files;

/// The endings of the files that are checked.
const EXTENSIONS: [&str; 9] = ["rs", "cu", "cuh", "py", "pyi", "js", "md", "html", "toml"];

/// The length limit of a CUDA function, from the first line of its signature to its closing brace.
const MAX_CUDA_LINES: usize = 80;

/// How a refused word is recognised.
enum Match {
    /// Consecutive words of an identifier or of prose, in any case.
    Words(&'static [&'static str]),
    /// A part of a type name, capitals as written.
    TypePart(&'static str),
    /// The beginning of a constant's name.
    ConstantStart(&'static str),
}

use Match::{ConstantStart, TypePart, Words};

/// The refused words and the words to use.
const REFUSED: &[(Match, &str)] = &[
    (Words(&["card"]), "GPU"),
    (Words(&["cards"]), "GPUs"),
    (Words(&["processor"]), "CPU"),
    (Words(&["processors"]), "CPUs"),
    (Words(&["picture"]), "image, or figure for a plot"),
    (Words(&["pictures"]), "images, or figures for plots"),
    (Words(&["swarm"]), "particles"),
    (Words(&["boarded"]), "MPM steps, particles"),
    (Words(&["flown"]), "MPM steps"),
    (Words(&["shelf"]), "atomic folder"),
    (Words(&["keeper"]), "recorder"),
    (Words(&["knob"]), "control"),
    (Words(&["knobs"]), "controls"),
    (Words(&["or", "told"]), "into_py_err"),
    (Words(&["press", "out"]), "solve_contact_pcg"),
    (Words(&["paper", "gel"]), "TacchiGel"),
    (TypePart("Thing"), "Object, or the name of what it is"),
    (TypePart("Things"), "Objects, or the name of what they are"),
    (ConstantStart("MOST_"), "MAX_"),
    (ConstantStart("LEAST_"), "MIN_"),
];

/// Places where a refused word may stand: file (a trailing `*` stands for any ending), word, reason.
const ALLOWED: &[(&str, &str, &str)] = &[
    ("CONTRIBUTING.md", "*", "the glossary"),
    ("xtask/src/vocabulary.rs", "*", "this table"),
    ("crates/record/src/hdf5.rs", "picture", "a name inside a golden file"),
];

/// All violations in the files of the repository at `root`, sorted by file and line.
pub fn violations(root: &Path) -> Vec<String> {
    let files = own_files(root, &EXTENSIONS);
    let texts = files.iter().filter_map(|file| Some((file, fs::read_to_string(root.join(file)).ok()?)));
    texts.flat_map(|(file, text)| violations_of(file, &text)).collect()
}

fn violations_of(file: &str, text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (index, line) in text.lines().enumerate() {
        for (word, instead) in refused_words(line) {
            let allowed = |(place, known, _): &&(&str, &str, &str)| fits(place, file) && fits(known, &word);
            if !ALLOWED.iter().any(|row| allowed(&row)) {
                found.push(format!("{file}:{}: `{word}` is not in the vocabulary; use {instead}", index + 1));
            }
        }
    }
    if file.ends_with(".cu") || file.ends_with(".cuh") {
        let long = cuda_functions(text).into_iter().filter(|function| function.lines > MAX_CUDA_LINES);
        found.extend(long.map(|CudaFunction { line, lines, name }| {
            format!("{file}:{line}: the CUDA function {name} has {lines} lines; at most {MAX_CUDA_LINES} are allowed")
        }));
    }
    found
}

/// The refused words of a line, lower case where case does not matter, with the words to use.
fn refused_words(line: &str) -> Vec<(String, &'static str)> {
    let mut found = Vec::new();
    for identifier in line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|text| !text.is_empty()) {
        let parts = parts(identifier);
        let lower: Vec<String> = parts.iter().map(|part| part.to_lowercase()).collect();
        for (rule, instead) in REFUSED {
            let word = match rule {
                Words(words) if lower.windows(words.len()).any(|window| window == *words) => words.join("_"),
                TypePart(part) if parts.contains(part) => (*part).to_owned(),
                ConstantStart(start) if identifier.trim_start_matches('_').starts_with(start) => (*start).to_owned(),
                _ => continue,
            };
            found.push((word, *instead));
        }
    }
    found
}

/// Splits an identifier at underscores and before capitals that follow a small letter or begin a new word (`GPUCard`).
fn parts(identifier: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    for piece in identifier.split('_').filter(|piece| !piece.is_empty()) {
        let letters: Vec<(usize, char)> = piece.char_indices().collect();
        let mut start = 0;
        for i in 1..letters.len() {
            let (before, (at, here)) = (letters[i - 1].1, letters[i]);
            let ends_capitals =
                before.is_uppercase() && letters.get(i + 1).is_some_and(|(_, next)| next.is_lowercase());
            if here.is_uppercase() && (!before.is_uppercase() || ends_capitals) {
                parts.push(&piece[start..at]);
                start = at;
            }
        }
        parts.push(&piece[start..]);
    }
    parts
}

/// A function with a body.
#[derive(Debug, PartialEq)]
struct CudaFunction {
    name: String,
    /// The first line of its signature, counted from 1.
    line: usize,
    /// Lines from there to the closing brace.
    lines: usize,
}

/// The functions of a CUDA source: blocks at the top level, in a namespace or in a struct whose head has parameters.
fn cuda_functions(text: &str) -> Vec<CudaFunction> {
    let mut functions = Vec::new();
    // The text since the last statement, with the line that it begins on, and whether each open brace is a function's.
    let (mut head, mut head_line) = (String::new(), 0);
    let mut open: Vec<Option<(String, usize)>> = Vec::new();
    for (index, line) in without_comments(text).lines().enumerate() {
        if line.trim_start().starts_with('#') {
            continue;
        }
        for c in line.chars() {
            let in_function = open.iter().any(Option::is_some);
            match c {
                '{' => {
                    let name = function_name(&head);
                    open.push(name.filter(|_| !in_function).map(|name| (name, head_line)));
                    head.clear();
                }
                '}' => {
                    if let Some(Some((name, first))) = open.pop() {
                        functions.push(CudaFunction { name, line: first + 1, lines: index - first + 1 });
                    }
                    head.clear();
                }
                ';' => head.clear(),
                c if head.is_empty() && c.is_whitespace() => {}
                c => {
                    if head.is_empty() {
                        head_line = index;
                    }
                    head.push(c);
                }
            }
        }
    }
    functions
}

/// The identifier before the parameters of a function's head; `None` for other blocks.
fn function_name(head: &str) -> Option<String> {
    let plain = match head.split_once("__launch_bounds__") {
        Some((before, after)) => format!("{before}{}", after.split_once(')').map_or("", |(_, rest)| rest)),
        None => head.to_owned(),
    };
    let (before, _) = plain.split_once('(')?;
    before.trim().rsplit(|c: char| !c.is_alphanumeric() && c != '_').next().map(str::to_owned)
}

/// The text with comments, strings and characters replaced by blanks, lines kept.
fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if c == '"' || c == '\'' {
            let mut escaped = false;
            let close = rest.char_indices().skip(1).find(|&(_, d)| {
                let closes = d == c && !escaped;
                escaped = d == '\\' && !escaped;
                closes || d == '\n'
            });
            close.map_or(rest.len(), |(at, d)| if d == '\n' { at } else { at + 1 })
        } else {
            out.push(c);
            rest = &rest[c.len_utf8()..];
            continue;
        };
        out.extend(rest[..end].chars().filter(|&c| c == '\n'));
        out.push(' ');
        rest = &rest[end..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<String> {
        refused_words(line).into_iter().map(|(word, _)| word).collect()
    }

    #[test]
    fn refused_words_are_found_whole_and_in_identifiers() {
        assert_eq!(words("the graphics Card"), ["card"]);
        assert_eq!(words("let card_count = onCard(CARD, GPUCard);"), ["card"; 4]);
        assert_eq!(words("discard a wildcard of the multiprocessor; a cardinal depicture"), Vec::<String>::new());
        assert_eq!(words("x.or_told()?; told_or(y)"), ["or_told"]);
        assert_eq!(words("struct SceneThing; every thing"), ["Thing"]);
        assert_eq!(words("const MOST_ROWS: usize = _LEAST_ROWS; // most rows"), ["MOST_", "LEAST_"]);
        assert_eq!(words("DevicePaperGel::new()"), ["paper_gel"]);
    }

    #[test]
    fn a_violation_names_file_line_word_and_the_word_to_use() {
        let found = violations_of("crates/x/src/a.rs", "fn a() {}\n// a picture\n");
        assert_eq!(found, ["crates/x/src/a.rs:2: `picture` is not in the vocabulary; use image, or figure for a plot"]);
        assert!(violations_of("CONTRIBUTING.md", "| card | GPU |").is_empty());
    }

    #[test]
    fn cuda_functions_are_measured_from_signature_to_brace() {
        let text = "struct S {\n  float x;\n  __device__ float f() const { return x; }\n};\n\n// {\n__global__ void __launch_bounds__(256) long_one(\n    float* a,\n    int n) {\n  if (n) {\n    a[0] = '{';\n  }\n}\n";
        let function = |name: &str, line, lines| CudaFunction { name: name.into(), line, lines };
        assert_eq!(cuda_functions(text), [function("f", 3, 1), function("long_one", 7, 7)]);
        let long = format!("__global__ void k() {{\n{}}}\n", "  ;\n".repeat(79));
        let found = violations_of("a.cu", &long);
        assert_eq!(found, ["a.cu:1: the CUDA function k has 81 lines; at most 80 are allowed"]);
    }
}
