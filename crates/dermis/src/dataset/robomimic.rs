//! Writes episodes as robomimic demonstrations: `data/demo_K` with `actions`, `rewards`, `dones`, `obs` and `next_obs`,
//! and the names of the demonstrations for training and validation in `mask`; one HDF5 file per shard.

use super::episode::{CameraImages, Episode, SensorFrame};
use super::set::Dataset;
use dermis_record::hdf5::{Attribute, Group, Kind};
use dermis_sensor::Image;
use serde_json::json;
use std::io::{self, Write};

/// robomimic's `EnvType.GYM_TYPE`. Its loaders need a known type; no environment is made from it.
const GYM_TYPE: u32 = 2;
/// One of this number of demonstrations is for validation.
const VALID_EVERY: usize = 10;

/// Writes the HDF5 file of some episodes.
pub fn write(set: &Dataset, episodes: &[Episode], to: &mut impl Write) -> io::Result<()> {
    let mut data = Group::new();
    data.attribute("total", Attribute::Whole(episodes.iter().map(|episode| episode.frames.len() as i64).sum()));
    let kwargs = json!({ "scenario": set.spec.scenario.name() });
    let about = json!({ "env_name": set.spec.name, "type": GYM_TYPE, "env_kwargs": kwargs });
    data.attribute("env_args", Attribute::Text(about.to_string()));
    for episode in episodes {
        data.group(&name_of(episode), demonstration(set, episode));
    }
    let mut mask = Group::new();
    for (name, is_valid) in [("train", false), ("valid", true)] {
        let chosen = episodes.iter().filter(|episode| (episode.index % VALID_EVERY == VALID_EVERY - 1) == is_valid);
        let names: Vec<String> = chosen.map(name_of).collect();
        let longest = names.iter().map(String::len).max().unwrap_or(1);
        mask.array(name, &[names.len()], Kind::Text(longest), move |bytes| {
            for (i, name) in names.iter().enumerate() {
                bytes.extend(name.as_bytes());
                bytes.resize((i + 1) * longest, 0);
            }
        });
    }
    let mut root = Group::new();
    root.group("data", data);
    root.group("mask", mask);
    root.write(to)
}

fn name_of(episode: &Episode) -> String {
    format!("demo_{}", episode.index)
}

/// Appends numbers as 32-bit floats.
fn put(bytes: &mut Vec<u8>, numbers: impl IntoIterator<Item = f32>) {
    numbers.into_iter().for_each(|number| bytes.extend(number.to_le_bytes()));
}

fn demonstration<'a>(set: &'a Dataset, episode: &'a Episode) -> Group<'a> {
    let mut demo = Group::new();
    let frames = episode.frames.len();
    let whole = [
        ("num_samples", frames as i64),
        ("label", episode.label as i64),
        ("object", episode.object as i64),
        ("sensor", episode.sensor as i64),
        ("material", episode.material as i64),
        ("seed", episode.seed as i64),
    ];
    whole.into_iter().for_each(|(name, number)| demo.attribute(name, Attribute::Whole(number)));
    demo.attribute("name", Attribute::Text(set.labels[episode.label].clone()));
    let actions = move |bytes: &mut Vec<u8>| episode.frames.iter().for_each(|frame| put(bytes, frame.action));
    demo.array("actions", &[frames, 6], Kind::F32, actions);
    // The reward is 1 for a stable grasp.
    let held = episode.grasp.is_some_and(|grasp| grasp.stable);
    let at_the_end = move |frame: usize| u8::from(frame + 1 == frames);
    let rewards = move |frame| f32::from(at_the_end(frame) * u8::from(held));
    demo.array("rewards", &[frames], Kind::F32, move |bytes| put(bytes, (0..frames).map(rewards)));
    demo.array("dones", &[frames], Kind::I64, move |bytes| {
        (0..frames).for_each(|frame| bytes.extend(i64::from(at_the_end(frame)).to_le_bytes()));
    });
    let number = |group: &mut Group<'a>, name: &str, value: f64| {
        group.array(name, &[1], Kind::F64, move |bytes| bytes.extend(value.to_le_bytes()));
    };
    if !episode.drawn.is_empty() {
        let mut drawn = Group::new();
        for (randomise, &value) in set.randomised().into_iter().zip(&episode.drawn) {
            if randomise.is_integer() {
                drawn.array(&randomise.key, &[1], Kind::I64, move |bytes| bytes.extend((value as i64).to_le_bytes()));
            } else {
                number(&mut drawn, &randomise.key, value);
            }
        }
        demo.group("drawn", drawn);
    }
    if let Some(mu) = episode.mu {
        number(&mut demo, "mu", mu);
    }
    if let Some(grasp) = episode.grasp {
        demo.attribute("stable", Attribute::Whole(i64::from(grasp.stable)));
        number(&mut demo, "slip_m", grasp.slip_m);
    }
    demo.group("obs", observations(set, episode, 0));
    // The last frame has no successor and repeats itself, as in robomimic's own data sets.
    demo.group("next_obs", observations(set, episode, 1));
    demo
}

/// The observations of all frames, or of the frames that are `ahead` of them.
fn observations<'a>(set: &'a Dataset, episode: &'a Episode, ahead: usize) -> Group<'a> {
    let mut obs = Group::new();
    let (frames, taxels) = (episode.frames.len(), set.taxels());
    for (at, part) in set.parts().iter().enumerate() {
        let name = |what: &str| if part.is_empty() { what.to_owned() } else { format!("{part}_{what}") };
        let sensors =
            move || (0..frames).map(move |frame| &episode.frames[(frame + ahead).min(frames - 1)].sensors[at]);
        let mut floats = |what: &str, shape: &[usize], of: fn(&SensorFrame) -> &[f32]| {
            let fill = move |bytes: &mut Vec<u8>| sensors().for_each(|sensor| put(bytes, of(sensor).iter().copied()));
            obs.array(&name(what), &[&[frames][..], shape].concat(), Kind::F32, fill);
        };
        floats("state", &[7], |sensor| &sensor.pose);
        floats("tactile", &[taxels], |sensor| &sensor.reported_newton);
        floats("force", &[taxels, 3], |sensor| &sensor.forces_newton);
        if set.chips() > 0 {
            floats("magnetic", &[set.chips(), 3], |sensor| &sensor.magnetic_ut);
        }
        floats("wrench", &[6], |sensor| &sensor.wrench);
        floats("depth", &[1], |sensor| std::slice::from_ref(&sensor.depth_m));
        obs.array(&name("contact"), &[frames, taxels], Kind::U8, move |bytes| {
            sensors().for_each(|sensor| bytes.extend(sensor.contact.iter().map(|&touched| u8::from(touched))));
        });
        if let Some((height, width)) = set.pixels() {
            let mut image = |what: &str, channels: usize, png: fn(&CameraImages) -> &[u8]| {
                let fill = move |bytes: &mut Vec<u8>| {
                    for images in sensors().filter_map(|sensor| sensor.camera.as_ref()) {
                        let pixels = Image::decode_png(png(images)).map(Image::into_pixels).unwrap_or_default();
                        bytes.extend(pixels.iter().flat_map(|pixel| &pixel[..channels]));
                    }
                };
                obs.array(&name(what), &[frames, height, width, channels], Kind::U8, fill);
            };
            image("image", 3, |images| &images.image_png);
            image("contact_image", 1, |images| &images.contact_png);
        }
    }
    obs
}
