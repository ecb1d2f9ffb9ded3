// The dashboard: takes expenses from an agent, a file or the sample, and shows, flags and exports them.
import {
  emitToAgent,
  getAgentConfig,
  getAgentContext,
  getAgentData,
  requestAgentAction,
} from "./__gangway/agent.js";
import { draw, monthName } from "./draw.js";
import {
  currencies,
  dayOf,
  fromCsv,
  mainCategories,
  matching,
  monthOf,
  months,
  readExpenses,
  sample,
  sorted,
  toCsv,
  totals,
} from "./expenses.js";
import { $, download, make } from "./page.js";

const COLUMNS = [
  ["date", "Date"],
  ["description", "Description"],
  ["category", "Category"],
  ["amount", "Amount"],
];
const ROWS = 200;
const CHARTS = ["bar", "line", "pie"];
const THEMES = ["auto", "light", "dark"];
// A file larger than this is not a list of expenses.
const FILE_BYTES = 8 << 20;

const context = getAgentContext();
const flags = new Map();
let expenses = [];
let shown = [];
let chart = "bar";
let order = { column: "date", down: true };
let rows = ROWS;
let flagging = null;

function say(words, problem = false) {
  $("status").textContent = words;
  $("status").classList.toggle("problem", problem);
}

function money(amount, short = false) {
  const currency = $("currency").value || "EUR";
  const options = {
    style: "currency",
    currency,
    ...(short && { notation: "compact", maximumFractionDigits: 1 }),
  };
  try {
    return amount.toLocaleString(undefined, options);
  } catch {
    // Not every code that people write is a currency.
    return `${amount.toLocaleString()} ${currency}`;
  }
}

/** Notifies the agent, and shows whether it was notified. */
async function tell(event, payload, words) {
  try {
    const told = await emitToAgent(event, payload);
    say(told ? `${words} The agent was notified.` : words);
  } catch (error) {
    say(`${words} The agent could not be notified: ${error.message}`, true);
  }
}

function applyTheme(theme) {
  if (!THEMES.includes(theme)) return;
  $("theme").value = theme;
  document.documentElement.dataset.theme = theme;
}

function applyChart(kind) {
  if (!CHARTS.includes(kind)) return;
  chart = kind;
  document.querySelector(`input[name="chart"][value="${kind}"]`).checked = true;
}

function show(read, range = {}) {
  ({ expenses } = read);
  if (expenses.length === 0) {
    say(
      read.skipped > 0
        ? "No expense could be read: each needs a date (YYYY-MM-DD) and an amount."
        : "No expenses.",
      true,
    );
    showStart();
    return;
  }
  say(read.skipped > 0 ? `${read.skipped} rows could not be read.` : "");
  flags.clear();
  rows = ROWS;
  fill($("currency"), currencies(expenses));
  $("currency-box").hidden = $("currency").options.length < 2;
  const names = totals(expenses, ({ category }) => category).map(
    ({ key }) => key,
  );
  fill($("category"), names.sort(), "All");
  $("words").value = "";
  $("start-day").value = dayOf(range?.start) ?? "";
  $("end-day").value = dayOf(range?.end) ?? "";
  $("start").hidden = true;
  for (const id of ["board", "export", "other"]) $(id).hidden = false;
  $("other").hidden = context !== null;
  update();
}

function showStart() {
  $("start").hidden = false;
  for (const id of ["board", "export", "other"]) $(id).hidden = true;
}

function fill(select, values, first) {
  select.replaceChildren(
    ...(first ? [new Option(first, "")] : []),
    ...values.map((value) => new Option(value, value)),
  );
}

function update() {
  shown = matching(expenses, {
    words: $("words").value,
    category: $("category").value,
    start: $("start-day").value,
    end: $("end-day").value,
    currency: $("currency").value,
  });
  drawFigures();
  drawChart();
  drawTable();
}

