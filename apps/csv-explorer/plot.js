// Draws a view's columns as SVG: histogram, bars, line or dots.
import { numberOf } from "./csv.js";

const EDGE = { left: 56, right: 12, top: 10, bottom: 34 };
const BARS = 14;
const NS = "http://www.w3.org/2000/svg";

export const KINDS = ["histogram", "bars", "line", "scatter"];

function make(tag, attributes = {}, text) {
  const element = document.createElementNS(NS, tag);
  for (const [name, value] of Object.entries(attributes))
    element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}

const numbers = new Intl.NumberFormat(undefined, {
  maximumSignificantDigits: 4,
  notation: "compact",
});
const short = (value) => numbers.format(value);

/** Round numbers between two others, about `count` of them. */
export function ticks(from, to, count) {
  if (!(to > from)) return [from];
  const rough = (to - from) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10]
    .map((factor) => factor * power)
    .find((each) => each >= rough);
  const first = Math.ceil(from / step);
  const last = Math.floor(to / step + 1e-6);
  // Counted, not added up: far from zero a small step changes nothing.
  const found = [];
  for (let at = 0; at <= Math.min(last - first, 3 * count); at += 1) {
    found.push((first + at) * step);
  }
  return found;
}

function scale(from, to, start, end) {
  const span = to - from || 1;
  return (value) => start + ((value - from) / span) * (end - start);
}

/** An SVG, or a sentence that says why there is none. */
export function draw(view, plot, width, height) {
  const column = (name) => view.columns.find((each) => each.name === name);
  const x = column(plot.x);
  const y = column(plot.y);
  if (!x) return "Choose a column to plot.";
  if (view.length === 0) return "No row matches.";
  const { kind } = plot;
  if (kind === "line" || kind === "scatter") {
    if (!y) return "Choose a second column for the height.";
    return points(view, x, y, kind, { width, height });
  }
  if (kind === "histogram" && x.type === "number")
    return histogram(x, { width, height });
  return bars(x, { width, height });
}

function frame(label, { width, height }) {
  const svg = make("svg", {
    viewBox: `0 0 ${width} ${height}`,
    role: "img",
    "aria-label": label,
  });
  svg.append(make("title", {}, label));
  return svg;
}

function axes(svg, xs, ys, toX, toY, names, { width, height }) {
  for (const tick of ys) {
    svg.append(
      make("line", {
        class: "rule",
        x1: EDGE.left,
        x2: width - EDGE.right,
        y1: toY(tick),
        y2: toY(tick),
      }),
      make(
        "text",
        {
          class: "tick",
          x: EDGE.left - 6,
          y: toY(tick) + 4,
          "text-anchor": "end",
        },
        short(tick),
      ),
    );
  }
  for (const tick of xs) {
    svg.append(
      make(
        "text",
        {
          class: "tick",
          x: toX(tick),
          y: height - EDGE.bottom + 15,
          "text-anchor": "middle",
        },
        short(tick),
      ),
    );
  }
  const middle = (EDGE.left + width - EDGE.right) / 2;
  svg.append(
    make(
      "text",
      { class: "name", x: middle, y: height - 4, "text-anchor": "middle" },
      names.slice(0, 80),
    ),
  );
}

function histogram(x, size) {
  const ranges = x.histogram.ranges();
  const [from, to] = [ranges[0].from, ranges.at(-1).to];
  const most = Math.max(...ranges.map(({ count }) => count));
  const toX = scale(from, to, EDGE.left, size.width - EDGE.right);
  const toY = scale(0, most, size.height - EDGE.bottom, EDGE.top);
  const svg = frame(
    `Histogram of ${x.name}: ${x.numbers} values from ${short(x.min)} to ${short(x.max)}`,
    size,
  );
  const below = ticks(from, to, size.width / 80);
  axes(svg, below, ticks(0, most, 4), toX, toY, x.name, size);
  for (const range of ranges) {
    const bar = make("rect", {
      class: "bar",
      x: toX(range.from) + 0.5,
      y: toY(range.count),
      width: Math.max(1, toX(range.to) - toX(range.from) - 1),
      height: Math.max(0, toY(0) - toY(range.count)),
    });
    bar.append(
      make(
        "title",
        {},
        `${short(range.from)} to ${short(range.to)}: ${range.count}`,
      ),
    );
    svg.append(bar);
  }
  return svg;
}

