// Draws the chart and its legend.
import { bars, pathOf, points, scale, slices } from "./chart.js";
import { monthOf, months, totals } from "./expenses.js";

const HEIGHT = 280;
const LEFT = 64;
const BOTTOM = 28;

function svg(tag, attributes = {}, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) {
    element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function titled(element, words) {
  element.append(svg("title", {}, words));
  return element;
}

export function monthName(month, style = "short") {
  const date = new Date(`${month}-01T00:00:00Z`);
  return date.toLocaleDateString(undefined, {
    month: style,
    year: style === "long" ? "numeric" : "2-digit",
    timeZone: "UTC",
  });
}

/** The chart of `kind`, so wide; `money` writes an amount, `label` is what a screen reader says. */
export function draw(kind, expenses, categories, money, { width, label }) {
  const picture =
    kind === "pie"
      ? pie(categories, money)
      : overTime(kind, expenses, categories, money, width);
  picture.setAttribute("role", "img");
  picture.setAttribute("aria-label", label);
  return picture;
}

function overTime(kind, expenses, categories, money, width) {
  const names = months(expenses);
  const parts = names.map((month) => {
    const own = expenses.filter((each) => monthOf(each) === month);
    const sums = totals(own, ({ category }) => category);
    return categories.map(({ key, rest }) =>
      sums
        .filter((sum) => (rest ? rest.includes(sum.key) : sum.key === key))
        .reduce((sum, { total }) => sum + total, 0),
    );
  });
  const wholes = parts.map((each) =>
    each.reduce((sum, value) => sum + Math.max(0, value), 0),
  );
  const { top, ticks } = scale(Math.max(0, ...wholes));
  const area = { width: width - LEFT, height: HEIGHT - BOTTOM - 12, top };
  const inner = svg("g", { transform: `translate(${LEFT} 12)` });
  for (const tick of ticks) {
    const y = area.height - (tick / top) * area.height;
    inner.append(
      svg("line", { class: "grid", x1: 0, x2: area.width, y1: y, y2: y }),
      svg("text", { x: -8, y: y + 4, "text-anchor": "end" }, money(tick, true)),
    );
  }
  const step = area.width / Math.max(1, names.length);
  const every = Math.ceil((names.length * 52) / area.width);
  for (const [at, month] of names.entries()) {
    if (at % every !== 0) continue;
    const x = step * (at + 0.5);
    const y = area.height + 20;
    inner.append(
      svg("text", { x, y, "text-anchor": "middle" }, monthName(month)),
    );
  }
  if (kind === "line") {
    const list = points(wholes, area);
    const path = pathOf(list);
    const { height } = area;
    const closed = `${path}L${list.at(-1)?.x} ${height}L${list[0]?.x} ${height}Z`;
    if (list.length > 0)
      inner.append(svg("path", { class: "area", d: closed }));
    inner.append(svg("path", { class: "line", d: path }));
    for (const [at, { x, y }] of list.entries()) {
      const words = `${monthName(names[at], "long")}: ${money(wholes[at])}`;
      const dot = svg("circle", { class: "dot", cx: x, cy: y, r: 5 });
      inner.append(titled(dot, words));
    }
  } else {
    for (const [at, column] of bars(parts, area).entries()) {
      for (const [part, box] of column.entries()) {
        if (box.height === 0) continue;
        const words = `${monthName(names[at], "long")}, ${categories[part].key}: ${money(parts[at][part])}`;
        const rect = svg("rect", { class: `k${part}`, ...box });
        inner.append(titled(rect, words));
      }
    }
  }
  return svg("svg", { viewBox: `0 0 ${width} ${HEIGHT}` }, inner);
}

function pie(categories, money) {
  const values = categories.map(({ total }) => total);
  const inner = svg("g", { transform: "translate(150 150)" });
  for (const [at, { path, share }] of slices(values, {
    radius: 140,
    hole: 86,
  }).entries()) {
    if (path === "") continue;
    const { key, total } = categories[at];
    const words = `${key}: ${money(total)}, ${Math.round(share * 100)} %`;
    inner.append(titled(svg("path", { class: `k${at}`, d: path }), words));
  }
  const whole = values.reduce((sum, value) => sum + value, 0);
  inner.append(
    svg(
      "text",
      { class: "middle", "text-anchor": "middle", y: 8 },
      money(whole),
    ),
  );
  return svg("svg", { viewBox: "0 0 300 300" }, inner);
}
