// The playground: connects the state, the worker and the views.

import { Client } from "./client.js";
import { CommandRow } from "./command.js";
import { MODES, listen } from "./drag.js";
import { copied, say } from "./message.js";
import { Panel } from "./panel.js";
import { Slider } from "./slider.js";
import { SensorView } from "./view.js";
import { POSE, fresh, fromHash, rounded, toHash } from "./state.js";
import { followTheme } from "./theme.js";

/** Maximum size of a dropped file (bytes). */
const MAX_BYTES = 120e6;
/** Time (ms) without a change after which the state is written to the address; browsers limit how often that may be done. */
const REMEMBER_MS = 300;

const $ = (id) => document.getElementById(id);
const client = new Client();
const view = new SensorView($("scene"));
const panels = [0, 1].map((slot) => new Panel(slot, () => state, (slot) => (stale.add(`sensor${slot}`), update())));
let state = fromHash(location.hash.slice(1));
let catalogue = null;
/** The bytes of the dropped file, `state.file`. */
let file = null;
let mode = "move";
let remembering = 0;
/** Parts that must be rebuilt before the next press. */
const stale = new Set(["object", "sensor0", "sensor1"]);
let busy = false;
let wanted = false;
const times = [];
/** Colour scale (N): follows the largest taxel slowly, to avoid flicker. */
let peak = 0;

const commands = [0, 1].map((slot) => new CommandRow(slot, copyCommand));

followTheme($("theme"), (dark) => view.dark(dark));

const sliders = Object.fromEntries(POSE.map((pose) => {
  const slider = new Slider({ ...pose, id: pose.key }, (value) => {
    state[pose.key] = value;
    update();
  });
  $("pose").append(slider.element);
  return [pose.key, slider];
}));

for (const { mode: name, label, hint } of MODES) {
  const input = Object.assign(document.createElement("input"), { type: "radio", name: "mode", value: name, checked: name === mode });
  const element = document.createElement("label");
  element.append(input, label);
  input.addEventListener("change", () => {
    mode = name;
    $("hint").textContent = hint;
  });
  $("modes").append(element);
}
$("hint").textContent = MODES[0].hint;

listen($("scene"), view, () => mode, (changes) => {
  for (const [key, by] of Object.entries(changes)) {
    if (key === "depth" && state.goal === "force") {
      const { low, high } = sliders.force;
      // A step of the depth changes the force by a tenth.
      state.force = Number(Math.min(high, Math.max(low, state.force * 1.1 ** (by / 0.05))).toPrecision(3));
      continue;
    }
    const { low, high, step } = POSE.find((pose) => pose.key === key);
    const top = key === "depth" ? Number(sliders.depth.input.max) : high;
    // Accumulates drags that are smaller than a slider step.
    const exact = (exacts[key]?.shown === state[key] ? exacts[key].value : state[key]) + by;
    const value = Math.min(top, Math.max(low, exact));
    state[key] = rounded(value, step);
    exacts[key] = { shown: state[key], value };
  }
  update();
});
const exacts = {};

$("sensor").addEventListener("change", () => {
  state.sensor = $("sensor").value;
  state.skins = [{ skin: "" }, { skin: "" }];
  stale.add("sensor0").add("sensor1");
  peak = 0;
  update();
});
$("object").addEventListener("change", () => {
  state.object = $("object").value;
  state.file = file = null;
  stale.add("object");
  say("");
  update();
});
// Otherwise choosing the same file again, after it was changed on disk, is no change.
$("file").addEventListener("click", () => ($("file").value = ""));
$("file").addEventListener("change", () => loadFile($("file").files[0]));
$("unit").addEventListener("change", () => file && loadFile(file.blob));
$("goal").addEventListener("change", () => {
  state.goal = $("goal").value;
  // Goes on from where the press is.
  const [force, depth] = ["force", "depth"].map((key) => Number($(`${key}-of-0`)?.dataset.value));
  if (state.goal === "force" && force > 0) state.force = Number(force.toPrecision(3));
  if (state.goal === "depth" && depth > 0) state.depth = rounded(depth, 0.01);
  update();
});
$("compare").addEventListener("change", () => {
  state.compare = $("compare").checked;
  stale.add("sensor1");
  update();
});
$("reset").addEventListener("click", () => restore(fresh()));
$("share").addEventListener("click", async () => {
  remember();
  await copied($("share"), location.href, "The link is in the address bar.");
  if (file) say(`The link does not contain ${state.file.name}: send the file too.`);
});
addEventListener("hashchange", (event) => {
  // The address may have been rewritten since.
  const hash = new URL(event.newURL).hash.slice(1);
  clearTimeout(remembering);
  if (hash !== toHash(state)) restore(fromHash(hash));
});
for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
addEventListener("dragover", () => $("drop").classList.add("over"));
for (const name of ["dragleave", "drop"]) addEventListener(name, () => $("drop").classList.remove("over"));
addEventListener("drop", (event) => loadFile(event.dataTransfer?.files[0]));

