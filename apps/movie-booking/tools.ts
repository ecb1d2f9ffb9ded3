// The ten tools that agents have here; the person's buttons do the same.
import { tool, type Tools } from "./__gangway/host.js";
import type { Command } from "./commands.ts";
import { KINDS, OPERATORS, STYLES } from "./spec.ts";

type Run = (command: Command, reason: string) => Promise<void>;

export function toolsOf(run: Run): Tools {
  return {
    filter: tool({
      description:
        "Shows only the items of this stage whose field matches. A second filter on the same field takes the place of the first.",
      parameters: {
        field: {
          type: "string",
          description: "A field of the items, e.g. genre.",
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
      run: (params, { reason }) => run({ tool: "filter", params }, reason),
    }),
    sort: tool({
      description: "Orders the items of this stage by a field.",
      parameters: {
        field: {
          type: "string",
          description: "A field of the items, e.g. rating.",
        },
        order: {
          type: "string",
          description: "Ascending or descending.",
          enum: ["asc", "desc"],
        },
      },
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
      run: (params, { reason }) => run({ tool: "augment", params }, reason),
    }),
    clearModification: tool({
      description:
        "Takes filters, order, highlights or notes back; all of them without a type.",
      parameters: {
        type: {
          type: "string",
          description: "Which of them.",
          enum: KINDS,
          optional: true,
        },
      },
      run: (params, { reason }) =>
        run({ tool: "clearModification", params }, reason),
    }),
    select: tool({
      description:
        "Chooses an item of this stage. On the stage seat it is a switch: choosing a chosen seat lets it go.",
      parameters: {
        itemId: { type: "string", description: "The id of a visible item." },
      },
      run: (params, { reason }) => run({ tool: "select", params }, reason),
    }),
    setQuantity: tool({
      description:
        "Says how many tickets of a kind are wanted, on the stage ticket. Together they must be as many as the seats.",
      parameters: {
        typeId: { type: "string", description: "The id of a kind of ticket." },
        quantity: { type: "integer", description: "How many.", minimum: 0 },
      },
      run: (params, { reason }) => run({ tool: "setQuantity", params }, reason),
    }),
    next: tool({
      description: "Goes on to the next stage. On the stage confirm it books.",
      parameters: {},
      run: (_params, { reason }) => run({ tool: "next", params: {} }, reason),
    }),
    prev: tool({
      description: "Goes back to the stage before.",
      parameters: {},
      run: (_params, { reason }) => run({ tool: "prev", params: {} }, reason),
    }),
    postMessage: tool({
      description: "Says something to the person, in the chat.",
      parameters: { text: { type: "string", description: "What to say." } },
      run: (params, { reason }) => run({ tool: "postMessage", params }, reason),
    }),
  };
}
