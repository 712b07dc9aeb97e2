// The JavaScript side of src/wasm.rs: sends requests, receives answers and arrays.

const KINDS = { f32: Float32Array, i32: Int32Array, u8: Uint8Array };

/** Loads the module; returns a function (request, bytes?) → answer with typed arrays. */
export async function loadEngine(url) {
  const reply = await fetch(url);
  if (!reply.ok) throw new Error(await failure(reply));
  const { instance } = await WebAssembly.instantiate(await unpacked(await reply.arrayBuffer()), {});
  return (request, bytes) => ask(instance.exports, request, bytes);
}

/** Decompresses gzip data, unless the browser already did. */
async function unpacked(bytes) {
  const [first, second] = new Uint8Array(bytes, 0, 2);
  if (first !== 0x1f || second !== 0x8b) return bytes;
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function failure(reply) {
  const text = (await reply.text()).trim();
  return text || `the WebAssembly module could not be loaded (${reply.status})`;
}

function ask(exports, request, bytes = new Uint8Array()) {
  const text = new TextEncoder().encode(JSON.stringify(request));
  const input = exports.dermis_input(text.length, bytes.length);
  const memory = new Uint8Array(exports.memory.buffer);
  memory.set(text, input);
  memory.set(bytes, input + text.length);
  exports.dermis_answer();
  const at = (which) => exports.dermis_output(which);
  const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, at(0), at(1))));
  // A copy, because the next request reuses the memory.
  const block = exports.memory.buffer.slice(at(2), at(2) + at(3));
  const arrays = {};
  for (const [name, [kind, start, length]] of Object.entries(answer.arrays ?? {})) {
    const Kind = KINDS[kind];
    arrays[name] = new Kind(block, start, length / Kind.BYTES_PER_ELEMENT);
  }
  return { ...answer, arrays };
}
