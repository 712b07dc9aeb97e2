//! The sensors, skins and objects that the page offers.

use dermis_geometry::files::Format;
use dermis_geometry::shapes::indenters;
use dermis_sensor::SkinKind::{self, Gel, Hydroelastic, Imprint, Layer, Springs};
use dermis_sensor::{SensorError, presets};
use serde_json::{Value, json};

/// A sensor with its suitable skins, the default first.
pub struct Offer {
    /// Name of the preset.
    pub preset: &'static str,
    /// Its label.
    pub label: &'static str,
    /// Its group.
    pub kind: &'static str,
    /// Its skins.
    pub skins: &'static [SkinKind],
    /// The object and depth (mm) of its first press, which is in the range of its default skin.
    pub first: (&'static str, f64),
}

/// First press of skins that carry large strains.
const DEEP: (&str, f64) = ("sphere:radius=15mm", 1.2);
/// First press of layers, which are linear.
const SHALLOW: (&str, f64) = ("sphere:radius=5mm", 0.5);
/// First press of thin or small layers.
const SHALLOWER: (&str, f64) = ("sphere:radius=5mm", 0.3);

/// The offered sensors: all presets but `tacchi`, whose grid of 256³ nodes is too large for a page. A gel is never the default skin: one press
/// takes seconds.
pub const OFFERS: &[Offer] = &[
    Offer { preset: "wts0614", label: "WTS 0614", kind: "Arrays", skins: &[Springs, Hydroelastic, Layer], first: DEEP },
    Offer {
        preset: "wts0614-layer",
        label: "WTS 0614, elastic layer",
        kind: "Arrays",
        skins: &[Layer, Imprint],
        first: SHALLOW,
    },
    Offer {
        preset: "weiss-dsa",
        label: "Weiss DSA",
        kind: "Arrays",
        skins: &[Springs, Hydroelastic, Layer],
        first: DEEP,
    },
    Offer {
        preset: "capacitive-8x8",
        label: "Capacitive 8 × 8",
        kind: "Arrays",
        skins: &[Springs, Hydroelastic, Layer],
        first: DEEP,
    },
    Offer {
        preset: "digitacts-6x4",
        label: "DigiTacts 6 × 4",
        kind: "Arrays",
        skins: &[Springs, Hydroelastic, Layer],
        first: DEEP,
    },
    Offer {
        preset: "uji-foam-14x6",
        label: "Foam 14 × 6",
        kind: "Arrays",
        skins: &[Springs, Hydroelastic, Layer],
        first: DEEP,
    },
    Offer { preset: "fingertip", label: "Fingertip", kind: "Fingers", skins: &[Springs, Imprint], first: DEEP },
    Offer { preset: "thumbtip", label: "Thumb tip", kind: "Fingers", skins: &[Springs, Imprint], first: DEEP },
    Offer {
        preset: "shadow-fingertip",
        label: "Shadow fingertip",
        kind: "Fingers",
        skins: &[Hydroelastic],
        first: DEEP,
    },
    Offer {
        preset: "spherical-patch",
        label: "Spherical patch",
        kind: "Fingers",
        skins: &[Springs, Imprint],
        first: DEEP,
    },
    Offer { preset: "gelsight", label: "GelSight", kind: "Cameras", skins: &[Layer, Imprint], first: SHALLOW },
    Offer {
        preset: "gelsight-dots",
        label: "GelSight with markers",
        kind: "Cameras",
        skins: &[Layer, Imprint],
        first: SHALLOW,
    },
    Offer {
        preset: "gelsight-mini",
        label: "GelSight Mini",
        kind: "Cameras",
        skins: &[Layer, Imprint],
        first: SHALLOW,
    },
    Offer { preset: "finger-gel", label: "Gel on a finger", kind: "Cameras", skins: &[Imprint], first: DEEP },
    Offer { preset: "reskin", label: "ReSkin", kind: "Magnets", skins: &[Layer], first: SHALLOWER },
    Offer { preset: "anyskin", label: "AnySkin", kind: "Magnets", skins: &[Layer], first: SHALLOW },
    Offer { preset: "uskin-4x4", label: "uSkin 4 × 4", kind: "Magnets", skins: &[Layer], first: SHALLOWER },
    Offer { preset: "eflesh", label: "eFlesh", kind: "Magnets", skins: &[Springs], first: DEEP },
    Offer { preset: "digit", label: "DIGIT", kind: "Cameras", skins: &[Layer, Gel], first: SHALLOW },
];

/// The offered shapes, as on the command line.
const SHAPES: &[(&str, &str)] = &[
    ("sphere:radius=5mm", "Ball, 10 mm"),
    ("sphere:radius=15mm", "Ball, 30 mm"),
    ("cuboid:size=8mm,8mm,8mm", "Cube, 8 mm"),
    ("cylinder:radius=4mm,length=12mm", "Cylinder, 8 mm across"),
    ("capsule:radius=3mm,length=12mm", "Capsule, 6 mm across"),
    ("torus:major=5mm,minor=1.5mm", "Ring, 13 mm across"),
    ("prism:sides=6,radius=5mm,length=10mm", "Hexagon, 10 mm across"),
    ("cone:radius=5mm,height=8mm", "Cone, 10 mm across"),
    ("fingertip", "Fingertip"),
    ("spray-bottle", "Spray bottle"),
];

/// Whether the page offers a gel for a preset.
pub fn has_gel(preset: &str) -> bool {
    OFFERS.iter().any(|offer| offer.preset == preset && offer.skins.contains(&Gel))
}

/// The catalogue as JSON.
pub fn catalogue() -> Result<Value, SensorError> {
    let sensors = OFFERS.iter().map(|offer| {
        let description = presets::find(offer.preset)?.description;
        let Offer { preset, label, kind, skins, first: (object, depth_mm) } = offer;
        Ok(json!({
            "preset": preset, "label": label, "kind": kind, "skins": skins, "description": description,
            "object": object, "depth_mm": depth_mm,
        }))
    });
    let objects: Vec<Value> = SHAPES.iter().map(|(flag, label)| json!({ "flag": flag, "label": label })).collect();
    Ok(json!({
        "sensors": sensors.collect::<Result<Vec<_>, SensorError>>()?,
        "objects": objects,
        "indenters": indenters::NAMES,
        "meshes": Format::ALL.map(|format| format!(".{}", format.extension())),
    }))
}
