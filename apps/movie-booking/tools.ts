// The tools that agents have on a stage, ten in all; the person's buttons do the same.
import { tool, type Tools } from "./__gangway/host.js";
import type { Command } from "./commands.ts";
import { KINDS, OPERATORS, STAGES, STYLES, type UiSpec } from "./spec.ts";

type Run = (command: Command, reason: string) => Promise<void>;

export function toolsOf(spec: UiSpec | null, run: Run): Tools {
  const { stage = STAGES[0], items = [] } = spec ?? {};
  const open = spec?.state.booking.status === "open";
  const first = stage === STAGES[0];
  const last = stage === "confirm";
  const fields = fieldsOf(items);
  // The lines of the summary are what they are.
  const narrows = () => !last && fields.length > 0;
  const kinds = KINDS.filter(
    (kind) => !last || (kind !== "filter" && kind !== "sort"),
  );
  const seats = spec?.state.booking.seats?.length ?? 0;
  return {
    filter: tool({
      description:
        "Shows only the items of this stage whose field matches. A second filter on the same field replaces the first.",
      parameters: {
        field: {
          type: "string",
          description: "A field of the items of this stage.",
          enum: fields,
        },
        operator: {
          type: "string",
          description: "How the field is compared.",
          enum: OPERATORS,
        },
        value: {
          type: "any",
          description: "A string or a number; a list of them for in.",
        },
      },
      when: narrows,
      run: (params, { reason }) => run({ tool: "filter", params }, reason),
    }),
    sort: tool({
      description: "Sorts the items of this stage by a field.",
      parameters: {
        field: {
          type: "string",
          description: "A field of the items of this stage.",
          enum: fields,
        },
        order: {
          type: "string",
          description: "Ascending or descending.",
          enum: ["asc", "desc"],
        },
      },
      when: narrows,
      run: (params, { reason }) => run({ tool: "sort", params }, reason),
    }),
    highlight: tool({
      description: "Highlights items for the user, without selecting them.",
      parameters: {
        itemIds: {
          type: "array",
          description: "Ids of items of this stage.",
          items: { type: "string" },
        },
        style: {
          type: "string",
          description: "The style; border by default.",
          enum: STYLES,
          optional: true,
        },
      },
      when: () => items.length > 0,
      run: (params, { reason }) => run({ tool: "highlight", params }, reason),
    }),
    augment: tool({
      description: "Adds a short note to items, at most 80 characters each.",
      parameters: {
        items: {
          type: "array",
          description: "Item ids, each with the note to show.",
          items: {
            type: "object",
            properties: {
              itemId: { type: "string" },
              value: { type: "string" },
            },
          },
        },
      },
      when: () => items.length > 0,
      run: (params, { reason }) => run({ tool: "augment", params }, reason),
    }),
    clearModification: tool({
      description:
        "Clears filters, sorting, highlights or notes; without a type, all of them.",
      parameters: {
        type: {
          type: "string",
          description: "What to clear.",
          enum: kinds,
          optional: true,
        },
      },
      when: () => items.length > 0,
      run: (params, { reason }) =>
        run({ tool: "clearModification", params }, reason),
    }),
    select: tool({
      description:
        "Selects an item of this stage. On the stage seat it toggles: selecting a selected seat deselects it.",
      parameters: {
        itemId: { type: "string", description: "The id of a visible item." },
      },
      when: () => open && stage !== "ticket" && !last,
      run: (params, { reason }) => run({ tool: "select", params }, reason),
    }),
    setQuantity: tool({
      description:
        "Sets the number of tickets of a type. The total must equal the number of seats.",
      parameters: {
        typeId: {
          type: "string",
          description: "The id of a ticket type.",
          enum: items.map(({ id }) => id),
        },
        quantity: {
          type: "integer",
          description: "How many.",
          minimum: 0,
          maximum: seats,
        },
      },
      when: () => open && stage === "ticket",
      run: (params, { reason }) => run({ tool: "setQuantity", params }, reason),
    }),
    next: tool({
      description: "Goes to the next stage. On the stage confirm it books.",
      parameters: {},
      when: () => open,
      run: (_params, { reason }) => run({ tool: "next", params: {} }, reason),
    }),
    prev: tool({
      description: "Goes back to the previous stage.",
      parameters: {},
      when: () => open && !first,
      run: (_params, { reason }) => run({ tool: "prev", params: {} }, reason),
    }),
    postMessage: tool({
      description: "Sends a message to the user in the chat.",
      parameters: { text: { type: "string", description: "The message." } },
      when: () => spec !== null,
      run: (params, { reason }) => run({ tool: "postMessage", params }, reason),
    }),
  };
}

/** What items can be filtered and sorted by. */
function fieldsOf(items: readonly object[]): string[] {
  const all = new Set(items.flatMap((item) => Object.keys(item)));
  all.delete("isDisabled");
  return [...all];
}
