// Renders in step with the screen, and adapts the resolution to the speed of the machine.

/** Frame time (ms) above which the resolution is reduced during motion. */
const SLOW_MS = 22;
/** Time (ms) without motion after which the full resolution is rendered. */
const STILL_MS = 200;
/** Lowest resolution, relative to the screen. */
const MIN_RESOLUTION = 0.4;
/** Resolution of a still scene: above the screen's, to smooth edges. */
const STILL_RESOLUTION = 1.75;

/** Calls `render` at most once per screen frame and sets `scene.resolution`. */
export class AdaptiveResolution {
  #pending = false;
  #last = 0;
  #moving = 1;
  #timer = 0;

  constructor(scene, render) {
    Object.assign(this, { scene, render });
  }

  draw() {
    if (this.#pending) return;
    this.#pending = true;
    requestAnimationFrame((now) => {
      this.#pending = false;
      const elapsed = now - this.#last;
      this.#last = now;
      // Consecutive frames measure the frame time; a pause does not.
      if (elapsed < STILL_MS) this.#moving = elapsed > SLOW_MS ? Math.max(MIN_RESOLUTION, this.#moving * 0.85) : Math.min(1, this.#moving * 1.02);
      this.#now(this.#moving);
      clearTimeout(this.#timer);
      const fine = (globalThis.devicePixelRatio || 1) < 2 ? STILL_RESOLUTION : 1;
      this.#timer = setTimeout(() => this.#now(fine), STILL_MS);
    });
  }

  #now(resolution) {
    this.scene.resolution = resolution;
    this.render();
  }
}
