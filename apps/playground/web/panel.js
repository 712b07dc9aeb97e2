// The panel of one skin: selection, tactile image, readings and controls.

import { short } from "./format.js";
import { Slider } from "./slider.js";
import { CONTROLS } from "./state.js";
import { drawScale, drawTactile, listWarnings } from "./tactile.js";

const NAMES = {
  springs: "Springs", hydroelastic: "Hydroelastic", layer: "Elastic layer", imprint: "Imprint", gel: "Gel (seconds per press)",
};

export class Panel {
  /** `changed(slot)` is called after the skin or a slider of `state.skins[slot]` was changed. */
  constructor(slot, state, changed) {
    Object.assign(this, { slot, state, changed });
    const article = document.getElementById("skin").content.firstElementChild.cloneNode(true);
    this.element = article;
    const letter = "AB"[slot];
    article.setAttribute("aria-label", `Skin ${letter}`);
    [this.select, this.tactile] = [article.querySelector("select"), article.querySelector(".tactile")];
    this.select.id = `skin-${slot}`;
    article.querySelector(".field label").htmlFor = this.select.id;
    this.tactile.id = `tactile-${slot}`;
    [this.image, this.scale, this.peak] = [".image", ".scale", ".peak"].map((name) => article.querySelector(name));
    this.readings = article.querySelector(".readings");
    this.warnings = article.querySelector(".warnings");
    this.controls = article.querySelector(".skin-controls");
    drawScale(article.querySelector(".scale canvas"));
    this.select.addEventListener("change", () => {
      state().skins[slot] = { skin: this.select.value };
      changed(slot);
    });
    this.sensor = null;
  }

  /** Lists the skins of the sensor. */
  offer(skins) {
    this.select.replaceChildren(...skins.map((skin) => new Option(NAMES[skin] ?? skin, skin)));
    this.select.value = this.state().skins[this.slot].skin;
  }

  /** Shows the controls of a new sensor. */
  built(sensor) {
    this.sensor = sensor;
    const mine = () => this.state().skins[this.slot];
    const sliders = CONTROLS.filter((key) => sensor.controls[key]).map((key) => {
      const { label, unit, value } = sensor.controls[key];
      const log = key !== "friction";
      const range = log ? { low: Number((value / 8).toPrecision(3)), high: Number((value * 8).toPrecision(3)), scale: "log" } : { low: 0, high: 2, step: 0.01 };
      const slider = new Slider({ id: `${key}-${this.slot}`, label, unit, ...range }, (to) => {
        mine()[key] = to;
        this.changed(this.slot);
      });
      slider.set(mine()[key] ?? value);
      return slider;
    });
    // A slider must not be replaced while it is dragged.
    const same = this.sliders?.map((s) => s.input.id + s.unit + s.low).join() === sliders.map((s) => s.input.id + s.unit + s.low).join();
    if (same) return this.sliders.forEach((slider, i) => slider.set(sliders[i].value));
    this.sliders = sliders;
    this.controls.replaceChildren(...sliders.map((slider) => slider.element));
  }

  /** Draws an answer; `peak` (N) is the end of the scale. */
  show(answer, peak) {
    drawTactile(this.tactile, this.sensor, answer, peak);
    const wide = answer.image != null;
    this.image.classList.toggle("wide", wide);
    this.scale.hidden = wide;
    this.peak.textContent = `${short(peak)} N`;
    const [fx, fy, fz] = answer.force_n;
    this.tactile.setAttribute("aria-label", `Tactile image: ${answer.active} of ${answer.taxels} taxels active, ${short(-fz)} N`);
    const depth = answer.depth_mm == null ? "" : `${short(answer.depth_mm)} mm`;
    const torque = answer.torque_nm.map((part) => part * 1e3);
    this.#list([
      ["Force", `${short(-fz)} N`, "main", "force", -fz],
      ["Depth", depth || "no contact", "", "depth", answer.depth_mm ?? 0],
      ["Sum of taxels", `${short(answer.sum_n)} N`, "", "sum", answer.sum_n],
      ["Force x, y", `${short(fx)}, ${short(fy)} N`, "", "shear", `${fx},${fy}`],
      ["Torque", `${torque.map(short).join(", ")} mN\u00a0m`, "", "torque", torque.join()],
      ["Contact", `${short(answer.area_mm2)} mm², ${answer.active}/${answer.taxels}\u00a0taxels`, "", "contact", answer.active],
      ...(answer.magnetic_ut ?? []).map((field, chip) => [`Chip ${chip}`, `${field.map(short).join(", ")} µT`, "", `chip-${chip}`, field.join()]),
    ]);
    listWarnings(this.warnings, answer, ...(answer.above ? [] : ["The object is not above the sensor"]));
  }

  #list(rows) {
    if (this.readings.childElementCount !== 2 * rows.length) {
      this.readings.replaceChildren();
      for (const [name, , style, key] of rows) {
        const [dt, dd] = [document.createElement("dt"), document.createElement("dd")];
        dt.textContent = name;
        dd.className = style;
        dd.id = `${key}-of-${this.slot}`;
        this.readings.append(dt, dd);
      }
    }
    const cells = this.readings.querySelectorAll("dd");
    rows.forEach(([, text, , , value], i) => {
      cells[i].textContent = text;
      cells[i].dataset.value = value;
    });
  }
}
