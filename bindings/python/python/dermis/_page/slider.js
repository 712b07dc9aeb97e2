// A slider with a name, a number that can be typed, and a unit.

/** Builds `label, range, number, unit`; `scale` may be "log". */
export class Slider {
  constructor({ id, label, unit, low, high, step, scale = "linear" }, changed) {
    Object.assign(this, { scale, unit, value: low });
    const element = (name, properties) => Object.assign(document.createElement(name), properties);
    this.element = element("div", { className: "slider" });
    this.input = element("input", { type: "range", id });
    this.number = element("input", { type: "number", id: `${id}-number`, step: "any", ariaLabel: unit ? `${label} (${unit})` : label });
    this.element.append(
      element("label", { htmlFor: id, textContent: label }), this.input, this.number, element("span", { className: "unit", textContent: unit }),
    );
    this.range(low, high, step);
    this.input.addEventListener("input", () => {
      this.set(this.#fromPlace(Number(this.input.value)));
      changed(this.value);
    });
    this.number.addEventListener("change", () => {
      const typed = this.number.value === "" ? NaN : Number(this.number.value);
      const value = this.#allowed(typed);
      this.set(value);
      // Also while it has the focus: a refused number must not stay.
      this.number.value = this.#text();
      changed(value);
    });
  }

  range(low, high, step) {
    Object.assign(this, { low, high, step });
    Object.assign(this.input, this.scale === "log" ? { min: 0, max: 1, step: 0.005 } : { min: low, max: high, step });
  }

  set(value) {
    this.value = value;
    this.input.value = this.scale === "log" ? Math.log(value / this.low) / Math.log(this.high / this.low) : value;
    this.input.setAttribute("aria-valuetext", this.unit ? `${this.#text()} ${this.unit}` : this.#text());
    if (document.activeElement !== this.number) this.number.value = this.#text();
  }

  /** A typed number within the range; on a logarithmic scale, whose range is a guess, any positive one. */
  #allowed(typed) {
    if (!Number.isFinite(typed)) return this.value;
    if (this.scale === "log") return typed > 0 ? typed : this.value;
    return Math.min(this.high, Math.max(this.low, typed));
  }

  #fromPlace(place) {
    if (this.scale !== "log") return place;
    return Number((this.low * (this.high / this.low) ** place).toPrecision(3));
  }

  #text() {
    return String(Number(this.value.toPrecision(5)));
  }
}
