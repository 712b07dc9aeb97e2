// Number formatting, and reading of typed numbers.

/** Three significant digits, down to a thousandth. */
export function short(value) {
  const size = Math.abs(value);
  if (size < 5e-4) return "0";
  if (size >= 1e6) return value.toExponential(2);
  return value.toFixed(Math.min(3, Math.max(0, 2 - Math.floor(Math.log10(size)))));
}

/** Reads a typed number; a comma is read as a decimal point. Returns its value, null if it is none, and what is to be said about it. */
export function decimal(typed) {
  const text = typed.trim().replace("−", "-");
  const pointed = text.replace(/^([-+]?\d*),(\d+)$/, "$1.$2");
  const value = Number(pointed);
  if (text === "") return { value: null };
  if (!Number.isFinite(value)) return { value: null, note: `“${typed}” is no number and is left out` };
  return pointed === text ? { value } : { value, note: `“${typed}” is read as ${value}: write a decimal point` };
}
