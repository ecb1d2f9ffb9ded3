// Days to choose from, a table for each month.
import { itemOf, marksOf, type Act } from "./choices.ts";
import { arrows, button, make } from "./elements.ts";
import type { Item, UiSpec } from "./spec.ts";

const WEEKDAYS = ["Mo", "Tu", "We", "Th", "Fr", "Sa", "Su"];

export function drawCalendar(box: HTMLElement, spec: UiSpec, act: Act): void {
  const days = spec.visibleItems.map((shown) => itemOf(spec, shown));
  const hidden = spec.items.filter(
    ({ id }) => !days.some((day) => day.id === id),
  );
  const months = byMonth([...days, ...hidden]);
  const all = make("div", { class: "months" });
  for (const [month, items] of [...months].sort(([a], [b]) =>
    a < b ? -1 : 1,
  )) {
    all.append(drawMonth(month, items, days, spec, act));
  }
  box.replaceChildren(all);
  arrows(all);
}

function byMonth(items: Item[]): Map<string, Item[]> {
  const months = new Map<string, Item[]>();
  for (const item of items) {
    const month = item.id.slice(0, 7);
    months.set(month, [...(months.get(month) ?? []), item]);
  }
  return months;
}

function drawMonth(
  month: string,
  items: Item[],
  days: Item[],
  spec: UiSpec,
  act: Act,
): HTMLElement {
  const [year = 0, at = 1] = month.split("-").map(Number);
  const length = new Date(Date.UTC(year, at, 0)).getUTCDate();
  // Monday is 0.
  const first = (new Date(Date.UTC(year, at - 1, 1)).getUTCDay() + 6) % 7;
  const cells: HTMLElement[] = Array.from({ length: first }, () => make("td"));
  for (let day = 1; day <= length; day += 1) {
    const id = `${month}-${String(day).padStart(2, "0")}`;
    const item = days.find((each) => each.id === id);
    cells.push(make("td", {}, item ? drawDay(item, spec, act) : String(day)));
  }
  const weeks: HTMLElement[] = [];
  for (let start = 0; start < cells.length; start += 7) {
    const week = cells.slice(start, start + 7);
    // Weeks without a showing only take room.
    if (!week.some((cell) => cell.firstElementChild)) continue;
    weeks.push(make("tr", {}, ...week));
  }
  const heads = WEEKDAYS.map((name) => make("th", { scope: "col" }, name));
  const name = String(items[0]?.["month"] ?? month);
  return make(
    "table",
    { class: "month" },
    make("caption", {}, name),
    make("thead", {}, make("tr", {}, ...heads)),
    make("tbody", {}, ...weeks),
  );
}

function drawDay(item: Item, spec: UiSpec, act: Act): HTMLElement {
  const { classes, note, said } = marksOf(spec, item.id);
  return button(
    `item-${item.id}`,
    {
      class: `day${classes}`,
      "aria-pressed": String(spec.state.selected?.id === item.id),
      "aria-label": String(item["long"]) + said,
      disabled: item.isDisabled ?? false,
    },
    () => act({ tool: "select", params: { itemId: item.id } }),
    String(item["day"]),
    note !== null &&
      make("span", { class: "note", "aria-hidden": "true" }, note),
  );
}
