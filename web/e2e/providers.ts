// Model providers of a test's own: they speak the real wires and remember what they were asked.
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";

export interface Asked {
  path: string;
  authorization: string | undefined;
  body: string;
}

/** A small HTTP server; a subclass says what it answers. */
export abstract class Provider {
  readonly #server: Server;
  /** Every request, oldest first. */
  readonly asked: Asked[] = [];
  url = "";

  /** Requests with a body: the server also lists the models every few seconds. */
  get questions(): Asked[] {
    return this.asked.filter(({ body }) => body !== "");
  }

  /** The body of the last one. */
  get lastQuestion(): string {
    return this.questions.at(-1)?.body ?? "";
  }

  constructor() {
    this.#server = createServer((request, response) => {
      void this.#hear(request, response);
    });
  }

  async start(): Promise<this> {
    await new Promise<void>((resolve) => {
      this.#server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = this.#server.address() as AddressInfo;
    this.url = `http://127.0.0.1:${port}`;
    return this;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  protected abstract answer(
    asked: Asked,
    response: ServerResponse,
  ): Promise<void>;

  async #hear(request: IncomingMessage, response: ServerResponse) {
    let body = "";
    for await (const chunk of request) body += String(chunk);
    // A server that is killed in the middle of a request leaves half of it.
    if (!request.complete) return;
    const { authorization } = request.headers;
    const asked = { path: request.url ?? "", authorization, body };
    this.asked.push(asked);
    await this.answer(asked, response);
  }
}

/** The last thing that a chat request says. */
function promptOf(body: string): string {
  const { messages } = JSON.parse(body) as { messages: { content: string }[] };
  return messages.at(-1)?.content ?? "";
}

export function json(
  response: ServerResponse,
  value: unknown,
  status = 200,
): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

/** Ollama's native API with two models; `fail` and `endless` in a prompt do what they say. */
export class FakeOllama extends Provider {
  /** Whether the last endless answer was no longer wanted. */
  leftAlone = false;

  protected async answer(asked: Asked, response: ServerResponse) {
    if (asked.path === "/api/tags") {
      const names = ["tiny:1b", "large:70b"];
      json(response, { models: names.map((name) => ({ name, model: name })) });
    } else if (asked.path === "/api/version") {
      json(response, { version: "0.12.0" });
    } else if (asked.path === "/api/chat") {
      await this.#chat(asked, response);
    } else json(response, { error: "not found" }, 404);
  }

  async #chat({ body }: Asked, response: ServerResponse) {
    const { model } = JSON.parse(body) as { model: string };
    const prompt = promptOf(body);
    response.writeHead(200, { "content-type": "application/x-ndjson" });
    const line = (value: object) =>
      response.write(`${JSON.stringify({ model, ...value })}\n`);
    const say = (content: string) =>
      line({ message: { role: "assistant", content }, done: false });
    response.on("close", () => (this.leftAlone = true));
    if (prompt.includes("fail")) {
      say("Half an ");
      line({ error: "the cat sat on the GPU" });
      response.end();
      return;
    }
    const words = [`**${model}**`, " received", ": ", prompt];
    // A pace that can be measured, and far from any timeout.
    for (let n = 0; !response.closed; n += 1) {
      const word = prompt.includes("endless") ? "on and " : words[n];
      if (word === undefined) break;
      say(word);
      await wait(40);
    }
    line({
      message: { role: "assistant", content: "" },
      done: true,
      done_reason: "stop",
      prompt_eval_count: 7,
      eval_count: words.length,
    });
    response.end();
  }
}

/** OpenAI's chat completions with a key; `weather`, `too many` and `fail` in a prompt do what they say. */
export class FakeOpenAi extends Provider {
  readonly key = "sk-work-5d8e0c1f";

  // eslint-disable-next-line @typescript-eslint/require-await
  protected async answer(asked: Asked, response: ServerResponse) {
    if (asked.authorization !== `Bearer ${this.key}`) {
      const error = { message: "Incorrect API key provided." };
      json(response, { error }, 401);
    } else if (asked.path === "/v1/models") {
      json(response, { object: "list", data: [{ id: "clever-1" }] });
    } else if (asked.path === "/v1/chat/completions") {
      this.#chat(asked, response);
    } else json(response, { error: { message: "not found" } }, 404);
  }

  #chat({ body }: Asked, response: ServerResponse) {
    const prompt = promptOf(body);
    if (prompt.includes("too many")) {
      // Longer than Gangway would wait by itself.
      response.setHeader("retry-after", "60");
      json(response, { error: { message: "slow down" } }, 429);
      return;
    }
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (value: object) =>
      response.write(`data: ${JSON.stringify(value)}\n\n`);
    const choice = { index: 0, finish_reason: null };
    const say = (delta: object) => send({ choices: [{ ...choice, delta }] });
    if (prompt.includes("fail")) {
      say({ content: "Half an " });
      send({ error: { message: "the cat sat on the GPU" } });
      response.end();
      return;
    }
    const calls = prompt.includes("weather");
    if (calls) {
      const part = (call: object) =>
        say({ tool_calls: [{ index: 0, ...call }] });
      part({ id: "call_1", function: { name: "weather", arguments: '{"ci' } });
      part({ function: { arguments: 'ty":"Paris"}' } });
    } else say({ role: "assistant", content: `Work received: ${prompt}` });
    const finish_reason = calls ? "tool_calls" : "stop";
    send({ choices: [{ index: 0, delta: {}, finish_reason }] });
    send({
      choices: [],
      usage: { prompt_tokens: 5, completion_tokens: 9, total_tokens: 14 },
    });
    response.end("data: [DONE]\n\n");
  }
}
