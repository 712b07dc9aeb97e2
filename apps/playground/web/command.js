// The command line of the current press.

import { CONTROLS } from "./state.js";

/** Whether a control of the skin was changed; the command line then needs a sensor file. */
export function changed(skin) {
  return CONTROLS.some((control) => skin[control] != null);
}

/** The name of the sensor file. */
export function tomlName(state, slot) {
  return `${state.sensor}-${state.skins[slot].skin}.toml`;
}

/** The command of a slot, as words; null without contact. */
export function command(state, slot) {
  if (!(state.depth > 0)) return null;
  const skin = state.skins[slot];
  const words = ["dermis", "press", "--sensor"];
  if (changed(skin)) words.push(tomlName(state, slot));
  else words.push(state.sensor, "--skin", skin.skin);
  words.push("--object", state.object);
  if (state.unit) words.push("--unit", state.unit);
  words.push("--depth", `${state.depth}mm`);
  if (state.x || state.y) words.push("--at", `${state.x}mm,${state.y}mm`);
  if (state.tiltX || state.tiltY) words.push("--tilt", `${state.tiltX}deg,${state.tiltY}deg`);
  if (state.yaw) words.push("--yaw", `${state.yaw}deg`);
  if (state.shearX || state.shearY) words.push("--shear", `${state.shearX}mm,${state.shearY}mm`);
  return words;
}

/** Quotes words for a shell. */
export function quoted(words) {
  return words.map((word) => (/^[\w./:=,+@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}
