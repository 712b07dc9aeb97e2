// What stands in the place of a reading while there is none.

/** Time (ms) after which a computation is announced. */
const ANNOUNCED_MS = 150;

/** Announces a computation with a button that cancels it, or says why there is no reading, with a button that asks again. */
export class Waiting {
  #since = null;
  #cleared = false;
  #timer = 0;
  #clock = 0;

  /** `clear()` removes the earlier reading; `cancel()` and `again()` are what the button does. */
  constructor(element, { clear, cancel, again }) {
    Object.assign(this, { element, clear, cancel, again });
    [this.text, this.button] = [element.querySelector("span"), element.querySelector("button")];
    this.button.addEventListener("click", () => (this.#since === null ? this.again() : this.cancel()));
  }

  /** The shown state has no reading yet. The earlier one is removed after `lag_ms`, at once if that is 0. */
  begin(lag_ms) {
    this.#since ??= performance.now();
    if (!lag_ms) this.#clear();
    else if (!this.#cleared && !this.#timer) this.#timer = setTimeout(() => this.#clear(), lag_ms);
    if (!this.#clock) this.#clock = setInterval(() => this.#announce(), ANNOUNCED_MS);
  }

  /** The reading of the shown state is there. */
  end() {
    this.#stop();
    this.#cleared = false;
    this.element.hidden = true;
  }

  /** There will be no reading; without a label there is no button. */
  giveUp(text, label = "") {
    this.#clear();
    this.#stop();
    [this.text.textContent, this.button.textContent, this.button.hidden] = [text, label, !label];
    this.element.hidden = false;
  }

  #clear() {
    clearTimeout(this.#timer);
    this.#timer = 0;
    this.#cleared = true;
    this.clear();
  }

  #announce() {
    const elapsed_ms = performance.now() - this.#since;
    if (!this.#cleared || elapsed_ms < ANNOUNCED_MS) return;
    this.text.textContent = `computing… ${Math.floor(elapsed_ms / 1000)} s`;
    [this.button.textContent, this.button.hidden] = ["Cancel", false];
    this.element.hidden = false;
  }

  #stop() {
    clearTimeout(this.#timer);
    clearInterval(this.#clock);
    [this.#since, this.#timer, this.#clock] = [null, 0, 0];
  }
}
