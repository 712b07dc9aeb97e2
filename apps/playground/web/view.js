// The 3-D view of the sensor, the object and the force.

import { fromPose, length, times } from "./algebra.js";
import { UNTOUCHED, ember, pressed } from "./colours.js";
import { AdaptiveResolution } from "./resolution.js";
import { Scene } from "./scene.js";
import { arrow, box, gridTriangles, walls } from "./solids.js";

const BASE = [112, 120, 132];
const GLASS = [86, 160, 226];
const FORCE = [214, 64, 54];
const GEL = [74, 80, 94];
/** Colours of the axes x, y and z. */
const AXES = [[176, 58, 46], [46, 132, 74], [46, 98, 190]];
/** Meshes with fewer triangles are drawn with sharp edges. */
const SHARP_TRIANGLES = 400;

export class SensorView {
  constructor(canvas) {
    this.scene = new Scene(canvas);
    this.labels = ["x", "y", "z"].map((name) => Object.assign(document.createElement("span"), { className: `axis axis-${name}`, ariaHidden: "true" }));
    if (this.scene.gl) canvas.after(...this.labels);
    this.resolution = new AdaptiveResolution(this.scene, () => {
      this.scene.render();
      this.#label();
    });
    new ResizeObserver(() => this.draw()).observe(canvas);
  }

  dark(dark) {
    this.scene.background = (dark ? [13, 16, 21] : [233, 236, 241]).map((part) => part / 255);
    this.draw();
  }

  /** Shows another sensor. */
  sensor(sensor, keepView) {
    this.shown = sensor;
    this.around = [];
    this.lastName = sensor.name;
    const [low, high] = [sensor.low_mm, sensor.high_mm];
    this.size = Math.max(high[0] - low[0], high[1] - low[1]);
    this.scene.remove("surface");
    this.scene.remove("walls");
    this.scene.remove("base");
    const { positions, triangles } = sensor.arrays;
    this.scene.put("taxels", { positions, triangles, tint: UNTOUCHED, glow: 0.55 });
    if (sensor.size) {
      const under = 0.08 * this.size;
      this.scene.put("base", { ...box([low[0], low[1], -under], [high[0], high[1], -0.02]), tint: BASE, sharp: true, closed: true });
    }
    this.#axes();
    this.isFramed = keepView;
    this.draw();
  }

  /** Removes what an answer has shown, and sensor and object unless they are these. */
  clear(sensor, object) {
    const { scene } = this;
    for (const name of ["force", "surface", "walls"]) scene.remove(name);
    if (this.objectName !== object) scene.remove("object");
    if (this.shown?.name === sensor) {
      scene.hide("taxels", false);
      scene.paint("taxels", UNTOUCHED);
    } else {
      for (const name of ["taxels", "base", "axis0", "axis1", "axis2"]) scene.remove(name);
      scene.hide("object", true);
      for (const label of this.labels) label.textContent = "";
      this.shown = null;
    }
    this.draw();
  }

  /** Points the camera at the sensor and the contact. */
  home() {
    if (!this.shown) return;
    const { low_mm, high_mm } = this.shown;
    const along = (axis) => [low_mm, high_mm, ...this.around].map((point) => point[axis]);
    const low = [Math.min(...along(0)), Math.min(...along(1)), low_mm[2]];
    const high = [Math.max(...along(0)), Math.max(...along(1)), Math.max(high_mm[2], 0.2 * this.size)];
    this.scene.frame(low, high);
    Object.assign(this.scene.view, { azimuth: -60, elevation: 28, distance: 1.1 * this.scene.view.distance });
    this.draw();
  }

