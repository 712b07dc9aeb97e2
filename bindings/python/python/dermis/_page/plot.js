// Plots forces over time.

import { PALETTE } from "./colours.js";

/** Draws lines over time: `times` (s), and for each of `names` its `values` (N). */
export function drawPlot(canvas, times, lines, names, duration, dark) {
  const ratio = Math.min(2, globalThis.devicePixelRatio || 1);
  const [width, height] = [canvas.clientWidth, canvas.clientHeight];
  Object.assign(canvas, { width: width * ratio, height: height * ratio });
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  const [ink, faint] = dark ? ["#a0a8b5", "#323945"] : ["#5b636f", "#e2e5ea"];
  const [left, right, top, bottom] = [52, 12, 26, 30];
  const last = Math.max(times.at(-1) ?? 0, Math.min(duration, 1));
  const forces = ticks(Math.max(1e-3, ...lines.flat()), Math.ceil);
  const maximum = forces.at(-1).value;
  const x = (t) => left + (t / last) * (width - left - right);
  const y = (f) => height - bottom - (f / maximum) * (height - top - bottom);
  context.font = "12px system-ui, sans-serif";
  context.lineWidth = 1;
  context.textAlign = "right";
  for (const { value, label } of forces) {
    context.strokeStyle = faint;
    line(context, [[left, y(value)], [width - right, y(value)]]);
    context.fillStyle = ink;
    context.fillText(label, left - 6, y(value) + 4);
  }
  context.textAlign = "center";
  for (const { value, label } of ticks(last, Math.floor)) {
    context.fillText(`${label} s`, Math.min(width - right - 12, x(value)), height - 10);
  }
  context.textAlign = "left";
  context.fillText("Sum of the taxels (N)", left, 14);
  let at = left + 150;
  lines.forEach((values, k) => {
    const colour = `rgb(${PALETTE[k % PALETTE.length].map((part) => (dark ? Math.min(255, part + 60) : part)).join(" ")})`;
    context.strokeStyle = context.fillStyle = colour;
    context.lineWidth = 2;
    line(context, values.map((value, i) => [x(times[i]), y(value)]));
    context.fillRect(at, 8, 14, 3);
    context.fillText(names[k], at + 20, 14);
    at += 40 + context.measureText(names[k]).width;
  });
}

function line(context, points) {
  context.beginPath();
  points.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.stroke();
}

/**
 * About four multiples of 1, 2 or 5 times a power of ten, from 0 to `top` rounded to a multiple by `round`; the labels have
 * as many decimals as the step needs.
 */
export function ticks(top, round) {
  const power = 10 ** Math.floor(Math.log10(top / 4));
  const step = power * [1, 2, 5, 10].find((factor) => factor * power >= (top / 4) * (1 - 1e-9));
  const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
  const count = round(top / step + (round === Math.ceil ? -1e-9 : 1e-9));
  return Array.from({ length: count + 1 }, (_, i) => ({ value: i * step, label: (i * step).toFixed(decimals) }));
}
