// Procedural meshes.

import { cross, normalized, plus, times } from "./algebra.js";

/** A box from corner to corner. */
export function box(low, high) {
  const corner = (k) => [k & 1 ? high[0] : low[0], k & 2 ? high[1] : low[1], k & 4 ? high[2] : low[2]];
  const positions = new Float32Array([0, 1, 2, 3, 4, 5, 6, 7].flatMap(corner));
  const quads = [[0, 2, 3, 1], [4, 5, 7, 6], [0, 1, 5, 4], [2, 6, 7, 3], [0, 4, 6, 2], [1, 3, 7, 5]];
  return { positions, triangles: Int32Array.from(quads.flatMap(([a, b, c, d]) => [a, b, c, a, c, d])) };
}

/** The sides of a box, without its top and bottom. */
export function walls(low, high) {
  const { positions, triangles } = box(low, high);
  return { positions, triangles: triangles.subarray(12) };
}

/** An arrow from a point along a vector. */
export function arrow(from, along, radius) {
  const size = Math.hypot(...along);
  const axis = times(along, 1 / size);
  const side = normalized(cross(axis, Math.abs(axis[2]) < 0.9 ? [0, 0, 1] : [1, 0, 0]));
  const other = cross(axis, side);
  const neck = Math.max(0, size - 5 * radius);
  const rings = [[0, radius], [neck, radius], [neck, 2.6 * radius], [size, 0]];
  const count = 16;
  const positions = [];
  const triangles = [];
  for (const [height, width] of rings) {
    for (let i = 0; i < count; i++) {
      const angle = (2 * Math.PI * i) / count;
      const out = plus(times(side, width * Math.cos(angle)), times(other, width * Math.sin(angle)));
      positions.push(...plus(plus(from, times(axis, height)), out));
    }
  }
  for (let ring = 0; ring + 1 < rings.length; ring++) {
    for (let i = 0; i < count; i++) {
      const [a, b] = [ring * count + i, ring * count + ((i + 1) % count)];
      triangles.push(a, b, b + count, a, b + count, a + count);
    }
  }
  return { positions: new Float32Array(positions), triangles: Int32Array.from(triangles) };
}

/** Triangles over a grid of points. */
export function gridTriangles(rows, cols) {
  const triangles = new Int32Array(6 * (rows - 1) * (cols - 1));
  let at = 0;
  for (let row = 0; row + 1 < rows; row++) {
    for (let col = 0; col + 1 < cols; col++) {
      const i = row * cols + col;
      triangles.set([i, i + cols, i + cols + 1, i, i + cols + 1, i + 1], at);
      at += 6;
    }
  }
  return triangles;
}
