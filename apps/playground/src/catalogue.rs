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
}

/// The offered sensors: all presets but `tacchi`, whose grid of 256³ nodes is too large for a page. A gel is never the default skin: one press
/// takes seconds.
pub const OFFERS: &[Offer] = &[
    Offer { preset: "wts0614", label: "WTS 0614", kind: "Arrays", skins: &[Springs, Hydroelastic, Layer] },
    Offer { preset: "wts0614-layer", label: "WTS 0614, elastic layer", kind: "Arrays", skins: &[Layer, Imprint] },
    Offer { preset: "weiss-dsa", label: "Weiss DSA", kind: "Arrays", skins: &[Springs, Hydroelastic, Layer] },
    Offer {
        preset: "capacitive-8x8",
        label: "Capacitive 8 × 8",
        kind: "Arrays",
        skins: &[Springs, Hydroelastic, Layer],
    },
    Offer {
        preset: "digitacts-6x4", label: "DigiTacts 6 × 4", kind: "Arrays", skins: &[Springs, Hydroelastic, Layer]
    },
    Offer { preset: "uji-foam-14x6", label: "Foam 14 × 6", kind: "Arrays", skins: &[Springs, Hydroelastic, Layer] },
    Offer { preset: "fingertip", label: "Fingertip", kind: "Fingers", skins: &[Springs, Imprint] },
    Offer { preset: "thumbtip", label: "Thumb tip", kind: "Fingers", skins: &[Springs, Imprint] },
    Offer { preset: "shadow-fingertip", label: "Shadow fingertip", kind: "Fingers", skins: &[Hydroelastic] },
    Offer { preset: "spherical-patch", label: "Spherical patch", kind: "Fingers", skins: &[Springs, Imprint] },
    Offer { preset: "gelsight", label: "GelSight", kind: "Cameras", skins: &[Layer, Imprint] },
    Offer { preset: "gelsight-dots", label: "GelSight with markers", kind: "Cameras", skins: &[Layer, Imprint] },
    Offer { preset: "gelsight-mini", label: "GelSight Mini", kind: "Cameras", skins: &[Layer, Imprint] },
    Offer { preset: "finger-gel", label: "Gel on a finger", kind: "Cameras", skins: &[Imprint] },
    Offer { preset: "reskin", label: "ReSkin", kind: "Magnets", skins: &[Layer] },
    Offer { preset: "anyskin", label: "AnySkin", kind: "Magnets", skins: &[Layer] },
    Offer { preset: "uskin-4x4", label: "uSkin 4 × 4", kind: "Magnets", skins: &[Layer] },
    Offer { preset: "eflesh", label: "eFlesh", kind: "Magnets", skins: &[Springs] },
    Offer { preset: "digit", label: "DIGIT", kind: "Cameras", skins: &[Layer, Gel] },
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

/// The catalogue as JSON.
pub fn catalogue() -> Result<Value, SensorError> {
    let sensors = OFFERS.iter().map(|offer| {
        let description = presets::find(offer.preset)?.description;
        let Offer { preset, label, kind, skins } = offer;
        Ok(json!({ "preset": preset, "label": label, "kind": kind, "skins": skins, "description": description }))
    });
    let objects: Vec<Value> = SHAPES.iter().map(|(flag, label)| json!({ "flag": flag, "label": label })).collect();
    Ok(json!({
        "sensors": sensors.collect::<Result<Vec<_>, SensorError>>()?,
        "objects": objects,
        "indenters": indenters::NAMES,
        "meshes": Format::ALL.map(|format| format!(".{}", format.extension())),
    }))
}
