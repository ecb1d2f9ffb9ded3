// A model that calls tools, over OpenAI's wire: a test says what it does, turn by turn.
import type { ServerResponse } from "node:http";
import { setTimeout as wait } from "node:timers/promises";
import { json, Provider, type Asked } from "./providers.js";

interface Message {
  role: string;
  content: string | null;
}

/** What a model says next: words, in pieces, or a call of a tool by its short name, perhaps several times at once. */
export type Move =
  | { say: string; endless?: boolean }
  | { call: string; with: Record<string, unknown>; times?: number };

export interface Turn {
  /** The last thing that a person or a page said. */
  prompt: string;
  /** What tools answered since. */
  results: string[];
  /** The short names of the tools that it may call. */
  tools: string[];
}

/** `move` says what comes next. */
export class FakeAssistant extends Provider {
  readonly #move: (turn: Turn) => Move;
  /** Whether the last answer was no longer wanted. */
  leftAlone = false;

  constructor(move: (turn: Turn) => Move) {
    super();
    this.#move = move;
  }

  /** As in config.yaml. */
  get settings() {
    return { type: "openai", base_url: `${this.url}/v1` };
  }

  protected async answer(asked: Asked, response: ServerResponse) {
    if (asked.path === "/v1/models") {
      json(response, { object: "list", data: [{ id: "mate-1" }] });
    } else if (asked.path === "/v1/chat/completions") {
      await this.#chat(asked, response);
    } else json(response, { error: { message: "not found" } }, 404);
  }

  async #chat({ body }: Asked, response: ServerResponse) {
    const { messages, tools = [] } = JSON.parse(body) as {
      messages: Message[];
      tools?: { function: { name: string } }[];
    };
    const last = messages.findLastIndex(({ role }) => role === "user");
    const results = messages.slice(last).filter(({ role }) => role === "tool");
    const names = tools.map(({ function: { name } }) => name);
    const move = this.#move({
      prompt: messages[last]?.content ?? "",
      results: results.map(({ content }) => content ?? ""),
      tools: names.map(short),
    });
    this.leftAlone = false;
    response.on("close", () => (this.leftAlone = !response.writableEnded));
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (delta: object, finish_reason: string | null = null) =>
      response.write(
        `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
      );
    if ("call" in move) {
      const name = names.find((name) => short(name) === move.call);
      if (!name) throw new Error(`no tool ${move.call} among ${names.join()}`);
      const call = { name, arguments: JSON.stringify(move.with) };
      const { times = 1 } = move;
      for (let index = 0; index < times; index += 1) {
        const id = `call_${results.length}_${index}`;
        send({ tool_calls: [{ index, id, function: call }] });
      }
      send({}, "tool_calls");
    } else {
      const words = move.say.match(/\S*\s*/g) ?? [];
      do {
        for (const word of words) {
          if (response.closed) return;
          send({ content: word });
          // A pace that a person could follow.
          await wait(15);
        }
      } while (move.endless);
      send({}, "stop");
    }
    response.end("data: [DONE]\n\n");
  }
}

const short = (name: string) => name.split("__").at(-1) ?? name;