start();

async function start() {
  const [answer] = await client.ask([{ request: { do: "catalogue" } }]);
  if (answer.error) return say(answer.error);
  catalogue = answer;
  const groups = Map.groupBy ? Map.groupBy(catalogue.sensors, (sensor) => sensor.kind) : grouped(catalogue.sensors);
  for (const [kind, sensors] of groups) {
    const group = Object.assign(document.createElement("optgroup"), { label: kind });
    group.append(...sensors.map(({ preset, label }) => new Option(label, preset)));
    $("sensor").append(group);
  }
  $("object").append(...catalogue.objects.map(({ flag, label }) => new Option(label, flag)));
  const group = Object.assign(document.createElement("optgroup"), { label: "Indenters" });
  group.append(...catalogue.indenters.map((name) => new Option(name, `indenter:${name}`)));
  $("object").append(group);
  $("file").accept = catalogue.meshes.join(",");
  $("meshes").textContent = ` (${catalogue.meshes.join(" ")})`;
  restore(state);
}

function grouped(sensors) {
  const groups = new Map();
  for (const sensor of sensors) groups.set(sensor.kind, [...(groups.get(sensor.kind) ?? []), sensor]);
  return groups;
}

/** Replaces the whole state. */
function restore(next) {
  state = next;
  file = null;
  peak = 0;
  stale.add("object").add("sensor0").add("sensor1");
  say("");
  if (state.file) {
    $("unit").value = state.file.unit;
    say(`This press is of the mesh file ${state.file.name}, which is not part of a link: drop or choose it. Until then another object is shown.`);
  }
  update();
}

/** Writes the state to the address, so that reloading the page keeps it. */
function remember() {
  history.replaceState(null, "", `#${toHash(state)}`);
}

/** Loads a dropped file. */
async function loadFile(blob) {
  if (!blob) return;
  if (blob.size > MAX_BYTES) return say(`${blob.name}: ${Math.round(blob.size / 1e6)} MB exceed the limit of the page (${MAX_BYTES / 1e6} MB); simplify the mesh, or use \`dermis press\`.`);
  const unit = $("unit").value;
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const answer = await setObject({ name: blob.name, unit }, bytes);
  if (answer.error) return say(answer.error);
  say("");
  // Keeps the place of a file that a link expects or that is loaded again; centres another over the sensor, wherever its origin is.
  const known = state.file?.name === blob.name && state.file.unit === unit;
  file = { blob, bytes };
  state.file = { name: blob.name, unit };
  const middle = (axis) => (answer.low_mm[axis] + answer.high_mm[axis]) / 2;
  if (!known) for (const [axis, key] of [[0, "x"], [1, "y"]]) state[key] = rounded(Math.min(25, Math.max(-25, -middle(axis))), 0.01);
  stale.delete("object");
  update();
}

async function setObject(object, bytes) {
  const [answer] = await client.ask([{ request: { do: "object", unit: null, ...object }, bytes }]);
  if (!answer.error) view.object(answer);
  return answer;
}

/** Shows the state and requests a press as soon as the worker is free. */
function update() {
  wanted = true;
  if (catalogue) showState();
  if (!busy) work();
}

async function work() {
  busy = true;
  $("answers").ariaBusy = "true";
  while (wanted && catalogue) {
    wanted = false;
    try {
      await answerOnce();
    } catch (error) {
      say(error.message);
    }
  }
  busy = false;
  $("answers").ariaBusy = "false";
}

async function answerOnce() {
  const slots = state.compare ? [0, 1] : [0];
  if (stale.delete("object")) {
    const answer = file ? await setObject(state.file, file.bytes) : await setObject({ name: state.object });
    if (answer.error) {
      say(answer.error);
      state.object = fresh().object;
      state.file = file = null;
      stale.add("object");
      wanted = true;
      return;
    }
  }
  for (const slot of slots) if (stale.delete(`sensor${slot}`) && !(await build(slot))) return;
  const press = (slot) => ({ request: {
    do: "press", slot, at_mm: [state.x, state.y], depth_mm: state.depth, force_n: state.goal === "force" ? state.force : null, tilt_deg: [state.tiltX, state.tiltY], yaw_deg: state.yaw, shear_mm: [state.shearX, state.shearY],
  } });
  const shown = toHash(state);
  const answers = await client.ask(slots.map(press));
  const failed = answers.find((answer) => answer.error);
  if (failed) {
    if (failed.broken) stale.add("object").add("sensor0").add("sensor1");
    return say(failed.error, "press");
  }
  if ($("message").dataset.about === "press") say("");
  show(answers, slots, shown);
}

