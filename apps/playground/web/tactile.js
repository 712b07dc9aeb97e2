// Tactile images on a canvas: a camera's image, a grid of taxels, or dots where taxels have no grid.

import { ember, pressed } from "./colours.js";

/** Draws the reading of a sensor; `peak` (N) fixes the colour scale. */
export function drawTactile(canvas, sensor, answer, peak) {
  if (answer.image) return drawImage(canvas, answer.image, answer.arrays.image);
  const values = answer.arrays.values;
  if (sensor.size) return drawGrid(canvas, sensor.size, values, peak);
  drawDots(canvas, sensor, values, peak);
}

/** An image of `[width, height]` pixels, four bytes each. */
export function drawImage(canvas, [width, height], pixels) {
  resize(canvas, width, height);
  canvas.classList.remove("pixelated");
  const image = new ImageData(new Uint8ClampedArray(pixels.buffer, pixels.byteOffset, pixels.length), width, height);
  canvas.getContext("2d").putImageData(image, 0, 0);
}

/** Removes the image; the canvas keeps its size. */
export function clearTactile(canvas) {
  canvas.getContext("2d").clearRect(0, 0, canvas.width, canvas.height);
}

function drawGrid(canvas, [rows, cols], values, peak) {
  const cell = Math.max(8, Math.floor(360 / Math.max(rows, cols)));
  const gap = 1;
  resize(canvas, cols * cell, rows * cell);
  canvas.classList.add("pixelated");
  const context = canvas.getContext("2d");
  context.fillStyle = "#0d1017";
  context.fillRect(0, 0, canvas.width, canvas.height);
  for (let i = 0; i < rows * cols; i++) {
    context.fillStyle = css(pressed(values[i], peak));
    context.fillRect((i % cols) * cell + gap, Math.floor(i / cols) * cell + gap, cell - 2 * gap, cell - 2 * gap);
  }
}

function drawDots(canvas, { arrays: { taxels }, low_mm: low, high_mm: high }, values, peak) {
  const [width, height] = [high[0] - low[0], high[1] - low[1]];
  const scale = 320 / Math.max(width, height);
  const margin = 14;
  resize(canvas, Math.round(width * scale) + 2 * margin, Math.round(height * scale) + 2 * margin);
  canvas.classList.remove("pixelated");
  const context = canvas.getContext("2d");
  context.fillStyle = "#0d1017";
  context.fillRect(0, 0, canvas.width, canvas.height);
  const count = values.length;
  const radius = Math.min(12, Math.max(3, 0.42 * scale * Math.sqrt((width * height) / count)));
  // The largest values are drawn last, on top.
  const order = Array.from(values.keys()).sort((a, b) => values[a] - values[b]);
  for (const i of order) {
    context.fillStyle = css(pressed(values[i], peak));
    context.beginPath();
    const x = margin + (taxels[2 * i] - low[0]) * scale;
    const y = margin + (high[1] - taxels[2 * i + 1]) * scale;
    context.arc(x, y, radius, 0, 2 * Math.PI);
    context.fill();
  }
}

/** Draws the colour scale from zero to `peak`. */
export function drawScale(canvas) {
  resize(canvas, 128, 1);
  const context = canvas.getContext("2d");
  for (let x = 0; x < 128; x++) {
    context.fillStyle = css(ember(0.15 + (0.85 * x) / 127));
    context.fillRect(x, 0, 1, 1);
  }
}

/** Shows the warnings of a reading; an unchanged list is left alone, so that a screen reader says it once. */
export function listWarnings(list, reading, ...more) {
  const warnings = [...reading.warnings, ...more];
  if ([...list.children].map((item) => item.textContent).join("\n") === warnings.join("\n")) return;
  list.replaceChildren(...warnings.map((text) => Object.assign(document.createElement("li"), { textContent: text })));
}

function resize(canvas, width, height) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
}

function css([r, g, b]) {
  return `rgb(${r} ${g} ${b})`;
}
