//! A stamp on a taxel array.

use super::RealError;
use super::load_records::{Record, mean_reading};
use dermis::geometry::shapes::prism;
use dermis::sensor::{Aim, Goal, ResponseSpec, Sensor, Spread, press};
use dermis::skin::Object;

/// Where the stamp is, and the share of its force on every taxel after the spread of the sensor.
pub struct Stamp {
    shares: Vec<f64>,
    /// Cosine between the shares and the mean reading.
    likeness: f64,
}

/// Likeness below which stamp and readings do not fit together.
const UNLIKE: f64 = 0.7;
/// Part of the largest share from which a taxel lies under the stamp.
const UNDER: f64 = 0.25;

impl Stamp {
    /// Finds the position whose shares resemble the mean reading most: around its centroid, within a pitch.
    pub fn find(
        sensor: &Sensor,
        spread: Option<&Spread>,
        stamp_m: f64,
        records: &[&Record],
    ) -> Result<Self, RealError> {
        const SIDES: usize = 48;
        const STEPS: i32 = 4;
        let stamp = Object::new(prism(SIDES, 0.5 * stamp_m, 0.5 * stamp_m)?);
        let mean = mean_reading(records);
        let centers = sensor.taxels().centers();
        let total: f64 = mean.iter().sum();
        if total <= 0.0 || total.is_nan() {
            return Err(RealError::Bad {
                what: sensor.name().to_owned(),
                rule: "the records are dark: no taxel reads anything".into(),
            });
        }
        let middle = centers
            .iter()
            .zip(&mean)
            .fold([0.0; 2], |sum, (at, counts)| [sum[0] + at.x * counts / total, sum[1] + at.y * counts / total]);
        let newton = records.iter().map(|record| record.newton()).fold(0.0, f64::max);
        let chain = ResponseSpec { spread: spread.cloned(), ..ResponseSpec::default() }
            .build(sensor.taxels(), Some(sensor.surface()))?;
        let reach = 0.25 * pitch(sensor);
        let mut best: Option<(f64, Vec<f64>)> = None;
        for i in -STEPS..=STEPS {
            for j in -STEPS..=STEPS {
                let at_m = [middle[0] + reach * f64::from(i), middle[1] + reach * f64::from(j)];
                let Ok(pressed) = press(sensor, &stamp, &Aim { at_m, ..Aim::default() }, Goal::Force(newton)) else {
                    continue;
                };
                let shares = chain.respond(&chain.rest(), &pressed.reading.values_newton, 0.0)?.0.newton;
                let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
                let likeness = dot(&shares, &mean) / dot(&shares, &shares).sqrt();
                if best.as_ref().is_none_or(|(known, _)| likeness > *known) {
                    best = Some((likeness, shares.iter().map(|load| load / newton).collect()));
                }
            }
        }
        let size = mean.iter().map(|counts| counts * counts).sum::<f64>().sqrt();
        best.map(|(likeness, shares)| Self { shares, likeness: likeness / size }).ok_or_else(|| RealError::Bad {
            what: sensor.name().to_owned(),
            rule: format!("cannot carry {newton:.1} N on a stamp of {:.1} mm", stamp_m * 1e3),
        })
    }

    /// A doubt about stamp and readings, given which taxels read something.
    pub fn doubt(&self, reads: &[bool]) -> Option<String> {
        let largest = self.shares.iter().copied().fold(0.0, f64::max);
        let is_under = |share: f64| share > UNDER * largest;
        let under = self.shares.iter().filter(|share| is_under(**share)).count();
        let dead = self.shares.iter().zip(reads).filter(|(share, reads)| is_under(**share) && !**reads).count();
        let check = "check `stamp`, the sensor, and the order of the taxels in the records";
        if dead > 0 {
            Some(format!(
                "{dead} of the {under} taxels under the stamp read nothing under any fitted weight: dead taxels, or {check}"
            ))
        } else {
            (self.likeness < UNLIKE).then(|| {
                format!("the readings hardly have the shape of the stamp (likeness {:.2} of 1): {check}", self.likeness)
            })
        }
    }

    /// Load of every taxel (N) for a force on the stamp.
    pub fn loads(&self, newton: f64) -> Vec<f64> {
        self.shares.iter().map(|share| share * newton).collect()
    }
}

/// Distance of the two nearest taxels (m).
fn pitch(sensor: &Sensor) -> f64 {
    let centers = sensor.taxels().centers();
    let first = centers[0];
    centers[1..].iter().map(|center| (*center - first).length()).fold(f64::INFINITY, f64::min)
}
