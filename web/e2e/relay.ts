// Stands at the other end of the relay: as an agent, as a page, or as somebody who knows no manners.
import { expect, type Page } from "@playwright/test";
import { launch, openBehind, type Opens, type Tab } from "./context.js";
import type { Server } from "./server.js";

declare global {
  interface Window {
    relaySocket?: WebSocket;
    relayHeard?: Told[];
    relayClosed?: number;
  }
}

export interface Told {
  v: string;
  type: string;
  replyTo?: string;
  id?: string;
  seq?: number;
  payload: Record<string, unknown>;
}

interface Named {
  id: string;
  value: string;
}

export interface UiSpec {
  stage: string;
  title: string;
  items: { id: string; isDisabled?: boolean; [field: string]: unknown }[];
  visibleItems: { id: string; value: string; isDisabled?: boolean }[];
  state: {
    selected?: Named;
    selectedList?: Named[];
    quantities?: { item: Named; count: number }[];
    booking: {
      status: "open" | "booked" | "cancelled";
      movie?: Named;
      seats?: Named[];
      code?: string;
    };
  };
  modification: Record<string, unknown>;
  meta: { canGoOn: boolean };
}

/** A message of the protocol. */
export function frame(
  type: string,
  payload: Record<string, unknown>,
  more: Partial<Told> = {},
): string {
  return JSON.stringify({ v: "mvp-0.2", type, payload, ...more });
}

export class Peer {
  readonly #tab: Tab;
  readonly #server: Server;
  #last = 0;

  private constructor(tab: Tab, server: Server) {
    this.#tab = tab;
    this.#server = server;
  }

  /** Opens a socket, from a page of its own, and says nothing. */
  static async connect(context: Opens, server: Server): Promise<Peer> {
    const tab = await openBehind(context, `${server.url}/health`);
    const peer = new Peer(tab, server);
    await peer.reconnect();
    return peer;
  }

  /** Joins as an agent. */
  static async agent(
    context: Opens,
    server: Server,
    sessionId = "default",
  ): Promise<Peer> {
    const peer = await Peer.connect(context, server);
    await peer.join("agent", sessionId);
    return peer;
  }

