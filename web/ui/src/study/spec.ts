// What a page showed, read from an untrusted log.

/** An item as it is drawn. */
export interface Shown {
  id: string;
  value: string;
  disabled: boolean;
  chosen: boolean;
  marked: boolean;
  /** How many, where items are counted. */
  quantity: number | null;
  /** Where it stands in a hall. */
  row: string | null;
  place: number;
  label: string | null;
}

export interface Spec {
  stage: string;
  title: string;
  component: string;
  items: Shown[];
  /** What the agent changed about how it is shown, by kind. */
  changes: string[];
  booked: string | null;
}

// More than any hall has.
const MOST_ITEMS = 2_000;
const LONGEST = 300;

type Fields = Record<string, unknown>;

/** What is to be drawn; nothing where there is no such thing. */
export function readSpec(value: unknown): Spec | null {
  const spec = fields(value);
  if (!spec) return null;
  const state = fields(spec["state"]) ?? {};
  const display = fields(spec["display"]) ?? {};
  const chosen = new Set(
    [state["selected"], ...list(state["selectedList"])].map(idOf),
  );
  const marked = new Set(list(state["highlighted"]).map(idOf));
  const quantities = countsOf(state["quantities"]);
  const whole = new Map(
    list(spec["items"]).map((item) => [fields(item)?.["id"], fields(item)]),
  );
  const booking = fields(state["booking"]);
  return {
    stage: text(spec["stage"]),
    title: text(spec["title"]),
    component: text(display["component"]),
    items: list(spec["visibleItems"])
      .slice(0, MOST_ITEMS)
      .map((each) => {
        const item = fields(each) ?? {};
        const { id } = item;
        const more = whole.get(id) ?? {};
        const row = more["row"];
        return {
          id: text(id),
          value: text(item["value"]),
          disabled: item["isDisabled"] === true,
          chosen: chosen.has(id),
          marked: marked.has(id),
          quantity: quantities ? (quantities.get(text(id)) ?? 0) : null,
          row: typeof row === "string" ? text(row) : null,
          place: Number(more["number"]) || 0,
          label: typeof more["label"] === "string" ? text(more["label"]) : null,
        };
      }),
    changes: Object.keys(fields(spec["modification"]) ?? {}).map(text),
    // A booking that is under way has no code yet.
    booked:
      booking?.["code"] === undefined || booking["status"] === "cancelled"
        ? null
        : text(booking["code"]),
  };
}

/** The id of what is chosen: `{id, value}`, or the id alone in logs of older pages. */
function idOf(value: unknown): unknown {
  return fields(value)?.["id"] ?? value;
}

/** How many of each: `[{item, count}]`, or counts by id in logs of older pages. */
function countsOf(value: unknown): Map<string, number> | null {
  const older = fields(value);
  if (!older && list(value).length === 0) return null;
  const counted: [string, unknown][] = older
    ? Object.entries(older)
    : list(value).map((each) => {
        const { item, count } = fields(each) ?? {};
        return [text(idOf(item)), count];
      });
  return new Map(counted.map(([id, count]) => [id, Number(count) || 0]));
}

/** The rows of a hall, each with its seats from left to right. */
export function rowsOf(items: readonly Shown[]): [string, Shown[]][] {
  const rows = new Map<string, Shown[]>();
  for (const item of items) {
    const row = item.row ?? "";
    rows.set(row, [...(rows.get(row) ?? []), item]);
  }
  return [...rows]
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([row, seats]) => [row, seats.sort((a, b) => a.place - b.place)]);
}

export function fields(value: unknown): Fields | null {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Fields)
    : null;
}

export function list(value: unknown): unknown[] {
  return Array.isArray(value) ? (value as unknown[]) : [];
}

export function text(value: unknown): string {
  if (typeof value === "number") return String(value);
  return typeof value === "string" ? value.slice(0, LONGEST) : "";
}
