// The same press on the command line.

import { KNOBS } from "./state.js";

/** Whether a slider of the skin was moved: the command line then needs a file. */
export function changed(skin) {
  return KNOBS.some((knob) => skin[knob] != null);
}

/** The name of that file. */
export function tomlName(state, slot) {
  return `${state.sensor}-${state.skins[slot].skin}.toml`;
}

/** The command for a slot, as words; none while nothing touches. */
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

/** Words as a shell takes them. */
export function quoted(words) {
  return words.map((word) => (/^[\w./:=,+@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}
