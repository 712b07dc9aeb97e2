//! Writes the HTML page of a report.

use super::claims::{Claim, Claims, Ground, Paper};
use super::{Entry, Report, Shown, Standing};
use crate::experiments::{Experiment, Verdict};
use std::fmt::Write;

const STYLE: &str = include_str!("style.css");

/// Writes the whole document.
pub fn write(report: &Report, claims: &Claims) -> String {
    let mut page = start("dermis: four papers reproduced");
    head(&mut page, report, claims);
    for paper in &claims.paper {
        paper_section(&mut page, report, claims, paper);
    }
    page.push_str("<h2 id=\"experiments\">Experiments</h2>\n<p>All bounds and figures of each experiment.</p>\n");
    for (experiment, entry) in report.experiments() {
        experiment_section(&mut page, report, experiment, entry);
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

/// The beginning of a self-contained page.
pub(crate) fn start(title: &str) -> String {
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
    )
}

fn head(page: &mut String, report: &Report, claims: &Claims) {
    let _ = write!(
        page,
        "<h1>Four papers reproduced</h1>\n<p class=\"sub\">dermis {}, {}</p>\n\
         <p>Each claim of the four papers on tactile simulation beside the result of dermis: the paper's number, ours, whether ours lies within \
         its bounds, and the command that computes it.</p>\n<ul class=\"tally\">\n",
        env!("CARGO_PKG_VERSION"),
        text(&report.date)
    );
    for standing in [Standing::Holds, Standing::Fails, Standing::NotRun, Standing::Elsewhere, Standing::OutOfReach] {
        let count = claims.claim.iter().filter(|claim| report.standing(claim) == standing).count();
        let mark = match (standing, count) {
            (Standing::Fails, 0) => "<span class=\"open\">fails</span>",
            (_, 0) => continue,
            _ => badge(standing),
        };
        let _ = writeln!(page, "<li><b>{count}</b>{mark} {}</li>", meaning(standing));
    }
    page.push_str("</ul>\n<nav aria-label=\"Contents\"><ul>\n");
    for paper in &claims.paper {
        let _ = writeln!(page, "<li><a href=\"#{0}\">{1} {2}</a></li>", paper.key, text(&paper.authors), paper.year);
    }
    page.push_str("<li><a href=\"#experiments\">All experiments</a></li>\n</ul></nav>\n");
}

fn paper_section(page: &mut String, report: &Report, claims: &Claims, paper: &Paper) {
    let _ = write!(
        page,
        "<h2 id=\"{}\">{}</h2>\n<p class=\"sub\">{}, {}. Skin: {}.</p>\n<div class=\"wide\"><table>\n<thead><tr>\
         <th scope=\"col\">Claim</th><th scope=\"col\">Paper</th><th scope=\"col\">Ours</th><th scope=\"col\">Status</th>\
         <th scope=\"col\">Figure and command</th></tr></thead>\n<tbody>\n",
        paper.key,
        text(&paper.title),
        text(&paper.authors),
        paper.year,
        text(&paper.skin)
    );
    for (number, claim) in claims.claim.iter().enumerate().filter(|(_, claim)| claim.paper == paper.key) {
        claim_row(page, report, number + 1, claim);
    }
    page.push_str("</tbody></table></div>\n");
}

fn claim_row(page: &mut String, report: &Report, number: usize, claim: &Claim) {
    let beside = claim.beside.as_ref().map_or(String::new(), |beside| format!("<p class=\"sub\">{}</p>", text(beside)));
    let _ = write!(
        page,
        "<tr id=\"claim-{number}\"><td>{}<p class=\"sub\">{}</p>{beside}</td><td data-label=\"Paper\">{}</td>\
         <td data-label=\"Ours\">",
        text(&claim.says),
        text(&claim.place),
        text(&claim.number)
    );
    let standing = report.standing(claim);
    match &claim.ground {
        Ground::OutOfReach { reason } => {
            let _ = write!(page, "{}</td><td>{}</td><td>", text(reason), badge(standing));
        }
        Ground::CheckedBy { command } => {
            let _ =
                write!(page, "by another command</td><td>{}</td><td><code>{}</code>", badge(standing), text(command));
        }
        Ground::Experiment { name, metrics, figure } => {
            match report.entries.get(name.as_str()).map(|entry| &entry.result) {
                None => page.push_str("not run"),
                Some(Err(reason)) => {
                    let _ = write!(page, "failed: {}", text(reason));
                }
                Some(Ok(findings)) => ours(page, findings, metrics),
            }
            let _ = write!(page, "</td><td>{}</td><td>", badge(standing));
            let shown = report.entries.get(name.as_str()).and_then(|entry| entry.result.as_ref().ok()?.figure(figure));
            if let Some(uri) = shown {
                let _ = write!(
                    page,
                    "<a href=\"#{name}\"><img class=\"small\" alt=\"{}: {}\" src=\"{uri}\"></a>",
                    text(name),
                    text(figure)
                );
            }
            let _ = write!(page, "<code>{}</code>", text(&report.command(name)));
        }
    }
    page.push_str("</td></tr>\n");
}

fn ours(page: &mut String, findings: &Shown, metrics: &[String]) {
    page.push_str("<ul class=\"numbers\">");
    for verdict in metrics.iter().filter_map(|metric| findings.verdict(metric)) {
        let class = if verdict.passed { "" } else { " class=\"off\"" };
        let _ = write!(
            page,
            "<li{class}><b>{}</b> {} <span class=\"sub\">({})</span></li>",
            value(verdict),
            text(&verdict.expectation.what),
            bounds(verdict)
        );
    }
    page.push_str("</ul>");
}

fn experiment_section(page: &mut String, report: &Report, experiment: &Experiment, entry: Option<&Entry>) {
    let _ = writeln!(page, "<section id=\"{0}\">\n<h3>{0}</h3>\n<p>{1}</p>", experiment.name, text(experiment.title));
    match entry {
        None if experiment.needs_data => {
            let _ = writeln!(
                page,
                "<p>{} It needs measurements that are not part of dermis: <code>cargo xtask validate {}</code> fetches them and runs it.</p>",
                badge(Standing::NotRun),
                experiment.name
            );
        }
        None => {
            let _ = writeln!(
                page,
                "<p>{} <code>{}</code></p>",
                badge(Standing::NotRun),
                text(&report.command(experiment.name))
            );
        }
        Some(Entry { result: Err(reason), wall_s }) => {
            let _ = writeln!(page, "<p>{} It failed after {wall_s:.1} s: {}</p>", badge(Standing::Fails), text(reason));
        }
        Some(Entry { result: Ok(findings), wall_s }) => {
            let _ = writeln!(
                page,
                "<p class=\"sub\"><code>{}</code>, {wall_s:.1} s</p>",
                text(&report.command(experiment.name))
            );
            verdict_table(page, findings);
            for note in &findings.notes {
                let _ = writeln!(page, "<p class=\"sub\">{}</p>", text(note));
            }
            for (name, uri) in &findings.figures {
                let _ = writeln!(
                    page,
                    "<figure><img alt=\"{0}: {1}\" src=\"{uri}\"><figcaption>{1}</figcaption></figure>",
                    experiment.name,
                    text(name)
                );
            }
        }
    }
    page.push_str("</section>\n");
}

fn verdict_table(page: &mut String, findings: &Shown) {
    page.push_str(
        "<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">What</th><th scope=\"col\">Paper</th>\
         <th scope=\"col\">Ours</th><th scope=\"col\">Passes when</th><th scope=\"col\">Status</th></tr></thead>\n<tbody>\n",
    );
    for verdict in &findings.verdicts {
        let standing = if verdict.passed { Standing::Holds } else { Standing::Fails };
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td data-label=\"Paper\">{}</td><td data-label=\"Ours\"><b>{}</b></td>\
             <td data-label=\"Passes when\">{}</td><td>{}</td></tr>",
            text(&verdict.expectation.what),
            verdict.expectation.paper.as_deref().map_or("".into(), text),
            value(verdict),
            bounds(verdict),
            badge(standing)
        );
    }
    page.push_str("</tbody></table></div>\n");
}

