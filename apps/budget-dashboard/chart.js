// Where the parts of a chart go. Numbers in, numbers and paths out; nothing here knows the page.

/** A round number that nothing is larger than, and the steps up to it. */
export function scale(largest, steps = 4) {
  if (!(largest > 0)) return { top: 1, ticks: [0, 1] };
  const rough = largest / steps;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].find((each) => each * power >= rough) * power;
  const count = Math.ceil(largest / step - 1e-9);
  const ticks = Array.from({ length: count + 1 }, (_, at) =>
    Number((at * step).toPrecision(12)),
  );
  return { top: ticks.at(-1), ticks };
}

/** Stacked bars: for each column its parts from the bottom up. Parts below zero have no height. */
export function bars(columns, { width, height, top, gap = 0.3 }) {
  const step = width / Math.max(1, columns.length);
  const thick = Math.min(step * (1 - gap), 72);
  return columns.map((parts, at) => {
    const x = at * step + (step - thick) / 2;
    let y = height;
    return parts.map((value) => {
      const tall = Math.max(0, (value / top) * height);
      y -= tall;
      return { x, y, width: thick, height: tall };
    });
  });
}

/** Points in the middle of their columns. */
export function points(values, { width, height, top }) {
  const step = width / Math.max(1, values.length);
  return values.map((value, at) => ({
    x: step * (at + 0.5),
    y: height - Math.max(0, (value / top) * height),
  }));
}

export function pathOf(list) {
  return list
    .map(({ x, y }, at) => `${at === 0 ? "M" : "L"}${round(x)} ${round(y)}`)
    .join("");
}

/** Slices of a ring from twelve o'clock on; what is not above zero has none. */
export function slices(values, { radius, hole }) {
  const whole = values.reduce((sum, value) => sum + Math.max(0, value), 0);
  let from = 0;
  return values.map((value) => {
    const share = whole > 0 ? Math.max(0, value) / whole : 0;
    const to = from + share;
    const path = share === 0 ? "" : ring(from, to, radius, hole);
    from = to;
    return { share, path };
  });
}

function ring(from, to, radius, hole) {
  // A whole circle has the same first and last point, which draws nothing.
  const end = Math.min(to, from + 0.99999);
  const large = end - from > 0.5 ? 1 : 0;
  const at = (part, distance) => {
    const angle = (part - 0.25) * 2 * Math.PI;
    return `${round(Math.cos(angle) * distance)} ${round(Math.sin(angle) * distance)}`;
  };
  return `M${at(from, radius)}A${radius} ${radius} 0 ${large} 1 ${at(end, radius)}L${at(end, hole)}A${hole} ${hole} 0 ${large} 0 ${at(from, hole)}Z`;
}

const round = (value) => Math.round(value * 100) / 100;