function drawFigures() {
  const total = shown.reduce((sum, { amount }) => sum + amount, 0);
  const [largest] = mainCategories(shown);
  const figures = [
    ["Total", money(total)],
    ["Expenses", shown.length.toLocaleString()],
    ["Per month", money(total / Math.max(1, months(shown).length))],
    ["Top category", largest ? largest.key : "None"],
    ["Flagged", String(shown.filter(({ id }) => flags.has(id)).length)],
  ];
  $("figures").replaceChildren(
    ...figures.map(([name, value]) =>
      make("div", {}, make("dt", {}, name), make("dd", {}, value)),
    ),
  );
}

function drawChart() {
  const categories = mainCategories(shown);
  const names = {
    bar: "Bars by month",
    line: "Line by month",
    pie: "Pie by category",
  };
  const byMonth = totals(sorted(shown, { column: "date" }), monthOf);
  const words = (chart === "pie" ? categories : byMonth)
    .map(
      ({ key, total }) =>
        `${chart === "pie" ? key : monthName(key, "long")} ${money(total)}`,
    )
    .join(", ");
  const label = `${names[chart]}: ${words || "nothing to show"}`;
  const width = Math.min(720, Math.max(280, $("chart").clientWidth));
  const picture = draw(chart, shown, categories, money, { width, label });
  $("chart").replaceChildren(picture);
  const chosen = $("category").value;
  $("legend").replaceChildren(
    ...categories.map(({ key, total, rest }, at) => {
      const button = make(
        "button",
        { type: "button", disabled: Boolean(rest) },
        make("i", { className: `k${at}` }),
        make("span", {}, key),
        make("b", { className: "number" }, money(total)),
      );
      button.setAttribute("aria-pressed", String(chosen === key));
      button.addEventListener("click", () => {
        $("category").value = chosen === key ? "" : key;
        update();
        [...$("legend").querySelectorAll("button")]
          .find((each) => each.textContent.startsWith(key))
          ?.focus();
      });
      return make("li", {}, button);
    }),
  );
}

function drawTable() {
  $("heads").replaceChildren(
    ...COLUMNS.map(([column, name]) => {
      const sortedBy = order.column === column;
      const button = make(
        "button",
        { type: "button" },
        sortedBy ? `${name} ${order.down ? "↓" : "↑"}` : name,
      );
      button.setAttribute("aria-label", `Sort by ${name}`);
      button.addEventListener("click", () => {
        order = { column, down: sortedBy ? !order.down : column === "amount" };
        drawTable();
        $("heads").querySelector(`[data-column="${column}"] button`).focus();
      });
      const head = make("th", { scope: "col" }, button);
      head.dataset.column = column;
      if (column === "amount") head.className = "number";
      if (sortedBy) {
        head.setAttribute("aria-sort", order.down ? "descending" : "ascending");
      }
      return head;
    }),
    make("th", { scope: "col" }, "Flag"),
  );
  const list = sorted(shown, order);
  $("rows").replaceChildren(...list.slice(0, rows).map(drawRow));
  $("more").hidden = list.length <= rows;
  $("count").textContent =
    list.length > rows
      ? `${rows} of ${list.length} expenses`
      : `${list.length} of ${expenses.length} expenses`;
}

function drawRow(expense) {
  const { id, date, description, category, amount } = expense;
  const reason = flags.get(id);
  const about = make("td", { className: "about" }, description);
  if (reason !== undefined) {
    about.append(make("span", { className: "reason" }, `Flagged: ${reason}`));
  }
  const button = make(
    "button",
    { type: "button" },
    reason === undefined ? "Flag" : "Unflag",
  );
  button.setAttribute(
    "aria-label",
    `${button.textContent} ${description}, ${date}`,
  );
  button.addEventListener("click", () => {
    if (reason === undefined) askReason(expense);
    else unflag(expense);
  });
  const row = make(
    "tr",
    {},
    make("td", {}, date),
    about,
    make("td", {}, category),
    make("td", { className: "number" }, money(amount)),
    make("td", {}, button),
  );
  row.dataset.id = id;
  row.classList.toggle("flagged", reason !== undefined);
  return row;
}