async function build(slot) {
  const offer = offered();
  const skin = state.skins[slot];
  if (!offer.skins.includes(skin.skin)) {
    const other = offer.skins.find((name) => name !== state.skins[0].skin) ?? offer.skins[0];
    state.skins[slot] = { ...skin, skin: slot ? other : offer.skins[0] };
  }
  const { skin: kind, ...controls } = state.skins[slot];
  const [sensor] = await client.ask([{ request: { do: "sensor", slot, preset: state.sensor, skin: kind, controls, width_px: state.width } }]);
  if (sensor.error) {
    if (sensor.broken) stale.add("object").add("sensor0").add("sensor1");
    say(sensor.error);
    if (Object.keys(controls).length) {
      say(`${sensor.error}. The sensor's own values are used instead.`);
      state.skins[slot] = { skin: kind };
      stale.add(`sensor${slot}`);
      wanted = true;
    }
    return false;
  }
  panels[slot].offer(offer.skins);
  panels[slot].built(sensor);
  if (slot === 0) {
    const same = view.shown?.name === state.sensor;
    view.sensor({ ...sensor, name: state.sensor }, same);
  }
  const maxDepth = Math.min(...panels.slice(0, state.compare && panels[1].sensor ? 2 : 1).map((panel) => panel.sensor.max_depth_mm));
  sliders.depth.range(-5, Math.floor(maxDepth * 100) / 100, 0.01);
  if (state.depth > maxDepth) state.depth = Math.floor(maxDepth * 100) / 100;
  showState();
  return true;
}

function offered() {
  const offer = catalogue.sensors.find((sensor) => sensor.preset === state.sensor);
  if (offer) return offer;
  state.sensor = fresh().sensor;
  return catalogue.sensors.find((sensor) => sensor.preset === state.sensor);
}

function show(answers, slots, shown) {
  const largest = Math.max(...answers.flatMap((answer) => [...answer.arrays.values]), 0);
  peak = Math.max(largest, 0.97 * peak, 1e-4);
  slots.forEach((slot, i) => panels[slot].show(answers[i], peak));
  view.answer(answers[0], peak);
  const now = performance.now();
  times.push(now);
  while (times[0] < now - 1000) times.shift();
  const took = answers.reduce((sum, answer) => sum + answer.took_ms, 0);
  // A few answers are needed for a meaningful rate.
  if (times.length > 3) $("rate").textContent = `${times.length} answers/s, ${took.toFixed(1)} ms each`;
  // The state of the shown numbers, for automated tests.
  document.body.dataset.shown = shown;
  clearTimeout(remembering);
  remembering = setTimeout(remember, REMEMBER_MS);
}

function showState() {
  const offer = offered();
  $("sensor").value = state.sensor;
  $("about").textContent = offer.description;
  if (file) {
    const option = $("object").querySelector("[data-file]") ?? Object.assign(new Option(), {});
    option.dataset.file = "";
    Object.assign(option, { text: state.file.name, value: state.file.name });
    $("object").prepend(option);
  } else $("object").querySelector("[data-file]")?.remove();
  $("object").value = file ? state.file.name : state.object;
  $("goal").value = state.goal;
  sliders.depth.element.hidden = state.goal === "force";
  sliders.force.element.hidden = state.goal === "depth";
  $("compare").checked = state.compare;
  $("compare").disabled = offer.skins.length < 2;
  document.body.classList.toggle("comparing", state.compare);
  for (const { key } of POSE) sliders[key].set(state[key]);
  const visible = state.compare ? panels : panels.slice(0, 1);
  const elements = visible.map((panel) => panel.element);
  if ($("answers").childElementCount !== elements.length) $("answers").replaceChildren(...elements);
  const shown = commands.slice(0, visible.length);
  shown.forEach((row, slot) => row.show(state, panels[slot].sensor?.toml));
  if ($("commands").childElementCount !== shown.length) $("commands").replaceChildren(...shown.map((row) => row.element));
}

function copyCommand(button, code) {
  getSelection().selectAllChildren(code);
  return copied(button, code.textContent, "The command is selected: copy it with Ctrl+C.");
}
