// A slider with a name, a number that can be typed, and a unit.

import { decimal } from "./format.js";
import { bounded } from "./state.js";

/** Builds `label, range, number, unit`; `scale` may be "log". A typed number may lie between `min` and `max`, by default the range. */
export class Slider {
  /** `changed(value, dragged)` is called after a change; `noted(text)` is told of a typed number that was not taken as it is. */
  constructor({ id, label, unit, low, high, step, scale = "linear", min = low, max = high }, changed, noted) {
    Object.assign(this, { scale, label, unit, min, max, value: low });
    const element = (name, properties) => Object.assign(document.createElement(name), properties);
    this.element = element("div", { className: "slider" });
    this.input = element("input", { type: "range", id });
    this.number = element("input", { type: "text", inputMode: "decimal", className: "number", autocomplete: "off", id: `${id}-number`, ariaLabel: unit ? `${label} (${unit})` : label });
    this.element.append(
      element("label", { htmlFor: id, textContent: label }), this.input, this.number, element("span", { className: "unit", textContent: unit }),
    );
    this.input.addEventListener("input", () => {
      this.set(this.#fromPlace(Number(this.input.value)));
      changed(this.value, true);
    });
    this.number.addEventListener("input", () => (this.isTyping = true));
    this.number.addEventListener("change", () => {
      this.isTyping = false;
      const { value: typed, note } = decimal(this.number.value);
      const { value, note: limit } = bounded(typed ?? this.value, this);
      this.set(value);
      changed(value, false);
      noted([note && `${label}: ${note}.`, limit].filter(Boolean).join(" "));
    });
    this.range(low, high, step);
  }

  /** Sets the range of the slider, and of what is typed. */
  range(low, high, step, min = this.min, max = this.max) {
    Object.assign(this, { low, high, step, min, max });
    Object.assign(this.input, this.scale === "log" ? { min: 0, max: 1, step: 0.005 } : { min: low, max: high, step });
  }

  set(value) {
    this.value = value;
    this.input.value = this.scale === "log" ? Math.log(value / this.low) / Math.log(this.high / this.low) : value;
    this.input.setAttribute("aria-valuetext", this.unit ? `${this.#text()} ${this.unit}` : this.#text());
    if (!this.isTyping) this.number.value = this.#text();
  }

  #fromPlace(place) {
    if (this.scale !== "log") return place;
    return Number((this.low * (this.high / this.low) ** place).toPrecision(3));
  }

  #text() {
    return String(Number(this.value.toPrecision(5)));
  }
}
