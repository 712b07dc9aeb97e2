// Shows a run streamed by `dermis run --view`.

import { fromPose, multiply } from "./algebra.js";
import { PALETTE, UNTOUCHED, pressed } from "./colours.js";
import { listen } from "./drag.js";
import { short } from "./format.js";
import { drawPlot } from "./plot.js";
import { AdaptiveResolution } from "./resolution.js";
import { Scene } from "./scene.js";
import { box } from "./solids.js";
import { drawTactile, listWarnings } from "./tactile.js";
import { followTheme } from "./theme.js";

const PLAIN = [176, 183, 194];
const BASE = [112, 120, 132];
const $ = (id) => document.getElementById(id);
const scene = new Scene($("scene"));
const resolution = new AdaptiveResolution(scene, () => {
  scene.render();
  if (run) drawPlot($("plot"), times, lines, run.sensors.map((sensor) => sensor.name), run.duration_s, dark);
});
let dark = false;
let run = null;
let times = [];
let lines = [];
let ended = false;
/** The last frame. */
let last = null;
/** The last image of each camera; images arrive less often than frames. */
const images = [];

followTheme($("theme"), (isDark) => {
  dark = isDark;
  scene.background = (dark ? [13, 16, 21] : [233, 236, 241]).map((part) => part / 255);
  draw();
});
new ResizeObserver(draw).observe($("scene"));
listen($("scene"), { scene, draw, home: () => last && (frameAll(last), draw()) }, () => "view", () => {});

const events = new EventSource("events");
events.addEventListener("scene", ({ data }) => begin(JSON.parse(data)));
events.addEventListener("past", ({ data }) => {
  times = [];
  lines = run.sensors.map(() => []);
  JSON.parse(data).forEach(([time, sums]) => keep(time, sums));
  draw();
});
events.addEventListener("frame", ({ data }) => show(JSON.parse(data)));
events.addEventListener("end", ({ data }) => {
  ended = true;
  events.close();
  say(JSON.parse(data).interrupted ? "The run was interrupted." : "The run has ended.");
  document.body.dataset.ended = "";
});
events.addEventListener("error", () => {
  if (!ended) say("No connection to the run: it has ended or has not started.");
});
events.addEventListener("open", () => say(""));

function begin(next) {
  run = next;
  document.title = `${run.name} – dermis run`;
  $("name").textContent = run.name;
  $("about").textContent = run.description;
  scene.clear();
  run.bodies.forEach(({ touched, positions, triangles }, i) => put(`body${i}`, positions, triangles, touched ? PALETTE[i % PALETTE.length] : PLAIN, !touched));
  const panels = run.sensors.map((sensor, i) => {
    put(`sensor${i}`, sensor.positions, sensor.triangles, UNTOUCHED, false, 0.55);
    if (sensor.size) {
      const [low, high] = [sensor.low_mm, sensor.high_mm];
      scene.put(`base${i}`, { ...box([low[0], low[1], 0.05], [high[0], high[1], 0.1]), tint: BASE, sharp: true });
    }
    sensor.arrays = { taxels: sensor.taxels };
    return panel(sensor.name, i);
  });
  $("answers").replaceChildren(...panels);
}

function put(name, positions, triangles, tint, sharp, glow = 0) {
  scene.put(name, { positions: new Float32Array(positions), triangles: Int32Array.from(triangles), tint, sharp, glow });
}

function panel(name, i) {
  const article = document.createElement("article");
  article.innerHTML = `<strong></strong><div class="image"><canvas class="tactile" id="tactile-${i}" role="img"></canvas></div><p class="note"><output id="force-${i}"></output></p><ul class="warnings" id="warnings-${i}" aria-live="polite"></ul>`;
  article.querySelector("strong").textContent = name;
  return article;
}

function keep(time, sums) {
  times.push(time);
  sums.forEach((sum, i) => lines[i].push(sum));
}

