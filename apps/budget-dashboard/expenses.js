// What expenses are: reading them from anywhere, choosing, sorting and adding up.

// More rows than this make the page slow without being useful.
const MOST = 20_000;
const HEADS = ["id", "date", "description", "category", "amount", "currency"];

const text = (value, longest) =>
  typeof value === "string" || typeof value === "number"
    ? String(value).trim().slice(0, longest)
    : "";

/** A day as YYYY-MM-DD, or nothing where it is none. */
export function dayOf(value) {
  const found = /^(\d{4})-(\d{2})-(\d{2})(?:$|T)/.exec(text(value, 40));
  if (!found) return null;
  const [, year, month, day] = found.map(Number);
  const date = new Date(Date.UTC(year, month - 1, day));
  if (date.getUTCMonth() !== month - 1) return null;
  return found[0].slice(0, 10);
}

function amountOf(value) {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  const plain = text(value, 40).replace(/[\s']/g, "");
  if (!/^[-+]?\d+(\.\d+)?$/.test(plain)) return null;
  return Number(plain);
}

/** Whatever is an expense in `list`, and how many things were not. */
export function readExpenses(list) {
  const given = Array.isArray(list) ? list : [];
  const expenses = [];
  const ids = new Set();
  for (const [at, item] of given.slice(0, MOST).entries()) {
    if (typeof item !== "object" || item === null) continue;
    const date = dayOf(item.date);
    const amount = amountOf(item.amount);
    if (date === null || amount === null) continue;
    let id = text(item.id, 100) || `row-${at + 1}`;
    // Two of the same id could not be distinguished when one is flagged.
    while (ids.has(id)) id += "'";
    ids.add(id);
    expenses.push({
      id,
      date,
      description: text(item.description, 300) || "No description",
      category: text(item.category, 60) || "Other",
      amount,
      currency: text(item.currency, 8).toUpperCase() || "EUR",
    });
  }
  return { expenses, skipped: given.length - expenses.length };
}

/** Matching expenses; an empty filter matches everything. */
export function matching(expenses, { words, category, start, end, currency }) {
  const wanted = (words ?? "").trim().toLowerCase();
  return expenses.filter(
    (each) =>
      (!category || each.category === category) &&
      (!currency || each.currency === currency) &&
      (!start || each.date >= start) &&
      (!end || each.date <= end) &&
      (!wanted ||
        `${each.description} ${each.category} ${each.id}`
          .toLowerCase()
          .includes(wanted)),
  );
}

export function sorted(expenses, { column, down }) {
  const sign = down ? -1 : 1;
  return expenses.toSorted((a, b) => {
    const [left, right] = [a[column], b[column]];
    const order =
      typeof left === "number"
        ? left - right
        : String(left).localeCompare(String(right));
    return sign * order || (a.date < b.date ? 1 : a.date > b.date ? -1 : 0);
  });
}

/** Sums without the dust that adding fractions leaves. */
function add(left, right) {
  return Math.round((left + right) * 100) / 100;
}

/** What `keyOf` says, with its total and count, in the order first seen. */
export function totals(expenses, keyOf) {
  const found = new Map();
  for (const each of expenses) {
    const key = keyOf(each);
    const at = found.get(key) ?? { key, total: 0, count: 0 };
    at.total = add(at.total, each.amount);
    at.count += 1;
    found.set(key, at);
  }
  return [...found.values()];
}

export const monthOf = ({ date }) => date.slice(0, 7);

/** Every month from the first to the last, also those without an expense. */
export function months(expenses) {
  const seen = expenses.map(monthOf).sort();
  const first = seen[0];
  const last = seen.at(-1);
  if (!first) return [];
  const all = [];
  let [year, month] = first.split("-").map(Number);
  // Dates a hundred years apart are a mistake in the data, not a chart.
  while (all.length < 120) {
    const key = `${String(year).padStart(4, "0")}-${String(month).padStart(2, "0")}`;
    all.push(key);
    if (key >= last) break;
    month += 1;
    if (month > 12) [year, month] = [year + 1, 1];
  }
  return all;
}

/** The largest categories, and the rest as one, so that a chart has colours enough. */
export function mainCategories(expenses, most = 7) {
  const all = totals(expenses, ({ category }) => category).sort(
    (a, b) => b.total - a.total,
  );
  if (all.length <= most + 1) return all;
  const rest = all.slice(most);
  return [
    ...all.slice(0, most),
    {
      key: "Everything else",
      total: rest.reduce((sum, { total }) => add(sum, total), 0),
      count: rest.reduce((sum, { count }) => sum + count, 0),
      rest: rest.map(({ key }) => key),
    },
  ];
}

export function currencies(expenses) {
  return totals(expenses, ({ currency }) => currency)
    .sort((a, b) => b.count - a.count)
    .map(({ key }) => key);
}

/** Rows of cells; quotes, commas and line ends inside quotes are as they were. */
export function parseCsv(source) {
  const rows = [];
  let row = [];
  let cell = "";
  let quoted = false;
  const input = source.replace(/^\uFEFF/, "");
  const first = input.slice(0, input.search(/[\r\n]|$/));
  const comma = first.includes(";") && !first.includes(",") ? ";" : ",";
  for (let at = 0; at < input.length; at += 1) {
    const char = input[at];
    if (quoted) {
      if (char !== '"') cell += char;
      else if (input[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else quoted = false;
    } else if (char === '"' && cell === "") quoted = true;
    else if (char === comma) {
      row.push(cell);
      cell = "";
    } else if (char === "\n" || char === "\r") {
      if (char === "\r" && input[at + 1] === "\n") at += 1;
      row.push(cell);
      if (row.length > 1 || row[0] !== "") rows.push(row);
      [row, cell] = [[], ""];
    } else cell += char;
  }
  row.push(cell);
  if (row.length > 1 || row[0] !== "") rows.push(row);
  return rows;
}

/** Expenses out of a CSV file with a first row of names. */
export function fromCsv(source) {
  const [heads = [], ...rows] = parseCsv(source);
  const names = heads.map((head) => head.trim().toLowerCase());
  const missing = ["date", "amount"].filter((name) => !names.includes(name));
  if (missing.length > 0) {
    throw new Error(
      `The file has no column named ${missing.join(" or ")}. The first row must contain the column names.`,
    );
  }
  return readExpenses(
    rows.map((row) =>
      Object.fromEntries(names.map((name, at) => [name, row[at] ?? ""])),
    ),
  );
}

function cellOf(value) {
  // A spreadsheet would run text that begins like a formula.
  const plain =
    typeof value === "string" && /^[=+\-@\t\r]/.test(value)
      ? `'${value}`
      : String(value);
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}

/** A report that can be read back, with the flags as one more column. */
export function toCsv(expenses, flags) {
  const rows = expenses.map((each) => [
    ...HEADS.map((name) => each[name]),
    flags.get(each.id) ?? "",
  ]);
  return [[...HEADS, "flag"], ...rows]
    .map((row) => row.map(cellOf).join(","))
    .join("\r\n")
    .concat("\r\n");
}

/** Example data for half a year, the same every time. */
export function sample() {
  const kinds = [
    ["Rent", "Flat", 980, 1],
    ["Groceries", "Market", 64, 5],
    ["Transport", "Train", 39, 2],
    ["Eating out", "Dinner", 31, 3],
    ["Health", "Pharmacy", 18, 1],
    ["Leisure", "Cinema", 14, 2],
    ["Subscriptions", "Music", 11, 1],
  ];
  const list = [];
  let seed = 7;
  const next = () =>
    (seed = (seed * 1103515245 + 12345) % 2147483648) / 2147483648;
  for (let month = 1; month <= 6; month += 1) {
    for (const [category, description, price, times] of kinds) {
      for (let at = 0; at < times; at += 1) {
        const fixed = category === "Rent" || category === "Subscriptions";
        const amount = fixed ? price : price * (0.6 + next());
        const day = fixed ? 1 : 1 + Math.floor(next() * 28);
        list.push({
          id: `s${list.length + 1}`,
          date: `2026-0${month}-${String(day).padStart(2, "0")}`,
          description,
          category,
          amount: Math.round(amount * 100) / 100,
          currency: "EUR",
        });
      }
    }
  }
  list.push({
    id: "s-odd",
    date: "2026-05-17",
    description: "Market, charged twice?",
    category: "Groceries",
    amount: 412.6,
    currency: "EUR",
  });
  return list;
}
