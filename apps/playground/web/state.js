// The state of the page, and its encoding in a link.

import { decimal } from "./format.js";

/**
 * The sliders of the pose: key, label, unit, range and step. `depth` or `force` is the goal of the press. `min` and `max` bound what is
 * typed or in a link where that is more than the slider's range; a sensor limits the depth further.
 */
export const POSE = [
  { key: "depth", label: "Depth", unit: "mm", low: -5, high: 3, step: 0.01, max: 50 },
  { key: "force", label: "Force", unit: "N", low: 0.01, high: 100, scale: "log", min: 1e-4, max: 1e6 },
  { key: "x", label: "Across (x)", unit: "mm", low: -25, high: 25, step: 0.01 },
  { key: "y", label: "Along (y)", unit: "mm", low: -25, high: 25, step: 0.01 },
  { key: "tiltX", label: "Tilt (x)", unit: "°", low: -60, high: 60, step: 0.1 },
  { key: "tiltY", label: "Tilt (y)", unit: "°", low: -60, high: 60, step: 0.1 },
  { key: "yaw", label: "Rotation", unit: "°", low: -180, high: 180, step: 0.1 },
  { key: "shearX", label: "Shear (x)", unit: "mm", low: -5, high: 5, step: 0.01 },
  { key: "shearY", label: "Shear (y)", unit: "mm", low: -5, high: 5, step: 0.01 },
];

export const CONTROLS = ["stiffness", "friction", "thickness"];
/** Widths of the camera image (pixels), the default first. */
const WIDTHS = [160, 320, 640];
const UNITS = ["mm", "cm", "m", "in"];

/** Names of mesh files, which a link cannot contain. */
const MESH = /\.(stl|obj|ply|glb)$/i;

/**
 * The state at the start. `file` is the name and unit of a mesh that was dropped, or that a link expects. `object` and `depth` are null until
 * `complete` chooses those of the sensor.
 */
export function fresh() {
  return {
    sensor: "wts0614", object: null, file: null, compare: false, width: WIDTHS[0], goal: "depth",
    x: 0, y: 0, depth: null, force: 1, tiltX: 0, tiltY: 0, yaw: 0, shearX: 0, shearY: 0,
    skins: [{ skin: "" }, { skin: "" }],
  };
}

/** Chooses what a state leaves open: the skins, and the object and depth of its sensor. Returns what could not be had, in sentences. */
export function complete(state, sensors) {
  const notes = [];
  let offer = sensors.find(({ preset }) => preset === state.sensor);
  if (!offer) {
    notes.push(`There is no sensor “${state.sensor}” here.`);
    state.sensor = fresh().sensor;
    offer = sensors.find(({ preset }) => preset === state.sensor);
  }
  state.object ??= offer.object;
  state.depth ??= offer.depth_mm;
  const [first, second] = state.skins;
  const choose = (skin, name) => {
    if (skin.skin && !offer.skins.includes(skin.skin)) notes.push(`${offer.label} has no skin “${skin.skin}” here.`);
    if (!offer.skins.includes(skin.skin)) skin.skin = name;
  };
  choose(first, offer.skins[0]);
  choose(second, offer.skins.find((name) => name !== first.skin) ?? offer.skins[0]);
  return notes;
}

/** The part of a link after `#`; default values are omitted. */
export function toHash(state) {
  const start = fresh();
  const hash = new URLSearchParams();
  const keys = POSE.map(({ key }) => key).filter((key) => key !== "force");
  // The object and the depth are always written: their defaults may differ in another version.
  for (const key of ["sensor", "object", "width", ...keys]) if (state[key] !== start[key]) hash.set(key, state[key]);
  if (state.file) {
    hash.delete("object");
    hash.set("file", state.file.name);
    hash.set("unit", state.file.unit);
  }
  if (state.goal === "force") hash.set("force", state.force);
  if (state.compare) hash.set("compare", "1");
  state.skins.slice(0, state.compare ? 2 : 1).forEach((skin, slot) => {
    if (skin.skin) hash.set(`skin${slot}`, skin.skin);
    for (const control of CONTROLS) if (skin[control] != null) hash.set(`${control}${slot}`, skin[control]);
  });
  return hash.toString();
}

/** Reads a link. Returns the state, and in sentences what of the link was left out or changed; that takes its default. */
export function fromHash(text) {
  const state = fresh();
  const hash = new URLSearchParams(text);
  const notes = [];
  const known = new Set();
  const textOf = (key) => {
    known.add(key);
    return hash.get(key) || null;
  };
  const number = (key) => {
    const typed = textOf(key);
    if (typed == null) return null;
    const { value, note } = decimal(typed);
    if (note) notes.push(`The link's ${key} ${note}.`);
    return value;
  };
  const oneOf = (key, values, value, start) => {
    if (value == null || values.includes(value)) return value ?? start;
    notes.push(`The link's ${key} must be one of ${values.join(", ")}; ${value} is left out.`);
    return start;
  };
  state.sensor = textOf("sensor") ?? state.sensor;
  const [object, file] = [textOf("object"), textOf("file")];
  const unit = oneOf("unit", UNITS, textOf("unit"), UNITS[0]);
  if (file) state.file = { name: file, unit };
  else if (MESH.test(object ?? "")) state.file = { name: object, unit };
  else state.object = object;
  for (const pose of POSE) {
    const value = number(pose.key);
    if (value == null) continue;
    const { value: allowed, note } = bounded(value, pose);
    state[pose.key] = allowed;
    if (pose.key === "force") state.goal = "force";
    if (note) notes.push(note);
  }
  state.width = oneOf("width", WIDTHS, number("width"), state.width);
  state.compare = oneOf("compare", ["1", "0"], textOf("compare"), "0") === "1";
  state.skins.forEach((skin, slot) => {
    skin.skin = textOf(`skin${slot}`) ?? "";
    for (const control of CONTROLS) {
      const value = number(`${control}${slot}`);
      if (value != null) skin[control] = value;
    }
  });
  const unknown = [...new Set(hash.keys())].filter((key) => !known.has(key));
  if (unknown.length) notes.push(`The page does not know ${unknown.map((key) => `“${key}”`).join(", ")} of the link.`);
  return { state, notes };
}

/** A value within the bounds of a slider, and a sentence if it had to be changed. */
export function bounded(value, { label, unit, low, high, min = low, max = high }) {
  const allowed = Math.min(max, Math.max(min, value));
  if (allowed === value) return { value };
  const of = (number) => (unit ? `${number} ${unit}` : `${number}`);
  return { value: allowed, note: `${label} must be between ${of(min)} and ${of(max)}: ${of(value)} became ${of(allowed)}.` };
}

export function rounded(value, step) {
  return Number((Math.round(value / step) * step).toFixed(3));
}
