//! The table of a campaign.

use crate::campaign::{Campaign, Outcome};
use crate::record::Counts;
use std::fmt::Write;

/// One row: target, inputs, accepted, kinds of refusal, slowest, most memory, skipped, deaths.
pub fn line(outcome: &Outcome) -> String {
    let Counts { inputs, accepted, refusals, slowest_us, peak_bytes, .. } = outcome.counts;
    let (name, skipped, deaths) = (outcome.name, outcome.skipped, outcome.deaths);
    let (slowest_ms, peak_mib) = (slowest_us as f64 * 1e-3, peak_bytes as f64 / f64::from(1 << 20));
    format!("| {name} | {inputs} | {accepted} | {refusals} | {slowest_ms:.1} | {peak_mib:.1} | {skipped} | {deaths} |")
}

/// The log of a campaign.
pub fn table(outcomes: &[Outcome], campaign: &Campaign, findings: usize) -> String {
    let mut text = String::from("# Damaged inputs of every reader\n\n");
    let checks = if cfg!(debug_assertions) { "on" } else { "off" };
    let _ = writeln!(
        text,
        "{} s of CPU time for each target, {} at a time, seed {}, checks of overflow and of debug assertions {checks}.\n",
        campaign.time.as_secs_f64(),
        campaign.processes,
        campaign.seed
    );
    text.push_str(
        "| target | inputs | accepted | kinds of refusal | slowest (ms of CPU) | most memory (MiB) | skipped | deaths |\n",
    );
    text.push_str("|---|---|---|---|---|---|---|---|\n");
    for outcome in outcomes {
        let _ = writeln!(text, "{}", line(outcome));
    }
    let inputs: u64 = outcomes.iter().map(|outcome| outcome.counts.inputs).sum();
    let skipped: u64 = outcomes.iter().map(|outcome| outcome.skipped).sum();
    let hours = outcomes.iter().map(|outcome| outcome.counts.cpu_us as f64 / 3.6e9).sum::<f64>();
    let _ = writeln!(text, "\n{inputs} inputs in {hours:.2} h of CPU time, {skipped} skipped, {findings} findings");
    text
}
