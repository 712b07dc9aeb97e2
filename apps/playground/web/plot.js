// Plots forces over time.

import { PALETTE } from "./colours.js";
import { short } from "./format.js";

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
  const maximum = niceTop(Math.max(1e-3, ...lines.flat()));
  const x = (t) => left + (t / last) * (width - left - right);
  const y = (f) => height - bottom - (f / maximum) * (height - top - bottom);
  context.font = "12px system-ui, sans-serif";
  context.lineWidth = 1;
  for (let i = 0; i <= 4; i++) {
    context.strokeStyle = faint;
    line(context, [[left, y((maximum * i) / 4)], [width - right, y((maximum * i) / 4)]]);
    context.fillStyle = ink;
    context.textAlign = "right";
    context.fillText(short((maximum * i) / 4), left - 6, y((maximum * i) / 4) + 4);
    context.textAlign = "center";
    context.fillText(`${short((last * i) / 4)} s`, Math.min(width - right - 12, x((last * i) / 4)), height - 10);
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

function niceTop(value) {
  const power = 10 ** Math.floor(Math.log10(value));
  return power * [1, 2, 4, 5, 8, 10].find((step) => step * power >= value * (1 - 1e-9));
}
