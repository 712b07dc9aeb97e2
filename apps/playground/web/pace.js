// Draws when the screen is ready, and coarser where a machine cannot keep up.

/** An image that takes longer (ms) than this is drawn coarser while things move. */
const SLOW_MS = 22;
/** After so long (ms) without motion it is drawn sharp. */
const STILL_MS = 200;
/** The coarsest that is drawn. */
const COARSEST = 0.4;
/** What does not move is drawn finer than the screen, which smooths its edges. */
const FINEST = 1.75;

/** Calls `render` at most once an image; `scene.sharpness` follows what the machine can do. */
export class Pace {
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
      const apart = now - this.#last;
      this.#last = now;
      // Images that follow each other at once tell how long one takes; a pause tells nothing.
      if (apart < STILL_MS) this.#moving = apart > SLOW_MS ? Math.max(COARSEST, this.#moving * 0.85) : Math.min(1, this.#moving * 1.02);
      this.#now(this.#moving);
      clearTimeout(this.#timer);
      const fine = (globalThis.devicePixelRatio || 1) < 2 ? FINEST : 1;
      this.#timer = setTimeout(() => this.#now(fine), STILL_MS);
    });
  }

  #now(sharpness) {
    this.scene.sharpness = sharpness;
    this.render();
  }
}
