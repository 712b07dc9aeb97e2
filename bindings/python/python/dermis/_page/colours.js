// The colour map of dermis's images: points in Oklab with a smooth curve through them, lightness linear in the value.

const EMBER = [
  [0.17, 0.0, -0.052], [0.328, 0.046, -0.122], [0.486, 0.132, -0.078],
  [0.644, 0.162, 0.05], [0.802, 0.074, 0.136], [0.96, -0.022, 0.098],
];

function fromOklab([lightness, a, b]) {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const linear = [
    4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s,
    -1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s,
    -0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s,
  ];
  const encode = (x) => (x <= 0.0031308 ? 12.92 * x : 1.055 * x ** (1 / 2.4) - 0.055);
  return linear.map((x) => Math.round(255 * Math.min(1, Math.max(0, encode(Math.max(0, x))))));
}

function along(points, value) {
  const place = Math.min(1, Math.max(0, value)) * (points.length - 1);
  const left = Math.min(Math.floor(place), points.length - 2);
  const t = place - left;
  return fromOklab([0, 1, 2].map((k) => {
    const [b, c] = [points[left][k], points[left + 1][k]];
    const a = left === 0 ? 2 * b - c : points[left - 1][k];
    const d = left + 2 === points.length ? 2 * c - b : points[left + 2][k];
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
  }));
}

const TABLE = Array.from({ length: 256 }, (_, i) => along(EMBER, i / 255));

/** The colour (0–255) of a value between 0 and 1. */
export function ember(value) {
  return TABLE[Math.round(255 * Math.min(1, Math.max(0, value || 0)))];
}

/** The colour of an unloaded taxel. */
export const UNTOUCHED = [52, 56, 64];

/** The colour of a taxel: unloaded, or from dark to light. */
export function pressed(value, peak) {
  return value > 0 && peak > 0 ? ember(0.15 + (0.85 * value) / peak) : UNTOUCHED;
}

/** Colours of bodies. */
export const PALETTE = [[31, 98, 171], [219, 109, 23], [15, 145, 116], [176, 48, 105], [96, 176, 226], [110, 86, 168]];
