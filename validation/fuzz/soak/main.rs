//! Random contacts of every skin, and an hour of simulated time of scenes: `cargo xtask validate soak`.
//!
//! [`contacts`] moves random objects over the skins; [`worlds`] lets scenes rest and compares drift and energy.

mod contacts;
mod worlds;

use contacts::{CASES, Case};
use std::fmt::Write;
use worlds::{SCENES, Scene};

const HELP: &str = "\
dermis-soak [SKIN|SCENE...] [--scale 0.01 | --part 3/20] [--threads N]

Random contacts of all skins and an hour of all scenes, or of those that are named; --scale does less than the full counts, --part 3/20 the third of twenty parts of them, each with contacts of its own. The table goes to stdout and to the file DERMIS_LOG.";

struct Arguments {
    scale: f64,
    /// Number of the part of the contacts; 0 without parts.
    part: u64,
    threads: usize,
    cases: Vec<&'static Case>,
    scenes: Vec<&'static Scene>,
}

fn arguments() -> Result<Arguments, String> {
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    let mut all = Arguments { scale: 1.0, part: 0, threads, cases: Vec::new(), scenes: Vec::new() };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().unwrap_or_default();
        match word.as_str() {
            "--scale" => {
                let (value, is_part) = (value(), |part: &f64| *part > 0.0 && *part <= 1.0);
                let part = value.parse().ok().filter(is_part);
                all.scale = part.ok_or_else(|| format!("`--scale` is a part of 1, such as 0.01, not {value:?}"))?;
            }
            "--part" => {
                let value = value();
                let numbers = value.split_once('/').and_then(|(k, n)| Some((k.parse().ok()?, n.parse().ok()?)));
                let (part, parts): (u64, u32) = numbers
                    .filter(|(k, n)| *k > 0 && *k <= u64::from(*n))
                    .ok_or_else(|| format!("`--part` is one of several, such as 3/20, not {value:?}"))?;
                (all.part, all.scale) = (part, 1.0 / f64::from(parts));
            }
            "--threads" => {
                let value = value();
                let count = value.parse().ok().filter(|count| *count > 0);
                all.threads = count.ok_or_else(|| format!("`--threads` is a whole number from 1 on, not {value:?}"))?;
            }
            "--help" | "-h" => return Err(HELP.to_owned()),
            name => {
                let case = CASES.iter().find(|case| case.kind() == name);
                let scene = SCENES.iter().find(|scene| scene.name == name);
                if case.is_none() && scene.is_none() {
                    return Err(format!("there is no skin or scene {name:?}; there are {}", known().join(", ")));
                }
                all.cases.extend(case);
                all.scenes.extend(scene);
            }
        }
    }
    if all.cases.is_empty() && all.scenes.is_empty() {
        all.cases.extend(&CASES);
        all.scenes.extend(&SCENES);
    }
    Ok(all)
}

fn known() -> Vec<&'static str> {
    CASES.iter().map(Case::kind).chain(SCENES.iter().map(|scene| scene.name)).collect()
}

/// Prints a row as soon as it is there: the whole takes hours.
fn told(row: Result<String, String>) -> Result<String, String> {
    row.iter().chain(row.as_ref().err()).for_each(|row| eprintln!("{}", row.trim()));
    row
}

/// Scenes run in a thread of their own each, beside the workers of one skin after another.
fn run() -> Result<(), String> {
    let Arguments { scale, part, threads, cases, scenes } = arguments()?;
    let workers = threads.saturating_sub(scenes.len()).max(1) as u64;
    let (skins, worlds): (Vec<_>, Vec<_>) = std::thread::scope(|scope| {
        let worlds: Vec<_> = scenes.iter().map(|scene| scope.spawn(move || told(worlds::soak(scene, scale)))).collect();
        let skins = cases.iter().map(|case| told(contacts::soak(case, scale, part, workers))).collect();
        let died = |_| Err("a scene panicked".to_owned());
        (skins, worlds.into_iter().map(|world| world.join().unwrap_or_else(died)).collect())
    });
    let mut text = format!(
        "# Random contacts of every skin\n\nScale {scale} of the full counts (1e9 site-steps of springs, 1e7 steps of the \
         hydroelastic skin, 1e6 of the layer, 1e4 of the gel; 1 h of simulated time of each scene), on {threads} threads.\n"
    );
    let mut failures = Vec::new();
    for (head, rows) in [(contacts::HEAD, skins), (worlds::HEAD, worlds)] {
        if rows.is_empty() {
            continue;
        }
        let _ = write!(text, "\n{head}");
        for row in rows {
            match row {
                Ok(row) => text.push_str(&row),
                Err(error) => failures.push(error),
            }
        }
    }
    for failure in &failures {
        let _ = write!(text, "\nFailed: {}\n", failure.trim());
    }
    println!("{text}");
    if let Some(log) = std::env::var_os("DERMIS_LOG") {
        std::fs::write(log, &text).map_err(|error| error.to_string())?;
    }
    if failures.is_empty() { Ok(()) } else { Err(failures.join("\n")) }
}

fn main() -> std::process::ExitCode {
    match run() {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("dermis-soak: {message}");
            std::process::ExitCode::FAILURE
        }
    }
}