function bars(x, size) {
  const top = x.top(BARS);
  const most = Math.max(...top.map(([, count]) => count), 1);
  const left = Math.min(150, size.width * 0.3);
  const step = (size.height - 12) / Math.max(top.length, 6);
  const toX = scale(0, most, left, size.width - 70);
  const svg = frame(
    `Most frequent values of ${x.name}: ${top
      .slice(0, 3)
      .map(([value, count]) => `${value.slice(0, 40)} ${count}`)
      .join(", ")}`,
    size,
  );
  top.forEach(([value, count], at) => {
    const y = 6 + at * step;
    const room = Math.floor(left / 7);
    const label = value.length > room ? `${value.slice(0, room - 1)}…` : value;
    const name = make(
      "text",
      { class: "tick", x: left - 8, y: y + step / 2 + 4, "text-anchor": "end" },
      label,
    );
    name.append(make("title", {}, value.slice(0, 300)));
    svg.append(
      name,
      make("rect", {
        class: "bar",
        x: left,
        y: y + 1,
        width: Math.max(1, toX(count) - left),
        height: Math.max(1, step - 3),
        rx: 2,
      }),
      make(
        "text",
        { class: "tick", x: toX(count) + 6, y: y + step / 2 + 4 },
        short(count),
      ),
    );
  });
  return svg;
}

function points(view, x, y, kind, size) {
  const [atX, atY] = [view.columns.indexOf(x), view.columns.indexOf(y)];
  const dots = view.sample
    .map((row, index) => {
      const number = numberOf(row[atX] ?? "");
      // Dates and names are in the order of their rows.
      return [x.type === "number" ? number : index, numberOf(row[atY] ?? "")];
    })
    .filter(([a, b]) => Number.isFinite(a) && Number.isFinite(b));
  if (dots.length === 0) return `${y.name} has no numbers to plot.`;
  if (kind === "line") dots.sort((a, b) => a[0] - b[0]);
  let [fromX, toXMost, fromY, toYMost] = [
    Infinity,
    -Infinity,
    Infinity,
    -Infinity,
  ];
  for (const [a, b] of dots) {
    fromX = Math.min(fromX, a);
    toXMost = Math.max(toXMost, a);
    fromY = Math.min(fromY, b);
    toYMost = Math.max(toYMost, b);
  }
  const toX = scale(fromX, toXMost, EDGE.left + 4, size.width - EDGE.right - 4);
  const toY = scale(
    fromY,
    toYMost,
    size.height - EDGE.bottom - 4,
    EDGE.top + 4,
  );
  const part =
    dots.length < view.length ? `, ${dots.length} of ${view.length} rows` : "";
  const svg = frame(`${y.name} by ${x.name}${part}`, size);
  const below =
    x.type === "number" ? ticks(fromX, toXMost, size.width / 80) : [];
  axes(
    svg,
    below,
    ticks(fromY, toYMost, 4),
    toX,
    toY,
    `${y.name} by ${x.name}${part}`,
    size,
  );
  const place = ([a, b]) => `${toX(a).toFixed(1)},${toY(b).toFixed(1)}`;
  if (kind === "line")
    svg.append(
      make("polyline", { class: "path", points: dots.map(place).join(" ") }),
    );
  else {
    const d = dots.map((dot) => `M${place(dot)}h0`).join("");
    svg.append(make("path", { class: "dots", d }));
  }
  return svg;
}
