// Reads the file in pieces, and keeps the table, the plot and the summary up with it.
import {
  listFiles,
  onStateUpdate,
  readFile,
  setAppletState,
  subscribeFile,
} from "gangway";
import { draw as drawPlot, KINDS } from "./plot.js";
import { goodFilters, OPERATORS, Table, View } from "./table.js";

const ROW = 28;
// Browsers stop counting pixels some way above this.
const TALLEST = 8_000_000;
const SLICE_MS = 12;
const REDRAW_MS = 250;
const LARGEST = 600 * 1024 * 1024;
const COLUMNS = 60;

const $ = (id) => document.getElementById(id);
const counts = new Intl.NumberFormat();
let file = null;
let wantedFile = null;
let table = new Table();
let view = new View(table, []);
let filters = [];
let wantedFilters;
let plot = { kind: "histogram", x: "", y: "" };
let reading = null;
let working = null;
let complete = false;
let unsubscribe = null;

function make(tag, props = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function say(text, bad = false) {
  $("status").textContent = text;
  $("status").classList.toggle("problem", bad);
}

const pause = () => new Promise((resolve) => setTimeout(resolve));
const remember = (data) =>
  setAppletState(data).catch((error) => say(error.message, true));

async function findFiles(folder = "", depth = 0) {
  const { entries } = await listFiles(folder);
  const found = [];
  for (const { name, kind } of entries) {
    const path = folder ? `${folder}/${name}` : name;
    if (name.startsWith(".")) continue;
    if (kind === "file" && /\.(csv|tsv|tab)$/i.test(name)) found.push(path);
    else if (kind === "folder" && depth < 2 && name !== "node_modules")
      found.push(...(await findFiles(path, depth + 1)));
  }
  return found;
}

async function listChoices() {
  const found = (await findFiles()).slice(0, 500);
  if (file && !found.includes(file)) found.unshift(file);
  $("file").replaceChildren(
    ...(file
      ? []
      : [
          make(
            "option",
            { value: "" },
            found.length ? "Choose a file" : "No CSV file in this folder",
          ),
        ]),
    ...found.map((path) =>
      make("option", { value: path, selected: path === file }, path),
    ),
  );
  return found;
}

async function open(path) {
  reading?.abort();
  reading = new AbortController();
  const { signal } = reading;
  file = path;
  complete = false;
  table = new Table();
  restart();
  unsubscribe?.();
  unsubscribe = subscribeFile(path, onFileChanged);
  $("progress").hidden = false;
  $("progress").value = 0;
  $("file").value = path;
  const decoder = new TextDecoder();
  try {
    await readFile(path, {
      binary: true,
      signal,
      onChunk: async (bytes, { loaded, size }) => {
        if (size > LARGEST)
          throw new Error(
            `This file is larger than ${LARGEST / 1024 / 1024} MB.`,
          );
        const before = table.names.length;
        table.push(decoder.decode(bytes, { stream: true }));
        if (before === 0 && table.names.length > 0) headKnown();
        $("progress").value = size ? loaded / size : 0;
        await catchUp();
      },
    });
    table.push(decoder.decode());
    table.end();
    if (table.names.length > 0 && $("head").childElementCount === 0)
      headKnown();
    complete = true;
    await catchUp();
  } catch (error) {
    if (signal.aborted) return;
    say(error.message, true);
  }
  if (signal.aborted) return;
  $("progress").hidden = true;
  await listChoices();
}

let changeTimer;
function onFileChanged({ event }) {
  clearTimeout(changeTimer);
  if (event !== "removed") changeTimer = setTimeout(() => open(file), 400);
}

/** Starts the view over, as after a change of the filters. */
function restart() {
  filters = goodFilters(wantedFilters, table.names);
  view = new View(table, filters);
  $("head").replaceChildren();
  $("rows").replaceChildren();
  if (table.names.length > 0) headKnown();
  drawChips();
}

function catchUp() {
  working ??= work().finally(() => (working = null));
  return working;
}

async function work() {
  let drawnAt = performance.now();
  for (;;) {
    const done = view.step(SLICE_MS);
    if (done) break;
    if (performance.now() - drawnAt > REDRAW_MS) {
      redraw();
      drawnAt = performance.now();
    }
    await pause();
  }
  redraw();
  if (complete) remember({ summary: summary() });
}

function summary() {
  return {
    file,
    rows: table.rows.length,
    matching: view.length,
    columns: view.columns.slice(0, COLUMNS).map((column) => column.summary()),
  };
}

function redraw() {
  // Which columns are numbers shows only once there are rows.
  view.columns.slice(0, COLUMNS).forEach(({ type }, at) => {
    $("head").children[at]?.classList.toggle("number", type === "number");
  });
  const all = counts.format(table.rows.length);
  const rows =
    filters.length > 0
      ? `${counts.format(view.length)} of ${all} rows`
      : `${all} rows`;
  say(rows);
  drawRows();
  showPlot();
}

function headKnown() {
  filters = goodFilters(wantedFilters, table.names);
  view = new View(table, filters);
  const shown = table.names.slice(0, COLUMNS);
  $("grid").style.setProperty("--columns", shown.length);
  $("head").replaceChildren(
    ...shown.map((name) => {
      const button = make(
        "button",
        { type: "button", title: `Plot ${name}` },
        name,
      );
      button.addEventListener("click", () =>
        choosePlot({ kind: "histogram", x: name }),
      );
      return make("div", { role: "columnheader" }, button);
    }),
  );
  const options = () =>
    table.names.map((name) => make("option", { value: name }, name));
  for (const id of ["column", "x", "y"]) {
    const { value } = $(id);
    $(id).replaceChildren(...options());
    if (table.names.includes(value)) $(id).value = value;
  }
  if (!table.names.includes(plot.x)) plot = { ...plot, x: table.names[0] };
  if (!table.names.includes(plot.y))
    plot = { ...plot, y: table.names[1] ?? table.names[0] };
  drawChips();
}

function drawChips() {
  $("chips").replaceChildren(
    ...filters.map((filter, at) => {
      const words = `${filter.column} ${filter.op}${filter.op === "empty" ? "" : ` ${filter.value}`}`;
      const remove = make(
        "button",
        { type: "button", "aria-label": `Remove the filter ${words}` },
        "×",
      );
      remove.addEventListener("click", () =>
        setFilters(filters.filter((_, other) => other !== at)),
      );
      return make("li", {}, words, remove);
    }),
  );
}

function setFilters(next) {
  remember({ filters: next });
  applyFilters(next);
}

function applyFilters(next) {
  if (JSON.stringify(next) === JSON.stringify(wantedFilters)) return;
  wantedFilters = next;
  restart();
  $("grid").scrollTop = 0;
  catchUp();
}

function choosePlot(change) {
  plot = { ...plot, ...change };
  remember({ plot });
  showPlot();
}

function showPlot() {
  for (const id of ["kind", "x", "y"]) $(id).value = plot[id];
  $("height").hidden = plot.kind !== "line" && plot.kind !== "scatter";
  const drawn =
    table.names.length > 0
      ? drawPlot(view, plot, $("plot").clientWidth, $("plot").clientHeight)
      : "";
  $("plot").replaceChildren(drawn);
}

let frame = 0;
function drawRows() {
  cancelAnimationFrame(frame);
  frame = requestAnimationFrame(() => {
    const grid = $("grid");
    const total = view.length;
    const height = Math.min(total * ROW, TALLEST);
    $("space").style.height = `${height}px`;
    grid.setAttribute("aria-rowcount", String(total + 1));
    const room = Math.ceil(grid.clientHeight / ROW) + 1;
    const inner = grid.clientHeight - ROW;
    const reach = Math.max(1, height - inner);
    const top = Math.min(grid.scrollTop, reach);
    const lastFirst = Math.max(0, total - Math.floor(inner / ROW));
    const scaled = total * ROW > TALLEST;
    const first = scaled
      ? Math.round((top / reach) * lastFirst)
      : Math.floor(top / ROW);
    $("rows").style.translate = `0 ${scaled ? top : first * ROW}px`;
    const rows = [];
    for (let index = first; index < Math.min(total, first + room); index += 1) {
      const row = make("div", {
        className: "row",
        role: "row",
        "aria-rowindex": String(index + 2),
      });
      const cells = view.row(index);
      for (let at = 0; at < Math.min(table.names.length, COLUMNS); at += 1) {
        const value = cells[at] ?? "";
        const cell = make(
          "div",
          { role: "cell" },
          value.length > 300 ? `${value.slice(0, 300)}…` : value,
        );
        if (view.columns[at].type === "number") cell.className = "number";
        row.append(cell);
      }
      rows.push(row);
    }
    $("rows").replaceChildren(...rows);
  });
}

$("op").replaceChildren(
  ...OPERATORS.map((op) => make("option", { value: op }, op)),
);
$("op").value = "contains";
$("kind").replaceChildren(
  ...KINDS.map((kind) => make("option", { value: kind }, kind)),
);
$("add").addEventListener("submit", (event) => {
  event.preventDefault();
  const filter = {
    column: $("column").value,
    op: $("op").value,
    value: $("value").value.trim(),
  };
  if (!filter.column || (filter.value === "" && filter.op !== "empty")) return;
  $("value").value = "";
  setFilters([...filters, filter]);
});
for (const id of ["kind", "x", "y"])
  $(id).addEventListener("change", () => choosePlot({ [id]: $(id).value }));
$("file").addEventListener("change", () => {
  if (!$("file").value) return;
  wantedFile = $("file").value;
  remember({ file: wantedFile });
  open(wantedFile);
});
$("grid").addEventListener("scroll", drawRows, { passive: true });
new ResizeObserver(drawRows).observe($("grid"));
new ResizeObserver(showPlot).observe($("plot"));

let known = false;
onStateUpdate(
  (state) => {
    if (state.plot && KINDS.includes(state.plot.kind)) {
      plot = {
        kind: state.plot.kind,
        x: String(state.plot.x ?? plot.x),
        y: String(state.plot.y ?? plot.y),
      };
      showPlot();
    }
    if (state.filters !== undefined || wantedFilters !== undefined)
      applyFilters(state.filters ?? []);
    if (typeof state.file === "string" && state.file !== wantedFile) {
      wantedFile = state.file;
      open(wantedFile);
    } else if (!known && wantedFile === null) {
      listChoices()
        .then(
          ([only]) => only && wantedFile === null && open((wantedFile = only)),
        )
        .catch((error) => say(error.message, true));
    }
    known = true;
  },
  { own: true },
);
