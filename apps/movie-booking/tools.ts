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
        "Shows only the items of this stage whose field matches. A second filter on the same field takes the place of the first.",
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
          description: "A text or a number; a list of them for in.",
        },
      },
      when: narrows,
      run: (params, { reason }) => run({ tool: "filter", params }, reason),
    }),
    sort: tool({
      description: "Orders the items of this stage by a field.",
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
      description: "Points items out to the person, without choosing them.",
      parameters: {
        itemIds: {
          type: "array",
          description: "Ids of items of this stage.",
          items: { type: "string" },
        },
        style: {
          type: "string",
          description: "How; a border without it.",
          enum: STYLES,
          optional: true,
        },
      },
      when: () => items.length > 0,
      run: (params, { reason }) => run({ tool: "highlight", params }, reason),
    }),
    augment: tool({
      description:
        "Writes a short note beside items, 80 characters at the most.",
      parameters: {
        items: {
          type: "array",
          description: "Ids of items and what to write beside each.",
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
        "Takes filters, order, highlights or notes back; all of them without a type.",
      parameters: {
        type: {
          type: "string",
          description: "Which of them.",
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
        "Chooses an item of this stage. On the stage seat it is a switch: choosing a chosen seat lets it go.",
      parameters: {
        itemId: { type: "string", description: "The id of a visible item." },
      },
      when: () => open && stage !== "ticket" && !last,
      run: (params, { reason }) => run({ tool: "select", params }, reason),
    }),
    setQuantity: tool({
      description:
        "Says how many tickets of a kind are wanted. Together they must be as many as the seats.",
      parameters: {
        typeId: {
          type: "string",
          description: "The id of a kind of ticket.",
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
      description: "Goes on to the next stage. On the stage confirm it books.",
      parameters: {},
      when: () => open,
      run: (_params, { reason }) => run({ tool: "next", params: {} }, reason),
    }),
    prev: tool({
      description: "Goes back to the stage before.",
      parameters: {},
      when: () => open && !first,
      run: (_params, { reason }) => run({ tool: "prev", params: {} }, reason),
    }),
    postMessage: tool({
      description: "Says something to the person, in the chat.",
      parameters: { text: { type: "string", description: "What to say." } },
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
