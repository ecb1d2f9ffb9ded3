// The commands of the page, for users and agents alike, and their log entries.
import type { Booking } from "./booking.ts";
import { LOOKS, type Kind, type Operator, type Style } from "./spec.ts";

export type Command =
  | {
      tool: "filter";
      params: { field: string; operator: Operator; value: unknown };
    }
  | { tool: "sort"; params: { field: string; order: "asc" | "desc" } }
  | { tool: "highlight"; params: { itemIds: string[]; style?: Style } }
  | {
      tool: "augment";
      params: { items: { itemId: string; value: string }[] };
    }
  | { tool: "clearModification"; params: { type?: Kind } }
  | { tool: "select"; params: { itemId: string } }
  | { tool: "setQuantity"; params: { typeId: string; quantity: number } }
  | { tool: "next"; params: Record<never, never> }
  | { tool: "prev"; params: Record<never, never> }
  | { tool: "postMessage"; params: { text: string } }
  // The person's alone: it is no tool of agents.
  | { tool: "cancelBooking"; params: Record<never, never> };

const OPERATORS: Record<Operator, string> = {
  eq: "is",
  neq: "is not",
  contains: "contains",
  gt: "is greater than",
  lt: "is less than",
  gte: "is at least",
  lte: "is at most",
  in: "is one of",
};

/** A description of a filter. */
export function filterWords(
  field: string,
  operator: Operator,
  value: unknown,
): string {
  const values = Array.isArray(value) ? value.join(", ") : String(value);
  return `${field} ${OPERATORS[operator]} ${values}`.slice(0, 120);
}

/** What was done, in a few words; `before` is the booking as it was then. */
export function describe({ tool, params }: Command, before: Booking): string {
  const { valueField } = LOOKS[before.stage];
  const name = (id: string) => {
    const item = before.items.find((each) => each.id === id);
    return String(item?.[valueField] ?? id);
  };
  switch (tool) {
    case "filter":
      return `Showed only where ${filterWords(params.field, params.operator, params.value)}`;
    case "sort":
      return `Sorted by ${params.field}${params.order === "desc" ? ", highest first" : ""}`;
    case "highlight":
      return `Highlighted ${listed(params.itemIds.map(name))}`;
    case "augment":
      return `Added notes to ${listed(params.items.map(({ itemId }) => name(itemId)))}`;
    case "clearModification":
      return params.type ? `Undid: ${params.type}` : "Cleared all changes";
    case "select": {
      const left =
        before.stage === "seat" && before.seats.includes(params.itemId);
      return `${left ? "Deselected" : "Selected"} ${before.stage === "seat" ? "seat " : ""}${name(params.itemId)}`;
    }
    case "setQuantity":
      return `${params.quantity} × ${name(params.typeId)}`;
    case "next":
      return before.stage === "confirm"
        ? "Booked"
        : `Continued from ${before.stage}`;
    case "prev":
      return `Went back from ${before.stage}`;
    case "postMessage":
      return params.text;
    case "cancelBooking":
      return "Cancelled the booking";
  }
}

function listed(names: string[]): string {
  const [shown, more] = [names.slice(0, 3), names.length - 3];
  return shown.join(", ") + (more > 0 ? ` and ${more} more` : "");
}
