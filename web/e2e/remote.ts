// What tests of remote agents need: a model that counts its tokens, a shop that shows the chat, and words for both.
import { once } from "node:events";
import {
  createServer,
  type Server as HttpServer,
  type ServerResponse,
} from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import type { CreateAgent, CreatedAgent } from "@gangway/client";
import type { EmbedOptions } from "@gangway/client/embed";
import type { FrameLocator, Page } from "@playwright/test";
import { json, Provider, type Asked } from "./providers.js";
import { COUNTED } from "./scripts.js";
import type { Server } from "./server.js";

/** An ACP agent that asks before it does anything. */
export const ASKING = {
  acp: [
    process.execPath,
    fileURLToPath(new URL("asking-agent.js", import.meta.url)),
  ],
};

/** OpenAI's wire: `count` in a prompt counts slowly, `endless` never ends; anything else is repeated. */
export class Clerk extends Provider {
  /** Prompts of people, oldest first. */
  readonly received: string[] = [];
  /** What it says instead of what it received. */
  says: string | null = null;

  get settings() {
    return {
      providers: {
        clerk: { type: "openai", base_url: `${this.url}/v1`, key: "k" },
      },
    };
  }

  protected async answer(asked: Asked, response: ServerResponse) {
    if (asked.path.endsWith("/models")) {
      // A name whose window is known: 8192 tokens.
      json(response, { object: "list", data: [{ id: "gpt-4" }] });
    } else if (asked.path.endsWith("/audio/transcriptions")) {
      json(response, { text: "ahoy from the microphone" });
    } else await this.#chat(asked, response);
  }

  async #chat(asked: Asked, response: ServerResponse) {
    const { messages } = JSON.parse(asked.body) as {
      messages: { role: string; content: string }[];
    };
    const prompt = messages.at(-1)?.content ?? "";
    this.received.push(prompt);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const send = (value: object) =>
      response.write(`data: ${JSON.stringify(value)}\n\n`);
    const say = (content: string, finish_reason: string | null = null) =>
      send({ choices: [{ index: 0, delta: { content }, finish_reason }] });
    const counts = prompt.includes("count");
    const text = counts ? COUNTED : (this.says ?? `Heard: **${prompt}**`);
    do {
      for (const word of text.match(/\s*\S+\s*/g) ?? []) {
        if (response.closed) return;
        say(word);
        // A pace that leaves time for a restart in the middle.
        if (text === COUNTED) await wait(40);
        else await wait(2);
      }
    } while (prompt.includes("endless"));
    say("", "stop");
    const usage = {
      prompt_tokens: 1_000 * messages.length,
      completion_tokens: 24,
    };
    send({ choices: [], usage });
    response.end("data: [DONE]\n\n");
  }
}

/** Somebody's page with a place for a chat, on two origins. */
export class Shop {
  readonly #server: HttpServer;
  #port = 0;
  /** Where embed.js is. */
  gangway = "";
  /** What the page at /own is made of. */
  own = "";

  constructor() {
    this.#server = createServer(({ url }, response) => {
      response.setHeader("content-type", "text/html; charset=utf-8");
      if (url?.startsWith("/own"))
        response.end(`<!doctype html><body>${this.own}`);
      else
        response.end(`<!doctype html><title>A shop</title>
        <body style="margin: 0"><div id="chat" style="width: 300px; height: 400px"></div>
        <script src="${this.gangway}/embed.js"></script>`);
    });
  }

  async start(): Promise<this> {
    this.#server.listen(0, "127.0.0.1");
    await once(this.#server, "listening");
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  stop(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  /** The origin that may show chats; another site than Gangway's, so that its frames have no storage here. */
  get origin(): string {
    return `http://localhost:${this.#port}`;
  }

  /** The same page on an origin that may not. */
  get stranger(): string {
    return `http://127.0.0.1:${this.#port}`;
  }
}

export async function createAgent(
  server: Server,
  wish: Partial<CreateAgent> = {},
): Promise<CreatedAgent> {
  const body: CreateAgent = {
    project_name: "shop",
    persona_slug: "clerk",
    initial_prompt: "Good morning",
    ...wish,
  };
  const answer = await server.post("/api/remote_agents/create", body);
  if (answer.status !== 201) {
    throw new Error(`no agent was created: ${await answer.text()}`);
  }
  return (await answer.json()) as CreatedAgent;
}

/** What a page received of its chat, by name. */
export interface Told {
  type: string;
  [field: string]: unknown;
}

interface ShopPage extends Window {
  Gangway: typeof import("@gangway/client/embed");
  chat: import("@gangway/client/embed").Embed;
  told: Told[];
}

/** Puts the chat of an agent into a page that is open. */
export async function embed(
  page: Page,
  options: Omit<EmbedOptions, "container">,
): Promise<FrameLocator> {
  await page.evaluate((options) => {
    const shop = window as unknown as ShopPage;
    shop.told = [];
    shop.chat = shop.Gangway.embed({ container: "#chat", ...options });
    const names = [
      ...(["ready", "resize", "state", "message"] as const),
      ...(["question", "ended", "error"] as const),
    ];
    for (const name of names) {
      shop.chat.on(name, (event) => shop.told.push(event as unknown as Told));
    }
  }, options);
  return page.frameLocator("iframe");
}

/** What the page received of its chat so far. */
export function toldTo(page: Page): Promise<Told[]> {
  return page.evaluate(() => (window as unknown as ShopPage).told);
}

/** Lets the page ask something of its chat. */
export async function ask(
  page: Page,
  name: "send" | "style" | "focus",
  value?: unknown,
): Promise<void> {
  await page.evaluate(
    ([name, value]) => {
      const { chat } = window as unknown as ShopPage;
      (chat[name] as (value: unknown) => void)(value);
    },
    [name, value] as const,
  );
}

/** The box to write in. */
export function box(place: Page | FrameLocator) {
  return place.getByRole("textbox", { name: "Message" });
}

/** What the line of the agent's state says. */
export function stateLine(place: Page | FrameLocator) {
  return place.locator(".line").getByRole("status");
}

/** What the agent said, oldest first. */
export function saidBy(place: Page | FrameLocator) {
  return place.locator(".message.assistant .markdown");
}