function refocus(id) {
  update();
  document.querySelector(`tr[data-id="${CSS.escape(id)}"] button`)?.focus();
}

function askReason(expense) {
  flagging = expense;
  $("flag-what").textContent =
    `${expense.date}, ${expense.description}, ${money(expense.amount)}`;
  $("reason").value = "";
  $("flag").returnValue = "";
  $("flag").showModal();
}

function unflag({ id }) {
  flags.delete(id);
  refocus(id);
  void tell("expense-unflagged", { expense_id: id }, "Flag removed.");
}

$("flag").addEventListener("close", () => {
  const reason = $("reason").value.trim();
  if ($("flag").returnValue !== "flag" || !flagging || reason === "") return;
  const { id } = flagging;
  flags.set(id, reason);
  refocus(id);
  void tell("expense-flagged", { expense_id: id, reason }, "Flagged.");
});

$("export").addEventListener("click", async () => {
  const list = sorted(shown, order);
  const content = toCsv(list, flags);
  const filename = "budget-report.csv";
  $("export").disabled = true;
  say("Saving the report…");
  const done = await requestAgentAction(
    "save-file",
    { filename, content },
    () => download(filename, content),
  );
  $("export").disabled = false;
  const saved = done === "download" ? "downloaded" : "saved by the agent";
  const total = list.reduce((sum, { amount }) => sum + amount, 0);
  const data = {
    filename,
    rows: list.length,
    total: Math.round(total * 100) / 100,
    currency: $("currency").value,
    flagged: list.filter(({ id }) => flags.has(id)).map(({ id }) => id),
  };
  const words = `The report was ${saved}.`;
  await tell("report-generated", { format: "csv", data }, words);
});

async function readFile(file) {
  if (!file) return;
  try {
    if (file.size > FILE_BYTES)
      throw new Error("The file is larger than 8 MB.");
    show(fromCsv(await file.text()));
  } catch (error) {
    say(error.message, true);
  }
}

$("file").addEventListener("change", ({ target }) => {
  void readFile(target.files[0]);
  target.value = "";
});
$("sample").addEventListener("click", () => show(readExpenses(sample())));
$("other").addEventListener("click", () => {
  say("");
  showStart();
});
new ResizeObserver(() => {
  if (!$("board").hidden) drawChart();
}).observe($("chart-title").parentElement);
$("more").addEventListener("click", () => {
  rows += ROWS;
  drawTable();
});
$("filter").addEventListener("input", update);
$("filter").addEventListener("submit", (event) => event.preventDefault());
$("theme").addEventListener("change", ({ target }) => applyTheme(target.value));
for (const input of document.querySelectorAll('input[name="chart"]')) {
  input.addEventListener("change", () => {
    chart = input.value;
    drawChart();
  });
}
for (const type of ["dragover", "dragleave", "drop"]) {
  document.addEventListener(type, (event) => {
    event.preventDefault();
    $("drop").classList.toggle("over", type === "dragover");
    if (type === "drop") void readFile(event.dataTransfer?.files[0]);
  });
}

applyTheme(getAgentConfig("theme", "auto"));
applyChart(getAgentConfig("chart_type", "bar"));
if (context) $("from").textContent = `Prepared by ${context.agent.name}`;

const given = getAgentData("expenses", null);
if (given === null) showStart();
else show(readExpenses(given), getAgentData("date_range", {}));

context?.on("config-updated", (config) => {
  applyTheme(config?.theme);
  applyChart(config?.chart_type);
  if (expenses.length > 0) drawChart();
});
context?.on("expenses-updated", (news) => {
  if (Array.isArray(news?.expenses)) {
    show(readExpenses(news.expenses), news.date_range);
  }
});
