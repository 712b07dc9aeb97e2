// A slider with a name, a value and a unit.

import { short } from "./format.js";

let count = 0;

/** Builds `label, range, value with unit`; `scale` may be "log". */
export class Slider {
  constructor({ id, label, unit, low, high, step, scale = "linear" }, changed) {
    this.scale = scale;
    this.unit = unit;
    this.element = document.createElement("div");
    this.element.className = "slider";
    const name = document.createElement("label");
    this.input = document.createElement("input");
    this.output = document.createElement("output");
    this.input.type = "range";
    this.input.id = id ?? `slider-${count++}`;
    name.htmlFor = this.output.htmlFor = this.input.id;
    name.textContent = label;
    this.element.append(name, this.input, this.output);
    this.range(low, high, step);
    this.input.addEventListener("input", () => {
      const value = this.#fromPlace(Number(this.input.value));
      this.#show(value);
      changed(value);
    });
  }

  range(low, high, step) {
    this.low = low;
    this.high = high;
    this.step = step;
    const log = this.scale === "log";
    Object.assign(this.input, log ? { min: 0, max: 1, step: 0.005 } : { min: low, max: high, step });
  }

  set(value) {
    this.input.value = this.scale === "log" ? Math.log(value / this.low) / Math.log(this.high / this.low) : value;
    this.#show(value);
  }

  #fromPlace(place) {
    if (this.scale !== "log") return place;
    return Number((this.low * (this.high / this.low) ** place).toPrecision(3));
  }

  #show(value) {
    const text = this.scale === "log" ? short(value) : String(value);
    this.output.textContent = this.unit ? `${text} ${this.unit}` : text;
    this.input.setAttribute("aria-valuetext", this.output.textContent);
  }
}
