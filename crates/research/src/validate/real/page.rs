//! Writes the HTML page of a scoreboard.

use super::Scoreboard;
use super::row::{Measure, Row, Status};
use super::score::Score;
use crate::report::{data_uri, html_text, page_head};
use std::fmt::Write;

/// Writes the whole document.
pub fn write(board: &Scoreboard, date: &str) -> String {
    let mut page = page_head("dermis: real sensors");
    let _ = write!(
        page,
        "<h1>Real sensors</h1>\n<p class=\"sub\">dermis {}, {}. Command: <code>dermis validate real DIR --out report</code></p>\n\
         <p>Each row fits a sensor to some samples of a real one and predicts the samples that were kept out. Beside its error stand \
         the null model (no change, or the mean reading), simple models and other programs. Brackets are 95 % intervals by bootstrap over \
         the kept-out samples (seed {}).</p>\n",
        board.version,
        html_text(date),
        board.seed
    );
    summary(&mut page, board);
    for row in &board.rows {
        section(&mut page, row);
    }
    page.push_str("</main>\n</body>\n</html>\n");
    page
}

fn summary(page: &mut String, board: &Scoreboard) {
    page.push_str(
        "<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Row</th><th scope=\"col\">Samples</th><th scope=\"col\">Measure</th>\
         <th scope=\"col\">dermis</th><th scope=\"col\">Null</th><th scope=\"col\">Best of others</th><th scope=\"col\">Bar</th></tr></thead>\n<tbody>\n",
    );
    for row in &board.rows {
        let name = format!("<a href=\"#{0}\">{0}</a>", html_text(&row.name));
        if row.comparison.measures.is_empty() {
            let _ = writeln!(
                page,
                "<tr><td>{name}</td><td></td><td>{}</td><td></td><td></td><td></td><td></td></tr>",
                badge(&row.status)
            );
        }
        for measure in &row.comparison.measures {
            let ours = measure.scores.first().filter(|score| score.model.starts_with("dermis"));
            let other = |score: &&Score| !score.model.starts_with("dermis") && score.model != super::NULL;
            let better = |a: &&Score, b: &&Score| {
                let order = a.value.total_cmp(&b.value);
                if measure.statistic.higher_is_better() { order.reverse() } else { order }
            };
            let best = measure.scores.iter().filter(other).min_by(better);
            let _ = writeln!(
                page,
                "<tr><td>{name}</td><td data-label=\"Samples\">{} of {} fitted</td><td data-label=\"Measure\">{}</td><td data-label=\"dermis\"><b>{}</b></td>\
                 <td data-label=\"Null\">{}</td><td data-label=\"Best of others\">{}</td><td data-label=\"Bar\">{}</td></tr>",
                row.comparison.fitted_on,
                row.comparison.samples,
                html_text(measure.what),
                ours.map_or_else(String::new, |score| number(score.value)),
                measure.score(super::NULL).map_or_else(String::new, |score| number(score.value)),
                best.map_or_else(String::new, |score| format!("{} ({})", number(score.value), html_text(&score.model))),
                bar(measure),
            );
        }
    }
    page.push_str("</tbody></table></div>\n");
}

fn section(page: &mut String, row: &Row) {
    let _ = writeln!(page, "<section id=\"{0}\">\n<h2>{0}</h2>", html_text(&row.name));
    let _ = writeln!(
        page,
        "<p class=\"sub\">{} Sensor <code>{}</code>, {}; {:.1} s. {}</p>",
        badge(&row.status),
        html_text(&row.sensor),
        row.kind,
        row.seconds,
        html_text(&row.source)
    );
    if let Some(reason) = &row.reason {
        let _ = writeln!(page, "<p>{}</p>", html_text(reason));
    }
    if row.comparison.samples > 0 {
        let _ = writeln!(
            page,
            "<p>Samples: {}. Fitted: {}. Kept out: {}.</p>",
            row.comparison.samples,
            html_text(&row.comparison.fitted),
            match row.comparison.kept_out.len() {
                0 if row.comparison.fitted_on > 0 => "none: the score is that of the fit".to_owned(),
                0 => format!("all {}", row.comparison.samples),
                count => count.to_string(),
            }
        );
    }
    for measure in &row.comparison.measures {
        table(page, measure);
    }
    for note in &row.comparison.notes {
        let _ = writeln!(page, "<p class=\"sub\">{}</p>", html_text(note));
    }
    for figure in &row.comparison.figures {
        let uri = data_uri(&figure.image.encode_png_figure());
        let caption = html_text(&figure.caption);
        let _ =
            writeln!(page, "<figure><img alt=\"{caption}\" src=\"{uri}\"><figcaption>{caption}</figcaption></figure>");
    }
    page.push_str("</section>\n");
}

fn table(page: &mut String, measure: &Measure) {
    let _ = write!(
        page,
        "<h3>{} {}</h3>\n<div class=\"wide\"><table>\n<thead><tr><th scope=\"col\">Model</th><th scope=\"col\">Score</th><th scope=\"col\">95 % interval</th>\
         <th scope=\"col\">Median</th><th scope=\"col\">Worst</th><th scope=\"col\">n</th></tr></thead>\n<tbody>\n",
        html_text(measure.what),
        bar(measure)
    );
    for score in &measure.scores {
        let optional = |value: Option<f64>| value.map_or_else(String::new, number);
        let _ = writeln!(
            page,
            "<tr><td>{}</td><td data-label=\"Score\"><b>{}</b></td><td data-label=\"95 % interval\">{}</td><td data-label=\"Median\">{}</td>\
             <td data-label=\"Worst\">{}</td><td data-label=\"n\">{}</td></tr>",
            html_text(&score.model),
            number(score.value),
            score.interval.map_or_else(String::new, |[low, high]| format!("{} to {}", number(low), number(high))),
            optional(score.median),
            optional(score.worst),
            score.n
        );
    }
    page.push_str("</tbody></table></div>\n");
}

fn bar(measure: &Measure) -> String {
    let Some(bar) = measure.bar else { return String::new() };
    let sign = if measure.statistic.higher_is_better() { "≥" } else { "≤" };
    let mark = match measure.holds {
        Some(true) => "<span class=\"holds\">holds</span>",
        Some(false) => "<span class=\"fails\">fails</span>",
        None => "",
    };
    format!("{sign} {} {mark}", number(bar))
}

fn badge(status: &Status) -> &'static str {
    match status {
        Status::Scored => "<span class=\"holds\">scored</span>",
        Status::NoData => "<span class=\"open\">no data</span>",
        Status::NoModel => "<span class=\"open\">no model</span>",
        Status::Failed => "<span class=\"fails\">failed</span>",
    }
}

fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 1.0 => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}