  async reconnect(): Promise<void> {
    const url = `${this.#server.url.replace("http", "ws")}/agent/ws`;
    const offered = ["gangway", `gangway.key.${this.#server.token}`];
    await this.#tab.evaluate(
      ([address, offered]) =>
        new Promise<void>((resolve, reject) => {
          window.relayHeard = [];
          Reflect.deleteProperty(window, "relayClosed");
          const socket = new WebSocket(address, offered);
          window.relaySocket = socket;
          socket.onmessage = ({ data }) => {
            window.relayHeard?.push(JSON.parse(String(data)) as Told);
          };
          socket.onopen = () => resolve();
          socket.onerror = () => reject(new Error("no connection"));
          socket.onclose = ({ code }) => (window.relayClosed = code);
        }),
      [url, offered] as const,
    );
  }

  async join(
    role: string,
    sessionId = "default",
    more: Record<string, unknown> = {},
  ): Promise<Record<string, unknown>> {
    const answer = await this.ask("relay.join", { role, sessionId, ...more });
    expect(answer.type, JSON.stringify(answer.payload)).toBe("relay.joined");
    return answer.payload;
  }

  /** Sends texts as they are, without a pause between them. */
  async raw(...texts: string[]): Promise<void> {
    await this.#tab.evaluate((texts) => {
      for (const text of texts) window.relaySocket?.send(text);
    }, texts);
  }

  async tell(
    type: string,
    payload: Record<string, unknown>,
    more: Partial<Told> = {},
  ): Promise<void> {
    await this.raw(frame(type, payload, more));
  }

  /** The answer to a request, an error too. */
  async ask(type: string, payload: Record<string, unknown>): Promise<Told> {
    const id = `q${(this.#last += 1)}`;
    await this.tell(type, payload, { id });
    return this.#wait(({ replyTo }) => replyTo === id, `an answer to ${type}`);
  }

  /** The first that was heard of this type, and is heard no more. */
  take(type: string): Promise<Told> {
    return this.#wait((told) => told.type === type, type);
  }

  async heard(): Promise<Told[]> {
    return this.#tab.evaluate(() => window.relayHeard ?? [], null);
  }

  /** The code with which the socket was closed. */
  async closed(): Promise<number> {
    await expect
      .poll(() => this.#tab.evaluate(() => window.relayClosed ?? 0, null))
      .toBeGreaterThan(0);
    return this.#tab.evaluate(() => window.relayClosed ?? 0, null);
  }

  async spec(): Promise<UiSpec> {
    const { type, payload } = await this.ask("snapshot.get", {});
    expect(type, JSON.stringify(payload)).toBe("snapshot.state");
    return payload["uiSpec"] as UiSpec;
  }

  /** Uses a tool and gives back what is shown afterwards. */
  async use(
    toolName: string,
    params: Record<string, unknown> = {},
    reason = "It was asked for.",
  ): Promise<UiSpec> {
    const payload = { toolName, params, reason };
    const answer = await this.ask("tool.call", payload);
    expect(answer.type, JSON.stringify(answer.payload)).toBe("tool.result");
    return answer.payload["uiSpec"] as UiSpec;
  }

  /** Uses a tool in vain: the code of the error. */
  async refused(
    toolName: string,
    params: Record<string, unknown> = {},
    reason: unknown = "It was asked for.",
  ): Promise<unknown> {
    const payload = { toolName, params, reason };
    const answer = await this.ask("tool.call", payload);
    expect(answer.type).toBe("error");
    return answer.payload["code"];
  }

  leave(): Promise<void> {
    return this.#tab.close();
  }

  async #wait(wanted: (told: Told) => boolean, words: string): Promise<Told> {
    let found: Told | undefined;
    await expect
      .poll(
        async () => {
          found = (await this.heard()).find(wanted);
          return found !== undefined;
        },
        {
          message: `waits for ${words}`,
          intervals: [20, 50, 100],
          timeout: 20_000,
        },
      )
      .toBe(true);
    if (!found) throw new Error(`${words} never came`);
    const { seq, type, replyTo } = found;
    await this.#tab.evaluate(
      (taken) => {
        const at = (window.relayHeard ?? []).findIndex(
          (told) =>
            told.type === taken.type &&
            told.seq === taken.seq &&
            told.replyTo === taken.replyTo,
        );
        window.relayHeard?.splice(at, 1);
      },
      { seq, type, replyTo },
    );
    return found;
  }
}

/** The booking page, as agents join it under a name. */
export async function openBooking(
  page: Page,
  server: Server,
  session = "default",
): Promise<void> {
  const { url } = await launch(server, "movie-booking", {
    config: { session },
  });
  await page.goto(url);
  await expect(
    page.getByRole("heading", { name: "Which movie?" }),
  ).toBeVisible();
  await expect(page.locator("#presence")).toContainText(/agent/i);
  await expect(page.locator("#presence")).not.toContainText("Connecting");
}

/** The first of whatever can be had. */
export function firstOf({ visibleItems }: UiSpec): string {
  const found = visibleItems.find(({ isDisabled }) => !isDisabled);
  if (!found) throw new Error("nothing can be had");
  return found.id;
}

/** Settles one stage as an agent does, and goes on. */
export async function settle(agent: Peer): Promise<UiSpec> {
  const spec = await agent.spec();
  if (spec.stage === "ticket") {
    const [type] = spec.items;
    const quantity = spec.state.booking.seats?.length ?? 0;
    await agent.use("setQuantity", { typeId: type?.id ?? "", quantity });
  } else if (spec.stage !== "confirm" && !spec.meta.canGoOn) {
    await agent.use("select", { itemId: firstOf(spec) });
  }
  return agent.use("next");
}

export const STAGES = [
  "movie",
  "theater",
  "date",
  "time",
  "seat",
  "ticket",
  "confirm",
] as const;
