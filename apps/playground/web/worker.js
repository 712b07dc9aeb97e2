// Runs the engine in a worker, so that the page stays responsive.

import { loadEngine } from "./engine.js";

const ready = loadEngine("dermis.wasm.gz");
ready.then(() => self.postMessage({ loaded: true }), (error) => self.postMessage({ failed: error.message }));

self.onmessage = async ({ data: { id, requests } }) => {
  // Without the engine nothing is answered: the page has been told.
  const ask = await ready.catch(() => null);
  if (!ask) return;
  const answers = [];
  const transfer = new Set();
  for (const { request, bytes } of requests) {
    let answer;
    try {
      const start = performance.now();
      answer = ask(request, bytes);
      answer.took_ms = performance.now() - start;
    } catch (error) {
      // A trap leaves the module unusable; the page starts another worker.
      answer = { error: error.message, broken: true, arrays: {} };
    }
    for (const array of Object.values(answer.arrays ?? {})) transfer.add(array.buffer);
    answers.push(answer);
  }
  self.postMessage({ id, answers }, [...transfer]);
};