function show(frame) {
  if (!run) return;
  last = frame;
  if (!(frame.time_s <= times.at(-1) + 1e-6)) keep(frame.time_s, frame.sensors.map((sensor) => sensor.sum_n));
  frame.bodies.forEach((pose, i) => scene.place(`body${i}`, fromPose(pose)));
  const peak = Math.max(1e-3, ...frame.sensors.flatMap((sensor) => sensor.values));
  frame.sensors.forEach((reading, i) => {
    const sensor = run.sensors[i];
    const pose = fromPose(reading.pose);
    // Slightly above its base.
    scene.place(`sensor${i}`, sensor.size ? multiply(pose, fromPose({ at: [0, 0, 0.3], rotation: [0, 0, 0, 1] })) : pose);
    scene.place(`base${i}`, pose);
    const tint = new Float32Array(3 * sensor.paint.length);
    sensor.paint.forEach((taxel, k) => tint.set(taxel < 0 ? UNTOUCHED : pressed(reading.values[taxel], peak), 3 * k));
    scene.paint(`sensor${i}`, tint);
    if (reading.image) images[i] = reading.image;
    const answer = { arrays: { values: reading.values } };
    if (images[i]) Object.assign(answer, { image: images[i].slice(0, 2), arrays: { image: opaque(images[i][2]) } });
    const canvas = $(`tactile-${i}`);
    drawTactile(canvas, sensor, answer, peak);
    const [x, y, z] = reading.force_n.map(short);
    $(`force-${i}`).textContent = `${short(reading.sum_n)} N on ${reading.active} taxels; force x ${x}, y ${y}, z ${z} N`;
    canvas.setAttribute("aria-label", `Tactile image of ${sensor.name}: ${short(reading.sum_n)} N`);
    listWarnings($(`warnings-${i}`), reading);
  });
  $("clock").textContent = `${frame.time_s.toFixed(2)} s${frame.phase ? `, ${frame.phase.toLowerCase()}` : ""}`;
  document.body.dataset.time = frame.time_s;
  if (!scene.framed) {
    frameAll(frame);
    scene.framed = true;
  }
  draw();
}

/** Converts base64 RGB bytes to RGBA for a canvas. */
function opaque(text) {
  const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
  const out = new Uint8Array((bytes.length / 3) * 4).fill(255);
  for (let i = 0, k = 0; i < bytes.length; i += 3, k += 4) out.set(bytes.subarray(i, i + 3), k);
  return out;
}

/** Points the camera at everything, with room for motion. */
function frameAll(frame) {
  const low = [Infinity, Infinity, Infinity];
  const high = low.map((part) => -part);
  run.bodies.forEach(({ positions }, i) => {
    const m = fromPose(frame.bodies[i]);
    for (let k = 0; k < positions.length; k += 3) {
      for (let axis = 0; axis < 3; axis++) {
        const at = m[axis] * positions[k] + m[4 + axis] * positions[k + 1] + m[8 + axis] * positions[k + 2] + m[12 + axis];
        low[axis] = Math.min(low[axis], at);
        high[axis] = Math.max(high[axis], at);
      }
    }
  });
  frame.sensors.forEach(({ pose: { at } }) => at.forEach((part, axis) => {
    low[axis] = Math.min(low[axis], part - 10);
    high[axis] = Math.max(high[axis], part + 10);
  }));
  if (run.ground_mm != null) {
    const reach = Math.max(high[0] - low[0], high[1] - low[1]);
    const from = [low[0] - reach / 2, low[1] - reach / 2, run.ground_mm - 1];
    scene.put("ground", { ...box(from, [high[0] + reach / 2, high[1] + reach / 2, run.ground_mm - 0.5]), tint: [150, 156, 166], glow: 0.2, sharp: true });
  }
  scene.frame(low, high);
  scene.view.distance *= 0.9;
  scene.view.elevation = 16;
}

function draw() {
  resolution.draw();
}

function say(text) {
  $("message").textContent = text;
  $("message").hidden = !text;
}
