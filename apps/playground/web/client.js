// Sends requests to the worker; every call returns a promise.

/** Time (ms) in which a worker must load, and in which it must answer: a gel on a slow machine takes minutes. */
const LOAD_MS = 60e3;
const ANSWER_MS = 600e3;

/** The worker has ended without an answer, because it failed or was cancelled. */
export class Ended extends Error {
  constructor(message, cancelled = false) {
    super(message);
    this.cancelled = cancelled;
  }
}

/** Manages the worker that runs the engine; the next request starts another one after it has ended. */
export class Client {
  #worker = null;
  #waiting = new Map();
  #next = 0;
  #watchdog = 0;

  /** `ended()` is called when the worker has ended, with everything that it held. */
  constructor(ended) {
    this.ended = ended;
  }

  /** Answers in the order of the requests, each `{request, bytes?}`; throws `Ended`. */
  ask(requests) {
    this.#worker ??= this.#start();
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      this.#worker.postMessage({ id, requests });
      if (!this.#watchdog) this.#watch(ANSWER_MS, "has not answered for ten minutes");
    });
  }

  /** Ends the worker and all requests. */
  cancel() {
    this.#end(new Ended("cancelled", true));
  }

  #start() {
    const worker = new Worker("worker.js", { type: "module" });
    const mine = (listen) => (event) => this.#worker === worker && listen(event);
    worker.onmessage = mine(({ data }) => this.#receive(data));
    // Chromium's workers have no `onmessageerror`.
    worker.addEventListener("messageerror", mine(() => this.#fail("sent an answer that cannot be read")));
    worker.onerror = mine((event) => {
      event.preventDefault();
      this.#fail(event.message ? `has failed (${event.message})` : "could not be loaded");
    });
    this.#watch(LOAD_MS, "has not loaded within a minute");
    return worker;
  }

  #receive({ id, answers, failed, loaded }) {
    if (failed) return this.#fail(`could not be loaded (${failed})`);
    clearTimeout(this.#watchdog);
    this.#watchdog = 0;
    if (!loaded) {
      this.#waiting.get(id)?.resolve(answers);
      this.#waiting.delete(id);
      if (answers.some((answer) => answer.broken)) return this.#end(new Ended("cancelled", true));
    }
    if (this.#waiting.size) this.#watch(ANSWER_MS, "has not answered for ten minutes");
  }

  #watch(ms, what) {
    clearTimeout(this.#watchdog);
    this.#watchdog = setTimeout(() => this.#fail(what), ms);
  }

  #fail(what) {
    this.#end(new Ended(`The worker of the page, which computes, ${what}.`));
  }

  #end(error) {
    clearTimeout(this.#watchdog);
    this.#watchdog = 0;
    this.#worker?.terminate();
    this.#worker = null;
    const waiting = [...this.#waiting.values()];
    this.#waiting.clear();
    this.ended();
    waiting.forEach(({ reject }) => reject(error));
  }
}
