// The state of the page, and its encoding in a link.

/** The sliders of the pose: key, label, unit, range and step. */
export const POSE = [
  { key: "x", label: "Across (x)", unit: "mm", low: -25, high: 25, step: 0.01 },
  { key: "y", label: "Along (y)", unit: "mm", low: -25, high: 25, step: 0.01 },
  { key: "depth", label: "Depth", unit: "mm", low: -5, high: 3, step: 0.01 },
  { key: "tiltX", label: "Tilt (x)", unit: "°", low: -60, high: 60, step: 0.1 },
  { key: "tiltY", label: "Tilt (y)", unit: "°", low: -60, high: 60, step: 0.1 },
  { key: "yaw", label: "Rotation", unit: "°", low: -180, high: 180, step: 0.1 },
  { key: "shearX", label: "Shear (x)", unit: "mm", low: -5, high: 5, step: 0.01 },
  { key: "shearY", label: "Shear (y)", unit: "mm", low: -5, high: 5, step: 0.01 },
];

export const CONTROLS = ["stiffness", "friction", "thickness"];

export function fresh() {
  return {
    sensor: "wts0614", object: "sphere:radius=15mm", unit: "", compare: false, width: 160,
    x: 0, y: 0, depth: 1.2, tiltX: 0, tiltY: 0, yaw: 0, shearX: 0, shearY: 0,
    skins: [{ skin: "" }, { skin: "" }],
  };
}

/** The part of a link after `#`; default values are omitted. */
export function toHash(state) {
  const start = fresh();
  const hash = new URLSearchParams();
  for (const key of ["sensor", "object", "width", ...POSE.map(({ key }) => key)])
    if (state[key] !== start[key]) hash.set(key, state[key]);
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
  for (const key of ["sensor", "object"]) if (hash.has(key)) state[key] = hash.get(key);
  for (const { key, low, high, step } of POSE) {
    const value = number(hash.get(key));
    if (value != null) state[key] = rounded(Math.min(key === "depth" ? 50 : high, Math.max(low, value)), step);
  }
  const width = number(hash.get("width"));
  if ([160, 320, 640].includes(width)) state.width = width;
  state.compare = hash.get("compare") === "1";
  state.skins.forEach((skin, slot) => {
    skin.skin = hash.get(`skin${slot}`) ?? "";
    for (const control of CONTROLS) {
      const value = number(hash.get(`${control}${slot}`));
      if (value != null && value >= 0) skin[control] = value;
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
