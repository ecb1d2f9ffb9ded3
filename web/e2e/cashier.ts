// A model that books a ticket: it reads what the page shows and calls the page's tools, on the wire of OpenAI.
import type { ServerResponse } from "node:http";
import { json, Provider, type Asked } from "./providers.js";
import type { UiSpec } from "./relay.js";

interface Said {
  role: string;
  content: string | null;
}

interface Question {
  messages: Said[];
  tools?: { function: { name: string } }[];
}

interface Wish {
  tool: string;
  args: Record<string, unknown>;
  reason: string;
}

export class Cashier extends Provider {
  #calls = 0;

  // eslint-disable-next-line @typescript-eslint/require-await
  protected async answer({ path, body }: Asked, response: ServerResponse) {
    if (path === "/v1/models") {
      json(response, { object: "list", data: [{ id: "cashier" }] });
      return;
    }
    const question = JSON.parse(body) as Question;
    const names = (question.tools ?? []).map((tool) => tool.function.name);
    // What else there is depends on the stage.
    const seen = names.find((name) => name.endsWith("__look"));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta: object, finish: string | null) => {
      const choice = { index: 0, delta, finish_reason: finish };
      const chunk = { object: "chat.completion.chunk", choices: [choice] };
      response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    };
    const wish = seen ? decide(question.messages) : "I see no page to book on.";
    if (typeof wish === "string") {
      send({ content: wish }, null);
      send({}, "stop");
    } else {
      const id = `call-${(this.#calls += 1)}`;
      const name = `${seen?.slice(0, -"look".length)}${wish.tool}`;
      const args = { ...wish.args, reason: wish.reason };
      const call = {
        ...{ index: 0, id, type: "function" },
        function: { name, arguments: JSON.stringify(args) },
      };
      send({ tool_calls: [call] }, null);
      send({}, "tool_calls");
    }
    response.end("data: [DONE]\n\n");
  }
}

/** What to do next, or what to say when it is done. */
function decide(messages: Said[]): Wish | string {
  const last = messages.at(-1);
  if (last?.role !== "tool") {
    return { tool: "look", args: {}, reason: "" };
  }
  const { uiSpec } = JSON.parse(last.content ?? "{}") as { uiSpec?: UiSpec };
  if (!uiSpec) return `The page says: ${last.content}`;
  const { stage, state, meta, visibleItems } = uiSpec;
  const { status, code } = state.booking;
  if (status === "booked") return `Booked. Your code is ${code}.`;
  if (meta.canGoOn) return { tool: "next", args: {}, reason: "It is settled." };
  const free = visibleItems.find(({ isDisabled }) => !isDisabled)?.id;
  if (stage === "ticket") {
    const args = { typeId: free, quantity: 1 };
    return { tool: "setQuantity", args, reason: "One ticket is wanted." };
  }
  const args = { itemId: free };
  return { tool: "select", args, reason: "The first that can be had." };
}
