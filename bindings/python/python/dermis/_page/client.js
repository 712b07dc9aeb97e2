// Sends requests to the worker; every call returns a promise.

/** Manages the worker that runs the engine; restarts it after a failure. */
export class Client {
  #worker = null;
  #waiting = new Map();
  #next = 0;

  /** Answers in the order of the requests, each `{request, bytes?}`. */
  ask(requests) {
    this.#worker ??= this.#start();
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#worker.postMessage({ id, requests });
    });
  }

  #start() {
    const worker = new Worker("worker.js", { type: "module" });
    worker.onmessage = ({ data: { id, answers } }) => {
      this.#waiting.get(id)?.(answers);
      this.#waiting.delete(id);
      if (answers.some((answer) => answer.broken)) {
        worker.terminate();
        if (this.#worker === worker) this.#worker = null;
      }
    };
    return worker;
  }
}