  /** The axes of the sensor frame at a corner of the sensor, as long as their label says. */
  #axes() {
    const { low_mm: low, high_mm: high, size } = this.shown;
    this.axis = 10 ** Math.floor(Math.log10(0.3 * this.size));
    this.axis *= [5, 2, 1].find((step) => step * this.axis <= 0.3 * this.size);
    this.corner = [low[0], low[1], size ? high[2] : low[2]];
    AXES.forEach((tint, i) => {
      const along = [0, 1, 2].map((k) => (k === i ? this.axis : 0));
      this.scene.put(`axis${i}`, { ...arrow(this.corner, along, 0.008 * this.size), tint, glow: 0.5 });
      this.labels[i].textContent = i ? "xyz"[i] : `x, ${this.axis} mm`;
    });
  }

  /** Places the names of the axes at their ends. */
  #label() {
    if (!this.scene.clip || !this.corner) return;
    this.labels.forEach((label, i) => {
      const [x, y] = this.scene.project(this.corner.map((part, k) => part + (k === i ? 1.28 * this.axis : 0)));
      label.style.transform = `translate(${x.toFixed(1)}px, ${y.toFixed(1)}px) translate(-50%, -50%)`;
    });
  }

  /** Shows another object. */
  object({ arrays: { positions, triangles } }, name) {
    this.objectName = name;
    const sharp = triangles.length / 3 < SHARP_TRIANGLES;
    this.scene.put("object", { positions, triangles, tint: GLASS, alpha: 0.34, sharp });
    // Until an answer has its pose.
    this.scene.hide("object", true);
  }

  /** Shows an answer; `peak` (N) is the end of the scale. */
  answer(answer, peak) {
    const { scene } = this;
    scene.place("object", fromPose(answer.pose));
    scene.hide("object", false);
    const { values, surface, depth } = answer.arrays;
    // The contact, and the corners of a layer, which may be larger than its taxels.
    this.around = [answer.pose.at, ...(surface ? [surface.slice(0, 2), surface.slice(-3)] : [])];
    if (!this.isFramed) this.home();
    this.isFramed = true;
    const paint = this.shown.arrays.paint;
    scene.hide("taxels", Boolean(surface));
    // The base lies below a gel.
    scene.place("base", fromPose({ at: [0, 0, surface ? -this.shown.max_depth_mm : 0], rotation: [0, 0, 0, 1] }));
    if (surface) {
      const [rows, cols] = answer.surface;
      const deepest = Math.max(1e-3, ...depth);
      const tint = new Float32Array(3 * depth.length);
      depth.forEach((value, i) => tint.set(gelColour(value / deepest), 3 * i));
      this.#walls(surface);
      scene.put("surface", { positions: surface, triangles: gridTriangles(rows, cols), tint, glow: 0.35 });
    } else {
      const tint = new Float32Array(3 * paint.length);
      paint.forEach((taxel, i) => tint.set(taxel < 0 ? UNTOUCHED : pressed(values[taxel], peak), 3 * i));
      scene.paint("taxels", tint);
    }
    scene.remove("force");
    const push = answer.force_n;
    const size = length(push);
    if (size > 1e-6) {
      const long = this.size * (0.12 + 0.3 * (1 - Math.exp(-size / 5)));
      const along = times(push, long / size);
      const at = answer.pose.at;
      // The arrow ends at the contact.
      const tip = [at[0], at[1], this.shown.high_mm[2]];
      scene.put("force", { ...arrow(tip.map((part, i) => part - along[i]), along, 0.012 * this.size), tint: FORCE, glow: 0.4 });
    }
    this.draw();
  }

  /** The sides of a gel, down to its base. */
  #walls(surface) {
    if (this.scene.meshes.has("walls")) return;
    const [left, back] = surface;
    const [right, front] = surface.slice(-3);
    // Slightly higher than the surface, because rounding leaves gaps between their edges.
    const high = 0.004 * this.size;
    this.scene.put("walls", { ...walls([left, front, -this.shown.max_depth_mm], [right, back, high]), tint: GEL, sharp: true, closed: true });
  }

  draw() {
    this.resolution.draw();
  }
}

/** The colour of a gel at a fraction of the largest indentation. */
function gelColour(part) {
  const pressed = Math.min(1, Math.max(0, part / 0.08));
  const colour = ember(0.15 + 0.85 * part);
  return UNTOUCHED.map((still, i) => still + pressed * (colour[i] - still));
}
