//! A taxel array under a stamp with weights: counts over time, measured against simulated.

use super::load_records::{Record, mean_reading, read};
use super::row::{Comparison, FITTED, Figure, MEAN_SHAPE, Measure, NULL, PRESET};
use super::score::{Sample, Statistic};
use super::split::Split;
use super::stamp::Stamp;
use super::{RealError, Setting};
use dermis::draw::{FigurePage, HeatMap};
use dermis::sensor::calibration::{LoadRecord, fit_loaded_array};
use dermis::sensor::{ResponseSpec, Sensor};

/// A prediction of all frames of a record.
type Prediction = Vec<(f64, Vec<f64>)>;

/// Fits the response of the array to the records of some weights and predicts the others.
pub fn compare(setting: &Setting<'_>, pattern: &str, stamp_m: f64, fit_grams: &[f64]) -> Result<Comparison, RealError> {
    let spec = setting.spec()?;
    let sensor = spec.build(None)?;
    let records = read(setting.folder, pattern, &sensor)?;
    let split = match setting.fit {
        Some(count) => Split::even(records.len(), count),
        None => Split::by(records.len(), |i| fit_grams.contains(&records[i].grams)),
    };
    if split.kept_out.is_empty() {
        let what = setting.folder.display().to_string();
        return Err(RealError::Bad {
            what,
            rule: "every record is in the fit, so nothing is left to predict: give --fit N".into(),
        });
    }
    let fitted: Vec<&Record> = split.fitted.iter().map(|&i| &records[i]).collect();
    let kept_out: Vec<&Record> = split.kept_out.iter().map(|&i| &records[i]).collect();
    let stamp = Stamp::find(
        &sensor,
        spec.response.spread.as_ref(),
        stamp_m,
        if fitted.is_empty() { &kept_out } else { &fitted },
    )?;
    let mut models: Vec<(&'static str, Vec<Prediction>)> = Vec::new();
    let mut notes = Vec::new();
    let respond = |response: &ResponseSpec| -> Result<Vec<Prediction>, RealError> {
        kept_out.iter().map(|record| predict(&sensor, response, &stamp.loads(record.newton()), record)).collect()
    };
    if !fitted.is_empty() {
        let loads: Vec<LoadRecord> = fitted
            .iter()
            .map(|record| LoadRecord {
                load_newton: stamp.loads(record.newton()),
                rise_kelvin: 0.0,
                frames: record.frames.clone(),
            })
            .collect();
        let fit = fit_loaded_array(&loads, *sensor.response())?;
        notes.push(format!(
            "fitted law: exponent {:.2}, limit {:.0} counts, creep {:.0} % of the load in {:.1} s; {} of {} taxels read something; residual of the fit {:.0} counts",
            fit.exponent, fit.limit_counts, 100.0 * fit.creep, fit.creep_s, fit.lit, sensor.taxels().len(), fit.rms_counts
        ));
        // The loads already contain the spread.
        let kept = ResponseSpec { spread: None, hysteresis: None, noise: None, ..spec.response.clone() };
        let mut predictions = respond(&fit.response(&kept))?;
        let heaviest = fitted.iter().map(|record| record.newton()).fold(0.0, f64::max);
        let lighter = kept_out.iter().zip(&mut predictions).filter(|(record, _)| record.newton() <= heaviest);
        for (_, frames) in lighter {
            for (_, counts) in frames {
                counts.iter_mut().zip(&fit.reads).filter(|(_, reads)| !**reads).for_each(|(counts, _)| *counts = 0.0);
            }
        }
        notes.extend(stamp.doubt(&fit.reads));
        models.push((FITTED, predictions));
    }
    let own = ResponseSpec { spread: None, noise: None, ..spec.response.clone() };
    models.push((PRESET, respond(&own)?));
    if !fitted.is_empty() {
        models.push((MEAN_SHAPE, mean_shape(&fitted, &kept_out)));
        let mean = mean_reading(&fitted);
        let constant = |record: &&Record| record.scored().map(|frame| (frame.0, mean.clone())).collect();
        models.push((NULL, kept_out.iter().map(constant).collect()));
    } else {
        let zero = |record: &&Record| record.scored().map(|frame| (frame.0, vec![0.0; frame.1.len()])).collect();
        models.push((NULL, kept_out.iter().map(zero).collect()));
    }
    let measures =
        vec![taxel_measure(&kept_out, &models), total_measure(&kept_out, &models), creep_measure(&kept_out, &models)];
    for total in totals(&kept_out, &models[0].1) {
        notes.push(format!(
            "{} g: predicted total {:+.1} %; creep {:.1} % predicted, {:.1} % measured ({})",
            total.grams,
            100.0 * (total.predicted / total.measured - 1.0),
            100.0 * total.creep,
            100.0 * total.measured_creep,
            models[0].0
        ));
    }
    let grams: Vec<String> = fitted.iter().map(|record| format!("{}", record.grams)).collect();
    let what = "gain and threshold of every taxel, one curve and one creep";
    Ok(Comparison {
        samples: records.len(),
        fitted_on: fitted.len(),
        fitted: if fitted.is_empty() {
            "nothing".into()
        } else {
            format!("{what}, on {} records ({} g)", fitted.len(), grams.join(", "))
        },
        kept_out: kept_out.iter().map(|record| record.name.clone()).collect(),
        figures: figures(&sensor, &kept_out, &models[0]),
        measures,
        notes,
    })
}

/// Readings of a response to a constant load, at the scored frames.
fn predict(sensor: &Sensor, response: &ResponseSpec, loads: &[f64], record: &Record) -> Result<Prediction, RealError> {
    let chain = response.build(sensor.taxels(), Some(sensor.surface()))?;
    let (mut state, mut before_s) = (chain.rest(), 0.0);
    let mut frames = Vec::new();
    for (time_s, _) in record.scored() {
        let (report, next) = chain.respond(&state, loads, time_s - before_s)?;
        (state, before_s) = (next, *time_s);
        frames.push((*time_s, report.raw.iter().map(|&counts| f64::from(counts)).collect()));
    }
    Ok(frames)
}

/// The mean shape of the fitted readings times a linear function of the load.
fn mean_shape(fitted: &[&Record], kept_out: &[&Record]) -> Vec<Prediction> {
    let mean = mean_reading(fitted);
    let total: f64 = mean.iter().sum();
    let points: Vec<(f64, f64)> = fitted
        .iter()
        .flat_map(|record| record.scored().map(|frame| (record.newton(), frame.1.iter().sum::<f64>())))
        .collect();
    let n = points.len() as f64;
    let (x, y) = (points.iter().map(|p| p.0).sum::<f64>() / n, points.iter().map(|p| p.1).sum::<f64>() / n);
    let xx: f64 = points.iter().map(|p| (p.0 - x).powi(2)).sum();
    let xy: f64 = points.iter().map(|p| (p.0 - x) * (p.1 - y)).sum();
    let slope = if xx > 0.0 { xy / xx } else { 0.0 };
    let frame = |record: &Record| {
        let scale = (y + slope * (record.newton() - x)) / total.max(f64::MIN_POSITIVE);
        record.scored().map(|frame| (frame.0, mean.iter().map(|counts| counts * scale).collect())).collect()
    };
    kept_out.iter().map(|record| frame(record)).collect()
}

fn taxel_measure(records: &[&Record], models: &[(&'static str, Vec<Prediction>)]) -> Measure {
    let mut measure =
        Measure::new("taxels", "R² of the counts of every taxel in every frame, 1 to 12 s", Statistic::Explained);
    let all: Vec<f64> = records.iter().flat_map(|record| record.scored()).flat_map(|frame| frame.1.clone()).collect();
    let mean = all.iter().sum::<f64>() / all.len().max(1) as f64;
    for (model, predictions) in models {
        let sample = |(record, predicted): (&&Record, &Prediction)| {
            let (mut error, mut weight) = (0.0, 0.0);
            for (frame, predicted) in record.scored().zip(predicted) {
                error += frame.1.iter().zip(&predicted.1).map(|(a, b)| (a - b).powi(2)).sum::<f64>();
                weight += frame.1.iter().map(|counts| (counts - mean).powi(2)).sum::<f64>();
            }
            Sample { error, weight }
        };
        measure.add(*model, &records.iter().zip(predictions).map(sample).collect::<Vec<_>>());
    }
    measure
}

/// Totals and creep of all records of one weight.
struct Total {
    grams: f64,
    measured: f64,
    predicted: f64,
    measured_creep: f64,
    creep: f64,
}

fn totals(records: &[&Record], predictions: &[Prediction]) -> Vec<Total> {
    let mut grams: Vec<f64> = records.iter().map(|record| record.grams).collect();
    grams.dedup();
    let sum = |frames: &mut dyn Iterator<Item = &(f64, Vec<f64>)>| {
        frames.map(|frame| frame.1.iter().sum::<f64>()).collect::<Vec<f64>>()
    };
    // The mean over the first and the last half second.
    let creep = |frames: &[(f64, f64)]| {
        let (first, last) = (frames.first().map_or(0.0, |f| f.0), frames.last().map_or(0.0, |f| f.0));
        let mean = |keep: &dyn Fn(f64) -> bool| {
            let kept: Vec<f64> = frames.iter().filter(|frame| keep(frame.0)).map(|frame| frame.1).collect();
            kept.iter().sum::<f64>() / kept.len().max(1) as f64
        };
        let start = mean(&|time| time <= first + 0.5);
        if start > 0.0 { mean(&|time| time >= last - 0.5) / start - 1.0 } else { 0.0 }
    };
    let of = |grams: f64| {
        let mut total = Total { grams, measured: 0.0, predicted: 0.0, measured_creep: 0.0, creep: 0.0 };
        let mut count = 0.0;
        for (record, predicted) in records.iter().zip(predictions).filter(|(record, _)| record.grams == grams) {
            let times: Vec<f64> = record.scored().map(|frame| frame.0).collect();
            let (own, other) = (sum(&mut record.scored()), sum(&mut predicted.iter()));
            total.measured += own.iter().sum::<f64>() / own.len().max(1) as f64;
            total.predicted += other.iter().sum::<f64>() / other.len().max(1) as f64;
            let pairs = |sums: &[f64]| times.iter().copied().zip(sums.iter().copied()).collect::<Vec<_>>();
            total.measured_creep += creep(&pairs(&own));
            total.creep += creep(&pairs(&other));
            count += 1.0;
        }
        total.measured_creep /= count;
        total.creep /= count;
        total
    };
    grams.into_iter().map(of).collect()
}

fn total_measure(records: &[&Record], models: &[(&'static str, Vec<Prediction>)]) -> Measure {
    let mut measure = Measure::new("totals", "total counts of a weight: largest error (%)", Statistic::Largest);
    for (model, predictions) in models {
        let sample = |total: Total| Sample {
            error: 100.0 * (total.predicted - total.measured).abs(),
            weight: total.measured.max(1.0),
        };
        measure.add(*model, &totals(records, predictions).into_iter().map(sample).collect::<Vec<_>>());
    }
    measure
}

fn creep_measure(records: &[&Record], models: &[(&'static str, Vec<Prediction>)]) -> Measure {
    let what = "growth of the total from 1 s to 12 s, or to the end: largest error of a weight (points)";
    let mut measure = Measure::new("creep", what, Statistic::Largest);
    for (model, predictions) in models {
        let sample = |total: Total| Sample { error: 100.0 * (total.creep - total.measured_creep).abs(), weight: 1.0 };
        measure.add(*model, &totals(records, predictions).into_iter().map(sample).collect::<Vec<_>>());
    }
    measure
}

/// The last frame of the first and the last record: measured, predicted, difference.
fn figures(
    sensor: &Sensor,
    records: &[&Record],
    (model, predictions): &(&'static str, Vec<Prediction>),
) -> Vec<Figure> {
    let Some((rows, cols)) = sensor.taxels().size() else { return Vec::new() };
    let ends = if records.len() > 1 { vec![0, records.len() - 1] } else { vec![0] };
    ends.into_iter()
        .filter_map(|i| {
            let (measured, predicted) = (&records[i].scored().last()?.1, &predictions[i].last()?.1);
            let top = measured.iter().chain(predicted).copied().fold(1.0, f64::max);
            let map = |values: &[f64]| HeatMap::new(rows, cols, values).unit("counts").max(top).cell_px(26).render();
            let off: Vec<f64> = measured.iter().zip(predicted).map(|(a, b)| (b - a).abs()).collect();
            let page = FigurePage::new(3)
                .image(map(measured), "measured")
                .image(map(predicted), "predicted")
                .image(map(&off), "|difference|");
            Some(Figure { caption: format!("{}, last frame: {model}", records[i].name), image: page.render() })
        })
        .collect()
}
