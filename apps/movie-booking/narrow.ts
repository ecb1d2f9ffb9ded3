// What the person may do about how a stage is shown: the same filters and orders as an agent's.
import type { Act } from "./choices.ts";
import { make } from "./elements.ts";
import type { Stage, UiSpec } from "./spec.ts";

interface Ways {
  /** The field whose values can be chosen, and what they are called together. */
  only?: { field: string; all: string };
  orders: { field: string; order: "asc" | "desc"; words: string }[];
}

const WAYS: Partial<Record<Stage, Ways>> = {
  movie: {
    only: { field: "genre", all: "All genres" },
    orders: [
      { field: "rating", order: "desc", words: "Best rated first" },
      { field: "minutes", order: "asc", words: "Shortest first" },
      { field: "title", order: "asc", words: "By title" },
    ],
  },
  theater: {
    orders: [
      { field: "distanceKm", order: "asc", words: "Nearest first" },
      { field: "name", order: "asc", words: "By name" },
    ],
  },
  time: {
    only: { field: "format", all: "All formats" },
    orders: [
      { field: "time", order: "asc", words: "Earliest first" },
      { field: "priceCents", order: "asc", words: "Cheapest first" },
      { field: "seatsLeft", order: "desc", words: "Most seats first" },
    ],
  },
};

export function drawNarrow(box: HTMLElement, spec: UiSpec, act: Act): void {
  const ways = WAYS[spec.stage];
  box.hidden = ways === undefined;
  if (!ways) return;
  const { only, orders } = ways;
  const { filter = [], sort } = spec.modification;
  const parts: HTMLElement[] = [];
  if (only) {
    const now = filter.find(({ field }) => field === only.field);
    const values = [
      ...new Set(spec.items.map((item) => String(item[only.field]))),
    ].sort();
    const choice = select("narrow-only", "Show", only.all, values);
    // What an agent narrowed otherwise has no name here.
    if (now?.operator === "eq") choice.value = String(now.value);
    choice.addEventListener("change", () => {
      const { value } = choice;
      const { field } = only;
      if (value === "") {
        act({ tool: "clearModification", params: { type: "filter" } });
      } else {
        act({ tool: "filter", params: { field, operator: "eq", value } });
      }
    });
    parts.push(choice);
  }
  const words = orders.map((each) => each.words);
  const order = select("narrow-order", "Order", "Default order", words);
  const now = orders.find(
    (each) => each.field === sort?.field && each.order === sort.order,
  );
  if (now) order.value = now.words;
  order.addEventListener("change", () => {
    const wanted = orders.find((each) => each.words === order.value);
    if (!wanted) act({ tool: "clearModification", params: { type: "sort" } });
    else {
      const { field, order: way } = wanted;
      act({ tool: "sort", params: { field, order: way } });
    }
  });
  box.replaceChildren(...parts, order);
}

function select(
  key: string,
  label: string,
  none: string,
  values: string[],
): HTMLSelectElement {
  const made = make("select", { "data-key": key, "aria-label": label });
  made.append(new Option(none, ""));
  for (const value of values) made.append(new Option(value, value));
  return made;
}
