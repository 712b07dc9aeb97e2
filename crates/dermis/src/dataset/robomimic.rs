//! Writes episodes as robomimic demonstrations: `data/demo_K` with `actions`, `rewards`, `dones` and `obs`, one HDF5
//! file per shard.

use super::episode::{Episode, SensorFrame};
use super::set::Dataset;
use dermis_record::hdf5::{Attribute, Group, Numbers};
use dermis_sensor::Image;
use serde_json::json;

/// The HDF5 file of some episodes.
pub fn file(set: &Dataset, episodes: &[Episode]) -> Vec<u8> {
    let mut data = Group::new();
    data.attribute("total", Attribute::Whole(episodes.iter().map(|episode| episode.frames.len() as i64).sum()));
    let about = json!({ "env_name": set.spec.name, "type": 0, "env_kwargs": { "scenario": set.spec.scenario.name() } });
    data.attribute("env_args", Attribute::Text(about.to_string()));
    for episode in episodes {
        data.group(&format!("demo_{}", episode.index), demonstration(set, episode));
    }
    let mut root = Group::new();
    root.group("data", data);
    root.to_bytes()
}

fn demonstration(set: &Dataset, episode: &Episode) -> Group {
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
    demo.array("actions", &[frames, 6], Numbers::F32(episode.frames.iter().flat_map(|frame| frame.action).collect()));
    // The reward is 1 for a stable grasp.
    let held = episode.grasp.is_some_and(|grasp| grasp.stable);
    let at_the_end = |value: bool| (1..=frames).map(|frame| u8::from(value && frame == frames)).collect::<Vec<u8>>();
    demo.array("rewards", &[frames], Numbers::F32(at_the_end(held).into_iter().map(f32::from).collect()));
    demo.array("dones", &[frames], Numbers::I64(at_the_end(true).into_iter().map(i64::from).collect()));
    if !episode.drawn.is_empty() {
        let drawn = episode.drawn.iter().map(|&value| value as f32).collect();
        demo.array("drawn", &[episode.drawn.len()], Numbers::F32(drawn));
    }
    if let Some(mu) = episode.mu {
        demo.array("mu", &[1], Numbers::F32(vec![mu as f32]));
    }
    if let Some(grasp) = episode.grasp {
        demo.attribute("stable", Attribute::Whole(i64::from(grasp.stable)));
        demo.array("slip_m", &[1], Numbers::F32(vec![grasp.slip_m as f32]));
    }
    demo.group("obs", observations(set, episode));
    demo
}

fn observations(set: &Dataset, episode: &Episode) -> Group {
    let mut obs = Group::new();
    let (frames, taxels) = (episode.frames.len(), set.taxels());
    for (at, part) in set.parts().iter().enumerate() {
        let name = |what: &str| if part.is_empty() { what.to_owned() } else { format!("{part}_{what}") };
        let sensors = || episode.frames.iter().map(move |frame| &frame.sensors[at]);
        let floats = |of: &dyn Fn(&SensorFrame) -> Vec<f32>| Numbers::F32(sensors().flat_map(of).collect());
        obs.array(&name("state"), &[frames, 7], floats(&|sensor| sensor.pose.to_vec()));
        obs.array(&name("tactile"), &[frames, taxels], floats(&|sensor| sensor.reported_newton.clone()));
        obs.array(&name("force"), &[frames, taxels, 3], floats(&|sensor| sensor.forces_newton.clone()));
        obs.array(&name("wrench"), &[frames, 6], floats(&|sensor| sensor.wrench.to_vec()));
        obs.array(&name("depth"), &[frames, 1], floats(&|sensor| vec![sensor.depth_m]));
        let contact = sensors().flat_map(|sensor| sensor.contact.iter().map(|&touched| u8::from(touched))).collect();
        obs.array(&name("contact"), &[frames, taxels], Numbers::U8(contact));
        if let Some((height, width)) = set.pixels() {
            let images = || sensors().filter_map(|sensor| sensor.camera.as_ref());
            let pixels = images().flat_map(|images| decoded(&images.image_png)).flatten().collect();
            obs.array(&name("image"), &[frames, height, width, 3], Numbers::U8(pixels));
            let touched = images().flat_map(|images| decoded(&images.contact_png)).map(|pixel| pixel[0]).collect();
            obs.array(&name("contact_image"), &[frames, height, width, 1], Numbers::U8(touched));
        }
    }
    obs
}

/// Decodes the pixels of a PNG.
fn decoded(png: &[u8]) -> Vec<[u8; 3]> {
    Image::decode_png(png).map(Image::into_pixels).unwrap_or_default()
}
