// The panel of one skin: selection, tactile image, readings and controls.

import { short } from "./format.js";
import { Slider } from "./slider.js";
import { CONTROLS } from "./state.js";
import { clearTactile, drawScale, drawTactile, listWarnings } from "./tactile.js";

const NAMES = {
  springs: "Springs", hydroelastic: "Hydroelastic", layer: "Elastic layer", imprint: "Imprint", gel: "Gel (seconds per press)",
};

export class Panel {
  /**
   * `changed(slot, dragged)` is called after the skin or a slider of `state.skins[slot]` was changed, `noted(text)` after a number was typed
   * that is not taken as it is.
   */
  constructor(slot, state, { changed, noted }) {
    Object.assign(this, { slot, state, changed, noted });
    const article = document.getElementById("skin").content.firstElementChild.cloneNode(true);
    this.element = article;
    const letter = "AB"[slot];
    article.setAttribute("aria-label", `Skin ${letter}`);
    [this.select, this.tactile] = [article.querySelector("select"), article.querySelector(".tactile")];
    this.select.id = `skin-${slot}`;
    article.querySelector(".field label").htmlFor = this.select.id;
    this.tactile.id = `tactile-${slot}`;
    [this.image, this.legend, this.scale, this.peak] = [".image", ".legend", ".scale", ".peak"].map((name) => article.querySelector(name));
    this.readings = article.querySelector(".readings");
    this.warnings = article.querySelector(".warnings");
    this.controls = article.querySelector(".skin-controls");
    drawScale(article.querySelector(".scale canvas"));
    this.select.addEventListener("change", () => {
      state().skins[slot] = { skin: this.select.value };
      changed(slot, false);
    });
    this.sensor = null;
    this.sliders = [];
  }

  /** Lists the skins of the chosen sensor, and removes what belongs to another sensor or skin. */
  offer(skins) {
    const { sensor, skins: chosen } = this.state();
    if (this.skins !== skins) this.select.replaceChildren(...skins.map((skin) => new Option(NAMES[skin] ?? skin, skin)));
    this.skins = skins;
    this.select.value = chosen[this.slot].skin;
    const of = `${sensor} ${this.select.value}`;
    if (of !== this.of) {
      Object.assign(this, { of, sensor: null, sliders: [] });
      this.controls.replaceChildren();
      this.readings.replaceChildren();
    }
    for (const slider of this.sliders) slider.set(chosen[this.slot][slider.key] ?? slider.own);
  }

  /** Shows the controls of a new sensor. */
  built(sensor) {
    this.sensor = sensor;
    this.builtFrom = JSON.stringify(this.state().skins[this.slot]);
    const mine = () => this.state().skins[this.slot];
    const keys = CONTROLS.filter((key) => sensor.controls[key]);
    // A slider must not be replaced while it is dragged.
    if (this.sliders.map(({ key }) => key).join() === keys.join()) return;
    this.sliders = keys.map((key) => {
      const { label, unit, value, min, max } = sensor.controls[key];
      const range = key === "friction" ? { low: 0, high: 2, step: 0.01 } : { low: Number((value / 8).toPrecision(3)), high: Number((value * 8).toPrecision(3)), scale: "log" };
      const change = (to, dragged) => {
        mine()[key] = to;
        this.changed(this.slot, dragged);
      };
      const slider = new Slider({ id: `${key}-${this.slot}`, label, unit, min, max, ...range }, change, this.noted);
      Object.assign(slider, { key, own: value });
      slider.set(mine()[key] ?? value);
      return slider;
    });
    this.controls.replaceChildren(...this.sliders.map((slider) => slider.element));
  }

  /** The description of the sensor, if it is built with the present controls. */
  toml() {
    return this.builtFrom === JSON.stringify(this.state().skins[this.slot]) ? this.sensor?.toml : null;
  }

  /** Removes the reading, but not its layout. */
  clear() {
    for (const cell of this.readings.querySelectorAll("dd")) {
      cell.textContent = "–";
      delete cell.dataset.value;
    }
    this.warnings.replaceChildren();
    this.peak.textContent = this.legend.textContent = "";
    clearTactile(this.tactile);
    this.tactile.setAttribute("aria-label", "Tactile image: none yet");
  }

  /** Draws an answer; `peak` (N) is the end of the scale. */
  show(answer, peak) {
    drawTactile(this.tactile, this.sensor, answer, peak);
    const wide = answer.image != null;
    this.image.classList.toggle("wide", wide);
    this.scale.hidden = wide;
    this.legend.textContent = wide ? imageLegend(this.sensor.camera) : "";
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

/** What a camera image shows. */
function imageLegend({ pixels: [width, height], area_mm: [across, along], mirror }) {
  return `Camera image of ${short(across)} × ${short(along)} mm of the skin, ${width} × ${height} pixels; +x to the ${mirror ? "left" : "right"}, +y up. Colour and brightness are light from the dented surface, not force.`;
}
