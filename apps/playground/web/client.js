// Asks the worker; every call is a promise.

/** A worker with the skins in it. Starts another when one breaks. */
export class Client {
  #worker = null;
  #waiting = new Map();
  #next = 0;

  /** Answers in the order of the questions, each `{question, bytes?}`. */
  ask(questions) {
    this.#worker ??= this.#start();
    const id = this.#next++;
    return new Promise((resolve) => {
      this.#waiting.set(id, resolve);
      this.#worker.postMessage({ id, questions });
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
