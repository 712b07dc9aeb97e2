// The playground: connects the state, the worker and the views.

import { Client, Ended } from "./client.js";
import { CommandRow } from "./command.js";
import { MODES, listen } from "./drag.js";
import { short } from "./format.js";
import { also, copied, noted, say } from "./message.js";
import { Panel } from "./panel.js";
import { Slider } from "./slider.js";
import { SensorView } from "./view.js";
import { POSE, complete, fresh, fromHash, rounded, toHash } from "./state.js";
import { followTheme } from "./theme.js";
import { Waiting } from "./waiting.js";

/** Maximum size of a dropped file (bytes). */
const MAX_BYTES = 120e6;
/** Time (ms) without a change after which the state is written to the address; browsers limit how often that may be done. */
const REMEMBER_MS = 300;
/** Time (ms) by which a reading may lag behind the object while it is dragged. */
const LAG_MS = 250;
/** Time (ms) after which a computation is ended for another state, instead of waited for. */
const PATIENCE_MS = 1000;
/** Number of times that a failed worker is started again without being asked. */
const RESTARTS = 2;

const $ = (id) => document.getElementById(id);
/** Parts that must be rebuilt before the next press. */
const stale = new Set();
const allStale = () => stale.add("object").add("sensor0").add("sensor1");
const client = new Client(allStale);
const view = new SensorView($("scene"));
const waiting = new Waiting($("waiting"), { clear, cancel: () => client.cancel(), again: () => (catalogue ? update() : start()) });
const controls = { changed: (slot, dragged) => (stale.add(`sensor${slot}`), update(dragged)), noted };
const panels = [0, 1].map((slot) => new Panel(slot, () => state, controls));
let state = fresh();
let catalogue = null;
/** The bytes of the dropped file, `state.file`. */
let file = null;
let mode = "move";
let remembering = 0;
/** Whether the state becomes a new entry of the browser's history, where the back button finds the one before; a drag becomes one. */
let isStep = false;
let wasDragged = false;
let busy = false;
let wanted = false;
/** When the last request was sent, and whether the object has only been dragged since. */
let askedAt = 0;
let onlyDragged = true;
let restarts = 0;
const times = [];
/** Colour scale (N): follows the largest taxel slowly, to avoid flicker. */
let peak = 0;

const commands = [0, 1].map((slot) => new CommandRow(slot, copyCommand));

followTheme($("theme"), (dark) => view.dark(dark));

const sliders = Object.fromEntries(POSE.map((pose) => {
  const change = (value, dragged) => {
    state[pose.key] = value;
    update(dragged);
  };
  const slider = new Slider({ ...pose, id: pose.key }, change, noted);
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
    const top = key === "depth" ? sliders.depth.high : high;
    // Accumulates drags that are smaller than a slider step.
    const exact = (exacts[key]?.shown === state[key] ? exacts[key].value : state[key]) + by;
    const value = Math.min(top, Math.max(low, exact));
    state[key] = rounded(value, step);
    exacts[key] = { shown: state[key], value };
  }
  update(true);
});
const exacts = {};

