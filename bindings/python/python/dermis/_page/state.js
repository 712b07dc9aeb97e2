// The state of the page, and its encoding in a link.

/** The sliders of the pose: key, label, unit, range and step. `depth` or `force` is the goal of the press. */
export const POSE = [
  { key: "x", label: "Across (x)", unit: "mm", low: -25, high: 25, step: 0.01 },
  { key: "y", label: "Along (y)", unit: "mm", low: -25, high: 25, step: 0.01 },
  { key: "depth", label: "Depth", unit: "mm", low: -5, high: 3, step: 0.01 },
  { key: "force", label: "Force", unit: "N", low: 0.01, high: 100, scale: "log" },
  { key: "tiltX", label: "Tilt (x)", unit: "°", low: -60, high: 60, step: 0.1 },
  { key: "tiltY", label: "Tilt (y)", unit: "°", low: -60, high: 60, step: 0.1 },
  { key: "yaw", label: "Rotation", unit: "°", low: -180, high: 180, step: 0.1 },
  { key: "shearX", label: "Shear (x)", unit: "mm", low: -5, high: 5, step: 0.01 },
  { key: "shearY", label: "Shear (y)", unit: "mm", low: -5, high: 5, step: 0.01 },
];

export const CONTROLS = ["stiffness", "friction", "thickness"];

/** Names of mesh files, which a link cannot contain. */
const MESH = /\.(stl|obj|ply|glb)$/i;

/** `file` is the name and unit of a mesh that was dropped, or that a link expects. */
export function fresh() {
  return {
    sensor: "wts0614", object: "sphere:radius=15mm", file: null, compare: false, width: 160, goal: "depth",
    x: 0, y: 0, depth: 1.2, force: 1, tiltX: 0, tiltY: 0, yaw: 0, shearX: 0, shearY: 0,
    skins: [{ skin: "" }, { skin: "" }],
  };
}

/** The part of a link after `#`; default values are omitted. */
export function toHash(state) {
  const start = fresh();
  const hash = new URLSearchParams();
  const keys = POSE.map(({ key }) => key).filter((key) => key !== "force");
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

/** Reads a link; missing and invalid values take their defaults. */
export function fromHash(text) {
  const state = fresh();
  const hash = new URLSearchParams(text);
  if (hash.has("sensor")) state.sensor = hash.get("sensor");
  const [object, unit] = [hash.get("object") ?? state.object, hash.get("unit") ?? "mm"];
  if (hash.has("file")) state.file = { name: hash.get("file"), unit };
  else if (MESH.test(object)) state.file = { name: object, unit };
  else state.object = object;
  for (const { key, low, high } of POSE) {
    const value = number(hash.get(key));
    if (value != null) state[key] = Math.min(key === "depth" ? 50 : high, Math.max(low, value));
  }
  if (number(hash.get("force")) != null) state.goal = "force";
  const width = number(hash.get("width"));
  if ([160, 320, 640].includes(width)) state.width = width;
  state.compare = hash.get("compare") === "1";
  state.skins.forEach((skin, slot) => {
    skin.skin = hash.get(`skin${slot}`) ?? "";
    for (const control of CONTROLS) {
      const value = number(hash.get(`${control}${slot}`));
      if (value != null) skin[control] = value;
    }
  });
  return state;
}

export function rounded(value, step) {
  return Number((Math.round(value / step) * step).toFixed(3));
}

function number(text) {
  const value = text == null || text === "" ? NaN : Number(text);
  return Number.isFinite(value) ? value : null;
}
