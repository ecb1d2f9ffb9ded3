// How an agent may change what is shown: hide, order, point out and annotate items.
import { Refused } from "./refused.ts";
import {
  STYLES,
  type Filter,
  type Item,
  type Kind,
  type Modification,
  type Operator,
  type Style,
  type VisibleItem,
} from "./spec.ts";

const MOST_FILTERS = 8;
const LONGEST_NOTE = 80;

/** The items that are left, in order, as they are written on the screen. */
export function visible(
  items: readonly Item[],
  { filter = [], sort, augment = [] }: Modification,
  valueField: string,
): VisibleItem[] {
  const left = items.filter((item) =>
    filter.every((each) => matches(item, each)),
  );
  if (sort) {
    const sign = sort.order === "desc" ? -1 : 1;
    // Items without the field stay at the end either way.
    left.sort((a, b) => {
      const [x, y] = [a[sort.field], b[sort.field]];
      if (x === undefined || y === undefined) {
        return Number(x === undefined) - Number(y === undefined);
      }
      return sign * compare(x, y);
    });
  }
  const notes = new Map(augment.map(({ itemId, value }) => [itemId, value]));
  return left.map((item) => {
    const value = String(item[valueField] ?? item.id);
    const note = notes.get(item.id);
    return {
      id: item.id,
      value: note === undefined ? value : `${value} (${note})`,
      ...(item.isDisabled && { isDisabled: true }),
    };
  });
}

export function filtered(
  items: readonly Item[],
  modification: Modification,
  wish: { field: string; operator: Operator; value: unknown },
): Modification {
  needField(items, wish.field);
  const { operator, value } = wish;
  const plain = (each: unknown) =>
    ["string", "number", "boolean"].includes(typeof each);
  if (operator === "in") {
    if (!Array.isArray(value) || !value.every(plain)) {
      throw invalid("The operator in needs a list of strings or numbers.");
    }
  } else if (!plain(value)) {
    throw invalid(`The operator ${operator} needs a string or a number.`);
  }
  const others = (modification.filter ?? []).filter(
    ({ field }) => field !== wish.field,
  );
  if (others.length >= MOST_FILTERS) {
    throw invalid(
      `At most ${MOST_FILTERS} filters are allowed. Clear some first.`,
    );
  }
  return { ...modification, filter: [...others, wish] };
}

export function sorted(
  items: readonly Item[],
  modification: Modification,
  sort: { field: string; order: "asc" | "desc" },
): Modification {
  needField(items, sort.field);
  return { ...modification, sort };
}

export function highlighted(
  items: readonly Item[],
  modification: Modification,
  itemIds: readonly string[],
  style: Style = STYLES[0],
): Modification {
  if (itemIds.length === 0) throw invalid("itemIds is empty.");
  needItems(items, itemIds);
  const all = [...new Set(itemIds)];
  return { ...modification, highlight: { itemIds: all, style } };
}

export function augmented(
  items: readonly Item[],
  modification: Modification,
  notes: readonly { itemId: string; value: string }[],
): Modification {
  if (notes.length === 0) throw invalid("items is empty.");
  needItems(
    items,
    notes.map(({ itemId }) => itemId),
  );
  const long = notes.find(({ value }) => value.length > LONGEST_NOTE);
  if (long) {
    throw invalid(
      `The note for ${long.itemId} must be at most ${LONGEST_NOTE} characters.`,
    );
  }
  const all = new Map(
    [...(modification.augment ?? []), ...notes].map(({ itemId, value }) => [
      itemId,
      value,
    ]),
  );
  const augment = [...all].map(([itemId, value]) => ({ itemId, value }));
  return { ...modification, augment };
}

/** Takes one kind of change back, or all of them. */
export function cleared(modification: Modification, kind?: Kind): Modification {
  if (kind === undefined) return {};
  const { [kind]: _, ...rest } = modification;
  return rest;
}

export function matches(
  item: Item,
  { field, operator, value }: Filter,
): boolean {
  const found = item[field];
  if (found === undefined) return operator === "neq";
  switch (operator) {
    case "eq":
      return compare(found, value) === 0;
    case "neq":
      return compare(found, value) !== 0;
    case "contains":
      return fold(found).includes(fold(value));
    case "gt":
      return compare(found, value) > 0;
    case "lt":
      return compare(found, value) < 0;
    case "gte":
      return compare(found, value) >= 0;
    case "lte":
      return compare(found, value) <= 0;
    case "in":
      return (value as unknown[]).some((each) => compare(found, each) === 0);
  }
}

/** Numbers as numbers, whatever they are written as; everything else as text, where case is no matter. */
function compare(a: unknown, b: unknown): number {
  const [x, y] = [numberOf(a), numberOf(b)];
  if (x !== null && y !== null) return x - y;
  const [s, t] = [fold(a), fold(b)];
  return s < t ? -1 : s > t ? 1 : 0;
}

function numberOf(value: unknown): number | null {
  if (typeof value === "number") return value;
  if (typeof value !== "string" || value.trim() === "") return null;
  const read = Number(value);
  return Number.isFinite(read) ? read : null;
}

function fold(value: unknown): string {
  return String(value).toLowerCase();
}

function needField(items: readonly Item[], field: string): void {
  if (items.some((item) => Object.hasOwn(item, field))) return;
  const known = [...new Set(items.flatMap((item) => Object.keys(item)))];
  throw invalid(
    `Unknown field "${field.slice(0, 40)}". Known fields: ${known.join(", ")}.`,
  );
}

function needItems(items: readonly Item[], ids: readonly string[]): void {
  const known = new Set(items.map(({ id }) => id));
  const unknown = ids.filter((id) => !known.has(id));
  if (unknown.length > 0) {
    throw invalid(
      `Unknown items on this stage: ${unknown.slice(0, 5).join(", ").slice(0, 80)}.`,
    );
  }
}

function invalid(message: string): Refused {
  return new Refused("INVALID_PARAMS", message);
}
