// Stands at the other end of the relay: as an agent, as a page, or as somebody who knows no manners.
import { expect, type Page } from "@playwright/test";
import { launch } from "./context.js";
import type { Server } from "./server.js";
import { JsonSocket } from "./socket.js";

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

const PATH = "/agent/ws";

export class Peer {
  readonly #server: Server;
  #socket: JsonSocket<Told>;
  #last = 0;

  private constructor(server: Server, socket: JsonSocket<Told>) {
    this.#server = server;
    this.#socket = socket;
  }

  /** Opens a socket, and says nothing. */
  static async connect(server: Server): Promise<Peer> {
    return new Peer(server, await JsonSocket.open(server, PATH));
  }

  /** Joins as an agent. */
  static async agent(server: Server, sessionId = "default"): Promise<Peer> {
    const peer = await Peer.connect(server);
    await peer.join("agent", sessionId);
    return peer;
  }

  /** Connects again, with nothing received. */
  async reconnect(): Promise<void> {
    this.#socket = await JsonSocket.open(this.#server, PATH);
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
  raw(...texts: string[]): void {
    this.#socket.send(...texts);
  }

  tell(
    type: string,
    payload: Record<string, unknown>,
    more: Partial<Told> = {},
  ): void {
    this.raw(frame(type, payload, more));
  }

  /** The answer to a request, an error too. */
  ask(type: string, payload: Record<string, unknown>): Promise<Told> {
    const id = `q${(this.#last += 1)}`;
    this.tell(type, payload, { id });
    const words = `an answer to ${type}`;
    return this.#socket.take(({ replyTo }) => replyTo === id, words);
  }

  /** The first that was received of this type, and is received no more. */
  take(type: string): Promise<Told> {
    return this.#socket.take((told) => told.type === type, type);
  }

  get received(): Told[] {
    return this.#socket.received;
  }

  /** The code with which the socket was closed. */
  closed(): Promise<number> {
    return this.#socket.end();
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

  leave(): void {
    this.#socket.close();
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
