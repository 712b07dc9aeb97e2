// Number formatting.

/** Three significant digits, down to a thousandth. */
export function short(value) {
  const size = Math.abs(value);
  if (size < 5e-4) return "0";
  if (size >= 1e6) return value.toExponential(2);
  return value.toFixed(Math.min(3, Math.max(0, 2 - Math.floor(Math.log10(size)))));
}
