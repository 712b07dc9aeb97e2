// The other side of src/wasm.rs: questions in, answers and arrays out.

const KINDS = { f32: Float32Array, i32: Int32Array, u8: Uint8Array };

/** Loads the skins; returns a function (question, bytes?) → answer with typed arrays. */
export async function loadEngine(url) {
  const reply = await fetch(url);
  if (!reply.ok) throw new Error(await missing(reply));
  const { instance } = await WebAssembly.instantiate(await unpacked(await reply.arrayBuffer()), {});
  return (question, bytes) => ask(instance.exports, question, bytes);
}

/** What was packed by gzip, unless the server has told the browser to unpack it. */
async function unpacked(bytes) {
  const [first, second] = new Uint8Array(bytes, 0, 2);
  if (first !== 0x1f || second !== 0x8b) return bytes;
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
}

async function missing(reply) {
  const text = (await reply.text()).trim();
  return text || `the skins could not be loaded (${reply.status})`;
}

function ask(exports, question, bytes = new Uint8Array()) {
  const text = new TextEncoder().encode(JSON.stringify(question));
  const room = exports.dermis_room(text.length, bytes.length);
  const memory = new Uint8Array(exports.memory.buffer);
  memory.set(text, room);
  memory.set(bytes, room + text.length);
  exports.dermis_answer();
  const at = (which) => exports.dermis_place(which);
  const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(exports.memory.buffer, at(0), at(1))));
  // A copy: the next question reuses the memory.
  const block = exports.memory.buffer.slice(at(2), at(2) + at(3));
  const arrays = {};
  for (const [name, [kind, start, length]] of Object.entries(answer.arrays ?? {})) {
    const Kind = KINDS[kind];
    arrays[name] = new Kind(block, start, length / Kind.BYTES_PER_ELEMENT);
  }
  return { ...answer, arrays };
}
