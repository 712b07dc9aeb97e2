// The command lines of the current press.

import { CONTROLS } from "./state.js";

/** Whether a control of the skin was changed; the command line then needs a sensor file. */
function changed(skin) {
  return CONTROLS.some((control) => skin[control] != null);
}

/** The name of the sensor file. */
function tomlName(state, slot) {
  return `${state.sensor}-${state.skins[slot].skin}.toml`;
}

/** The command of a slot, as words; null without contact. */
function command(state, slot) {
  if (state.goal === "depth" && !(state.depth > 0)) return null;
  const skin = state.skins[slot];
  const words = ["dermis", "press", "--sensor"];
  if (changed(skin)) words.push(tomlName(state, slot));
  else words.push(state.sensor, "--skin", skin.skin);
  if (state.file) words.push("--object", state.file.name, "--unit", state.file.unit);
  else words.push("--object", state.object);
  words.push(...(state.goal === "force" ? ["--force", `${state.force}N`] : ["--depth", `${state.depth}mm`]));
  if (state.x || state.y) words.push("--at", `${state.x}mm,${state.y}mm`);
  if (state.tiltX || state.tiltY) words.push("--tilt", `${state.tiltX}deg,${state.tiltY}deg`);
  if (state.yaw) words.push("--yaw", `${state.yaw}deg`);
  if (state.shearX || state.shearY) words.push("--shear", `${state.shearX}mm,${state.shearY}mm`);
  return words;
}

/** Quotes words for a shell. */
function quoted(words) {
  return words.map((word) => (/^[\w./:=,+@-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)).join(" ");
}

/** A command line with a button that copies it, and its sensor file if it needs one. */
export class CommandRow {
  /** `copy(button, code)` copies the text of `code`. */
  constructor(slot, copy) {
    this.slot = slot;
    this.element = document.createElement("div");
    this.element.className = "command";
    const element = (name, properties) => Object.assign(document.createElement(name), properties);
    this.code = element("code", { id: `command-${slot}` });
    this.button = element("button", { type: "button", id: `copy-${slot}`, textContent: "Copy", ariaLabel: `Copy the command of skin ${"AB"[slot]}` });
    this.link = element("a", { id: `toml-${slot}`, hidden: true });
    this.button.addEventListener("click", () => copy(this.button, this.code));
    this.element.append(this.code, this.button, this.link);
  }

  /** Shows the command of a state; `toml` is the description of the sensor, once it is built. */
  show(state, toml) {
    const words = command(state, this.slot);
    this.code.textContent = words ? quoted(words) : "Push the object into the sensor to see the command.";
    this.button.hidden = !words;
    this.link.hidden = !toml || !changed(state.skins[this.slot]);
    if (this.link.hidden) return;
    this.link.download = this.link.textContent = tomlName(state, this.slot);
    this.link.href = `data:application/toml;charset=utf-8,${encodeURIComponent(toml)}`;
  }
}
