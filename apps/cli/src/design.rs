//! `dermis design`: chooses numbers of a sensor for a purpose.

use crate::console::{Overwrite, progress, say, say_json, short};
use anyhow::{Context, anyhow};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use dermis::dataset::Dataset;
use dermis::design::{Channels, Design, Designed, Objective, Score, VariedKey};
use dermis::draw::{FigurePage, Image, Marker, Plot, Series};
use dermis::output::Output;
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// Choose numbers of a sensor, such as its pitch or the thickness of its gel, so that its readings tell as much as possible.
///
/// The presses of a data set are the task. The cost of a sensor is the smallest standard deviation with which any method can
/// determine the quantity from one reading with its noise (the bound of Cramér and Rao), as a root mean square over the presses.
/// What the data set does not vary is taken as known.
#[derive(clap::Args)]
#[command(
    after_help = "Example:\n  dermis design presses.toml --vary surface.grid.pitch=2mm..6mm --minimise position --noise 5mN --out design"
)]
pub struct Arguments {
    /// Description of a data set of presses with one sensor (see `dermis dataset`).
    presses: PathBuf,
    /// A key of the sensor with its range, such as skin.thickness=1mm..4mm; repeat it for more keys.
    #[arg(long, value_name = "KEY=LOW..HIGH", required = true)]
    vary: Vec<VariedKey>,
    /// The quantity whose standard deviation shall be small.
    #[arg(long, value_name = "QUANTITY", value_parser = objective())]
    minimise: Objective,
    /// What is read; by default the magnetometers, the camera's image or the taxels, the first that the sensor has.
    #[arg(long, value_name = "CHANNELS", value_parser = channels())]
    read: Option<Channels>,
    /// Standard deviation of the constant noise: a force such as 5mN for taxels, levels of 255 such as 2 for images. By default that of the
    /// sensor; magnetometers always have their own.
    #[arg(long, value_name = "SD")]
    noise: Option<String>,
    /// Number of sensors to try.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u16).range(2..))]
    trials: u16,
    /// Write sensor.toml, design.json, trials.csv and design.png into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    overwrite: Overwrite,
    /// Print one JSON document.
    #[arg(long)]
    json: bool,
}

fn objective() -> impl TypedValueParser<Value = Objective> {
    let names = PossibleValuesParser::new(Objective::ALL.map(Objective::name));
    names.try_map(|name| Objective::ALL.into_iter().find(|known| known.name() == name).ok_or("unknown"))
}

fn channels() -> impl TypedValueParser<Value = Channels> {
    let all = [Channels::Taxels, Channels::Image, Channels::Magnetometers];
    let names = PossibleValuesParser::new(all.map(Channels::name));
    names.try_map(move |name| all.into_iter().find(|known| known.name() == name).ok_or("unknown"))
}

pub fn run(arguments: &Arguments) -> anyhow::Result<()> {
    let folder = arguments.overwrite.open(arguments.out.as_deref())?;
    let set = Dataset::open(&arguments.presses)?;
    let channels = arguments.read.unwrap_or_else(|| Channels::of(&set.sensors[0].spec));
    let noise = arguments.noise.as_ref().map(|text| channels.noise_from(text)).transpose();
    let noise = noise.map_err(|reason| anyhow!("`--noise`: {reason}"))?;
    let design = Design { set: &set, varied: &arguments.vary, objective: arguments.minimise, channels, noise };
    let bar = progress("trying sensors", u64::from(arguments.trials));
    let found = design.optimise(usize::from(arguments.trials), &|tried| bar.set_position(tried as u64));
    bar.finish_and_clear();
    let found = found.with_context(|| arguments.presses.display().to_string())?;
    let report = report(arguments, &design, &found);
    if arguments.json {
        say_json(&report)?;
    } else {
        tell(arguments, &design, &found);
    }
    let Some(folder) = folder else { return Ok(()) };
    let mut output = Output::new();
    output.add("sensor.toml", found.spec.to_toml());
    output.add("design.json", serde_json::to_string_pretty(&report)? + "\n");
    output.add("trials.csv", trials(arguments, &found));
    output.add_image("design.png", &figure(arguments, &found));
    folder.commit(output, arguments.json)
}

/// Part of what is known before from which a reading tells nothing, and the relative difference up to which costs are the same.
const NOTHING: f64 = 0.999;
const SAME: f64 = 1e-9;

/// Standard deviation in the unit of the objective.
fn in_unit(arguments: &Arguments, sd: f64) -> f64 {
    sd / arguments.minimise.unit().1
}

/// What a designer should know about the best sensor.
fn remarks(arguments: &Arguments, found: &Designed) -> Vec<String> {
    let mut remarks = Vec::new();
    for (index, key) in arguments.vary.iter().enumerate().filter(|(index, _)| found.is_at_end(*index)) {
        let value = key.shown(found.best.parts[index]);
        remarks.push(format!(
            "`{}` = {value} is at the end of its range: a wider range may hold a better sensor",
            key.key()
        ));
    }
    let Some(best) = &found.best.score else { return remarks };
    if best.impossible > 0 {
        let (count, all) = (best.impossible, best.per_press.len());
        remarks.push(format!(
            "{count} of {all} presses cannot be made on the best sensor, beside it or too deep: they tell nothing"
        ));
    }
    let costs = || found.trials.iter().filter_map(|trial| trial.score.as_ref()).map(|score| score.sd);
    if best.sd > NOTHING * found.prior_sd {
        remarks.push(format!("the readings tell nothing about the {}", arguments.minimise.name()));
    } else if costs().all(|sd| (sd / best.sd - 1.0).abs() < SAME) {
        remarks.push("all sensors that were tried are equally good: the keys do not change what is read".to_owned());
    } else if best.sd >= found.described.sd {
        remarks.push("no sensor that was tried is better than the one described: keep it, or try more".to_owned());
    }
    let not_built = found.trials.iter().filter(|trial| trial.score.is_none()).count();
    if not_built > 0 {
        let reason = found.refused.as_ref().map_or_else(String::new, |reason| format!(", the last because {reason}"));
        remarks.push(format!("{not_built} of {} sensors could not be built{reason}", found.trials.len()));
    }
    if best.per_press.len() == 1 {
        remarks.push("the data set has one press: give it a `count`".to_owned());
    }
    remarks.extend(best.warnings.iter().map(|warning| format!("in presses of the best sensor, {warning}")));
    remarks
}