$("sensor").addEventListener("change", () => {
  const own = catalogue.sensors.find(({ preset }) => preset === state.sensor).object;
  state.sensor = $("sensor").value;
  state.skins = fresh().skins;
  // The new sensor's own press, but an object that was chosen stays.
  state.depth = null;
  if (!state.file && state.object === own) {
    state.object = null;
    stale.add("object");
  }
  stale.add("sensor0").add("sensor1");
  peak = 0;
  say("");
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
$("reset").addEventListener("click", () => {
  say("");
  restore(fresh());
  isStep = true;
});
$("share").addEventListener("click", async () => {
  remember();
  await copied($("share"), location.href, "The link is in the address bar.");
  if (file) say(`The link does not contain ${state.file.name}: send the file too.`);
});
addEventListener("hashchange", (event) => {
  // The address may have been rewritten since.
  const hash = new URL(event.newURL).hash.slice(1);
  clearTimeout(remembering);
  if (hash !== toHash(state)) restoreLink(hash);
});
for (const name of ["dragover", "drop"]) addEventListener(name, (event) => event.preventDefault());
addEventListener("dragover", () => $("drop").classList.add("over"));
for (const name of ["dragleave", "drop"]) addEventListener(name, () => $("drop").classList.remove("over"));
addEventListener("drop", (event) => loadFile(event.dataTransfer?.files[0]));

start();

async function start() {
  waiting.begin(0);
  let answer;
  try {
    [answer] = await client.ask([{ request: { do: "catalogue" } }]);
  } catch (error) {
    return ended(error) ? start() : undefined;
  }
  if (answer.error) return waiting.giveUp(answer.error, "Try again");
  if (catalogue) return update();
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
  restoreLink(location.hash.slice(1));
}

function grouped(sensors) {
  const groups = new Map();
  for (const sensor of sensors) groups.set(sensor.kind, [...(groups.get(sensor.kind) ?? []), sensor]);
  return groups;
}

/** Shows the state of a link, and says what of it could not be had. */
function restoreLink(hash) {
  const { state: next, notes } = fromHash(hash);
  restore(next, notes);
}

/** Replaces the whole state. */
function restore(next, notes = []) {
  state = next;
  file = null;
  peak = 0;
  allStale();
  if (state.file) {
    $("unit").value = state.file.unit;
    notes.push(`This press is of the mesh file ${state.file.name}, which is not part of a link: drop or choose it. Until then another object is shown.`);
  }
  if (catalogue) notes.unshift(...complete(state, catalogue.sensors));
  if (notes.length || $("message").dataset.about !== "worker") say(notes.join(" "), state.file ? "" : "number");
  update();
  isStep = false;
}

/** Writes the state to the address, so that reloading the page keeps it and the back button returns to the one before. */
function remember() {
  const hash = `#${toHash(state)}`;
  if (hash !== location.hash) history[isStep ? "pushState" : "replaceState"](null, "", hash);
  isStep = false;
}

/** Loads a dropped file. */
async function loadFile(blob) {
  if (!blob) return;
  if (blob.size > MAX_BYTES) return say(`${blob.name}: ${Math.round(blob.size / 1e6)} MB exceed the limit of the page (${MAX_BYTES / 1e6} MB); simplify the mesh, or use \`dermis press\`.`);
  const unit = $("unit").value;
  const bytes = new Uint8Array(await blob.arrayBuffer());
  const before = { ...state };
  let answer;
  try {
    answer = await askOne({ do: "object", name: blob.name, unit }, bytes);
  } catch (error) {
    return ended(error) && loadFile(blob);
  }
  if (answer.error) return say(answer.error);
  say("");
  // Keeps the place of a file that a link expects or that is loaded again; centres another over the sensor, wherever its origin is.
  const known = before.file?.name === blob.name && before.file.unit === unit;
  file = { blob, bytes };
  state.file = { name: blob.name, unit };
  const middle = (axis) => (answer.low_mm[axis] + answer.high_mm[axis]) / 2;
  if (!known) for (const [axis, key] of [[0, "x"], [1, "y"]]) state[key] = rounded(Math.min(25, Math.max(-25, -middle(axis))), 0.01);
  stale.delete("object");
  update();
  view.object(answer, objectName());
}

/** The object of the state. */
function objectName() {
  return file ? `${state.file.name} ${file.blob.lastModified} ${state.file.unit}` : state.object;
}

async function askOne(request, bytes) {
  const [answer] = await client.ask([{ request: { unit: null, ...request }, bytes }]);
  return answer;
}

/**
 * Shows the state and requests a press as soon as the worker is free. What is shown of the state before is removed: at once, or after a moment
 * if the object was `dragged`.
 */
function update(dragged = false) {
  if (!catalogue) return;
  wanted = true;
  complete(state, catalogue.sensors);
  showState();
  isStep ||= !(dragged && wasDragged);
  wasDragged = dragged;
  onlyDragged &&= dragged;
  waiting.begin(dragged ? LAG_MS : 0);
  if (!busy) work();
  else if (!dragged && performance.now() - askedAt > PATIENCE_MS) client.cancel();
}

/** Removes every number and image of a state that is no longer shown. */
function clear() {
  delete document.body.dataset.shown;
  panels.forEach((panel) => panel.clear());
  view.clear(state.sensor, objectName());
  $("rate").textContent = $("headline").textContent = "";
  times.length = 0;
}

async function work() {
  busy = true;
  $("answers").ariaBusy = "true";
  while (wanted) {
    wanted = false;
    try {
      await answerOnce();
    } catch (error) {
      if (ended(error)) wanted = true;
    }
  }
  busy = false;
  $("answers").ariaBusy = "false";
}

/** Says why the worker has ended; returns whether the request is to be repeated. */
function ended(error) {
  if (!(error instanceof Ended)) {
    waiting.giveUp(`The page has failed: ${error.message}`, "Try again");
    return false;
  }
  if (error.cancelled) {
    if (!wanted) waiting.giveUp("Cancelled: there is no reading of this state.", "Compute");
    return wanted;
  }
  const again = restarts++ < RESTARTS;
  say(`${error.message} ${again ? "It was started again." : "Starting it again did not help: check the connection, or reload the page."}`, "worker");
  if (!again) waiting.giveUp("There is no reading.", "Try again");
  return again;
}

/** Requests a reading of the state, and shows it unless the state has changed by more than a drag since. */
async function answerOnce() {
  askedAt = performance.now();
  onlyDragged = true;
  const asked = { ...state, skins: state.skins.map((skin) => ({ ...skin })) };
  const slots = asked.compare ? [0, 1] : [0];
  if (stale.delete("object") && !(await setObject())) return;
  for (const slot of slots) if (stale.delete(`sensor${slot}`) && !(await build(slot))) return;
  if (wanted && !onlyDragged) return;
  asked.depth = Math.min(asked.depth, sliders.depth.high);
  const press = (slot) => ({ request: {
    do: "press", slot, at_mm: [asked.x, asked.y], depth_mm: asked.depth, force_n: asked.goal === "force" ? asked.force : null, tilt_deg: [asked.tiltX, asked.tiltY], yaw_deg: asked.yaw, shear_mm: [asked.shearX, asked.shearY],
  } });
  const answers = await client.ask(slots.map(press));
  restarts = 0;
  if (wanted && (!onlyDragged || performance.now() - askedAt > LAG_MS)) return;
  const failed = answers.find((answer) => answer.error);
  if (failed) {
    say(failed.error, "press");
    return waiting.giveUp("There is no reading of this state.");
  }
  if ($("message").dataset.about === "press") say("");
  waiting.end();
  show(answers, slots, toHash(asked));
  if (wanted) waiting.begin(LAG_MS);
}

/** Gives the worker the object of the state; returns whether the press can go on. */
async function setObject() {
  const name = objectName();
  const answer = await (file ? askOne({ do: "object", ...state.file }, file.bytes) : askOne({ do: "object", name: state.object }));
  if (name !== objectName()) return false;
  if (!answer.error) {
    view.object(answer, name);
    return true;
  }
  say(answer.error);
  state.object = state.file = file = null;
  stale.add("object");
  again();
  return false;
}

/** Requests a reading of the state once more, after a part of it was refused and replaced. */
function again() {
  wanted = true;
  complete(state, catalogue.sensors);
  showState();
}

/** Builds the sensor of a slot; returns whether the press can go on. */
async function build(slot) {
  const { sensor: preset } = state;
  const mine = state.skins[slot];
  const { skin, ...controls } = mine;
  const answer = await client.ask([{ request: { do: "sensor", slot, preset, skin, controls, width_px: state.width } }]).then(([first]) => first);
  if (state.sensor !== preset || state.skins[slot] !== mine) return false;
  if (answer.error) {
    if (!Object.keys(controls).length) {
      say(answer.error);
      waiting.giveUp("There is no reading of this state.");
      return false;
    }
    say(`${answer.error}. The sensor's own values are used instead.`);
    state.skins[slot] = { skin };
    stale.add(`sensor${slot}`);
    again();
    return false;
  }
  panels[slot].built(answer);
  if (slot === 0) view.sensor({ ...answer, name: preset }, view.lastName === preset);
  const deepest = Math.min(...panels.slice(0, state.compare && panels[1].sensor ? 2 : 1).map((panel) => panel.sensor.max_depth_mm));
  const top = Math.floor(deepest * 100) / 100;
  sliders.depth.range(-5, top, 0.01, -5, top);
  if (state.depth > top) {
    also(`${offered().label} can be pressed at most ${top} mm deep: ${state.depth} mm became ${top} mm.`);
    state.depth = top;
  }
  showState();
  return true;
}

function offered() {
  return catalogue.sensors.find((sensor) => sensor.preset === state.sensor);
}

function show(answers, slots, shown) {
  const largest = Math.max(...answers.flatMap((answer) => [...answer.arrays.values]), 0);
  peak = Math.max(largest, 0.97 * peak, 1e-4);
  slots.forEach((slot, i) => panels[slot].show(answers[i], peak));
  view.answer(answers[0], peak);
  $("headline").textContent = answers.map(({ force_n: [, , z] }) => `${short(-z)} N`).join(", ");
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
  visible.forEach((panel) => panel.offer(offer.skins));
  const elements = visible.map((panel) => panel.element);
  if ($("answers").childElementCount !== elements.length) $("answers").replaceChildren(...elements);
  const shown = commands.slice(0, visible.length);
  shown.forEach((row, slot) => row.show(state, panels[slot].toml()));
  if ($("commands").childElementCount !== shown.length) $("commands").replaceChildren(...shown.map((row) => row.element));
}

function copyCommand(button, code) {
  getSelection().selectAllChildren(code);
  return copied(button, code.textContent, "The command is selected: copy it with Ctrl+C.");
}