fn badge(standing: Standing) -> &'static str {
    match standing {
        Standing::Holds => "<span class=\"holds\">holds</span>",
        Standing::Fails => "<span class=\"fails\">fails</span>",
        Standing::NotRun => "<span class=\"open\">not run</span>",
        Standing::Elsewhere => "<span class=\"open\">elsewhere</span>",
        Standing::OutOfReach => "<span class=\"open\">no data</span>",
    }
}

fn meaning(standing: Standing) -> &'static str {
    match standing {
        Standing::Holds => "claims whose numbers lie within their bounds",
        Standing::Fails => "claims with a number out of bounds",
        Standing::NotRun => "claims whose experiment was not run",
        Standing::Elsewhere => "claims that another command checks",
        Standing::OutOfReach => "claims that need data that are not available",
    }
}

fn value(verdict: &Verdict) -> String {
    verdict.ours.map_or("missing".into(), figures)
}

fn bounds(verdict: &Verdict) -> String {
    match (verdict.expectation.min, verdict.expectation.max) {
        (Some(min), Some(max)) if min == max => figures(min),
        (Some(min), Some(max)) => format!("{} to {}", figures(min), figures(max)),
        (Some(min), None) => format!("at least {}", figures(min)),
        (None, Some(max)) => format!("at most {}", figures(max)),
        (None, None) => "no bound".into(),
    }
}

/// Enough digits to distinguish 9.8 from 9.7999.
fn figures(value: f64) -> String {
    if value == 0.0 || (1e-3..1e6).contains(&value.abs()) {
        let decimals = (5 - value.abs().max(1e-9).log10().floor() as i32).clamp(0, 8) as usize;
        let text = format!("{value:.decimals$}");
        if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
    } else {
        format!("{value:.2e}")
    }
}

/// Escapes text for HTML.
pub(crate) fn text(words: &str) -> String {
    words.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_well() {
        for (value, expected) in
            [(9.8, "9.8"), (9.7999, "9.7999"), (0.0, "0"), (21.0, "21"), (1e-6, "1.00e-6"), (0.0457, "0.0457")]
        {
            assert_eq!(figures(value), expected);
        }
    }

    /// Below 45rem the header of a table is hidden and its rows are stacked, so every number needs its own label.
    #[test]
    fn tables_are_readable_on_a_narrow_screen() {
        assert!(STYLE.contains("@media (max-width: 45rem)") && STYLE.contains("content: attr(data-label)"));
        let expectation = crate::experiments::Expectation {
            metric: "m".into(),
            what: "force (N)".into(),
            paper: Some("9.8".into()),
            min: Some(9.0),
            max: None,
            one_sided: None,
        };
        let verdicts = vec![Verdict { expectation, ours: Some(9.7), passed: true }];
        let mut page = String::new();
        verdict_table(&mut page, &Shown { verdicts, notes: Vec::new(), figures: Vec::new() });
        for cell in ["Paper\">9.8", "Ours\"><b>9.7</b>", "Passes when\">at least 9"] {
            assert!(page.contains(&format!("<td data-label=\"{cell}</td>")), "{cell} in {page}");
        }
    }
}