fn tell(arguments: &Arguments, design: &Design<'_>, found: &Designed) {
    let (unit, _) = arguments.minimise.unit();
    let shown = |sd: f64| format!("{} {unit}", short(in_unit(arguments, sd))).trim_end().to_owned();
    let (name, presses) = (&design.set.sensors[0].spec.name, design.set.count());
    let (objective, channels) = (arguments.minimise.name(), design.channels.name());
    say(format!("{name}: standard deviation of the {objective} from the {channels}, over {presses} presses"));
    say(format!("  nothing read   {}", shown(found.prior_sd)));
    say(format!("  as described   {}", shown(found.described.sd)));
    let best = found.best.score.as_ref().map_or(f64::NAN, |score| score.sd);
    say(format!("  best of {:<6} {}", found.trials.len(), shown(best)));
    for (index, key) in arguments.vary.iter().enumerate() {
        let [low, high] = found.as_good(index).map(|part| key.shown(part));
        say(format!(
            "    {} = {} (tried within 5 % of the best: {low} to {high})",
            key.key(),
            key.shown(found.best.parts[index])
        ));
    }
    remarks(arguments, found).iter().for_each(|remark| say(format!("  warning        {remark}")));
}

fn report(arguments: &Arguments, design: &Design<'_>, found: &Designed) -> Value {
    let score = |score: &Score| {
        json!({
            "sd": in_unit(arguments, score.sd),
            "per_press": score.per_press.iter().map(|sd| in_unit(arguments, *sd)).collect::<Vec<_>>(),
            "impossible": score.impossible,
        })
    };
    let key = |(index, key): (usize, &VariedKey)| {
        let [low, high] = found.as_good(index).map(|part| key.number(part));
        let entry = json!({ "value": key.number(found.best.parts[index]), "unit": key.unit(), "within_5_percent": [low, high] });
        (key.key().to_owned(), entry)
    };
    json!({
        "sensor": design.set.sensors[0].spec.name,
        "presses": design.set.count(),
        "objective": arguments.minimise.name(),
        "unit": arguments.minimise.unit().0,
        "read": design.channels.name(),
        "nothing_read": in_unit(arguments, found.prior_sd),
        "described": score(&found.described),
        "best": found.best.score.as_ref().map(score),
        "values": arguments.vary.iter().enumerate().map(key).collect::<Map<_, _>>(),
        "trials": found.trials.len(),
        "warnings": remarks(arguments, found),
    })
}

/// All sensors that were tried, as a table.
fn trials(arguments: &Arguments, found: &Designed) -> String {
    let head = |name: &str, unit: &str| match unit {
        "" => name.to_owned(),
        unit => format!("{name} ({unit})"),
    };
    let mut heads: Vec<String> = arguments.vary.iter().map(|key| head(key.key(), key.unit())).collect();
    heads.push(head(&format!("sd of {}", arguments.minimise.name()), arguments.minimise.unit().0));
    heads.push("impossible presses".to_owned());
    let mut text = heads.join(",") + "\n";
    for trial in &found.trials {
        let values = arguments.vary.iter().zip(&trial.parts).map(|(key, part)| key.number(*part).to_string());
        let score = match &trial.score {
            Some(score) => [in_unit(arguments, score.sd).to_string(), score.impossible.to_string()],
            None => [String::new(), String::new()],
        };
        text += &(values.chain(score).collect::<Vec<_>>().join(",") + "\n");
    }
    text
}

/// The cost of all trials against each key.
fn figure(arguments: &Arguments, found: &Designed) -> Image {
    let (unit, _) = arguments.minimise.unit();
    let title = format!("{}: {} sensors", found.spec.name, found.trials.len());
    let mut page = FigurePage::new(arguments.vary.len().min(2)).title(title);
    let label = format!("Standard deviation of the {} ({unit})", arguments.minimise.name()).replace(" ()", "");
    for (index, key) in arguments.vary.iter().enumerate() {
        let point = |parts: &[f64], score: &Score| (key.number(parts[index]), in_unit(arguments, score.sd));
        let tried = found.trials.iter().filter_map(|trial| Some(point(&trial.parts, trial.score.as_ref()?)));
        let best = found.best.score.as_ref().map(|score| point(&found.best.parts, score));
        let ends = [0.0, 1.0].map(|part| (key.number(part), in_unit(arguments, found.described.sd)));
        let mut plot = Plot::new()
            .x_label(format!("{} ({})", key.key(), key.unit()).replace(" ()", ""))
            .y_label(label.clone())
            .series(Series::line("as described", ends))
            .series(Series::scatter("tried", tried).marker(Marker::Ring))
            .series(Series::scatter("best", best).marker(Marker::Disc));
        if key.is_logarithmic() {
            plot = plot.log_x();
        }
        page = page.image(plot.render(), "");
    }
    page.render()
}
