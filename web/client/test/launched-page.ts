// A page that an agent launched, with the test at the other end of its connection.
import { vi } from "vitest";
import type { AgentContext } from "../src/context/context.js";
import run, { type Boot } from "../src/context/runtime.js";

export type Sent = Record<string, unknown> & { id: string; requestId: string };

export class PageSocket extends EventTarget {
  static all: PageSocket[] = [];
  readonly #texts: string[] = [];
  closed = false;

  constructor(readonly url: string) {
    super();
    PageSocket.all.push(this);
  }

  static last(): PageSocket {
    const socket = PageSocket.all.at(-1);
    if (!socket) throw new Error("no socket was opened");
    return socket;
  }

  /** What the page sent, but for pings. */
  get sent(): Sent[] {
    const sent = this.#texts.map((text) => JSON.parse(text) as Sent);
    return sent.filter(({ type }) => type !== "ping");
  }

  // As little as a browser's own: a test may have patched everything else.
  send(text: string): void {
    this.#texts[this.#texts.length] = text;
  }

  close(): void {
    this.closed = true;
  }

  open(seq = 0): void {
    this.dispatchEvent(new Event("open"));
    this.say({ type: "welcome", seq });
  }

  say(frame: Record<string, unknown>): void {
    const data = JSON.stringify(frame);
    this.dispatchEvent(new MessageEvent("message", { data }));
  }

  lose(code = 1006): void {
    this.dispatchEvent(Object.assign(new Event("close"), { code }));
  }
}

export class FakeXhr {
  static asked: unknown[] = [];
  static status = 200;
  static text = "{}";
  status = 0;
  responseText = "";
  #told: unknown[] = [];

  open(...told: unknown[]): void {
    this.#told = told;
  }

  send(): void {
    FakeXhr.asked.push(this.#told);
    this.status = FakeXhr.status;
    this.responseText = FakeXhr.text;
  }
}

/** Keeps what a browser says after the script until the test wants it. */
class SoonChannel {
  static left: (() => void)[] = [];
  readonly port1: { onmessage: (() => void) | null; close: () => void } = {
    onmessage: null,
    close: () => undefined,
  };
  readonly port2 = {
    postMessage: () => SoonChannel.left.push(() => this.port1.onmessage?.()),
  };
}

export interface LaunchedPage {
  context: AgentContext;
  window: EventTarget & { __AGENT_CONTEXT__?: AgentContext };
  reports: unknown[];
  reloads: () => number;
}

export const BOOT: Boot = {
  launchId: "l-1",
  app: "budget-dashboard",
  agent: { name: "demo", version: "1.0.0", capabilities: ["text"] },
  config: { theme: "dark" },
  socket: "ws://budget-dashboard.localhost:1/__gangway/ws?launch=T",
  parentOrigin: null,
  reload: false,
};

export const DATA = { list: [{ deep: [1] }] };

/** Runs the script in a fresh window, and what it leaves for later; without data where they are null. */
export function launch(
  boot: Partial<Boot> = {},
  data: string | null = JSON.stringify(DATA),
): LaunchedPage {
  const { later, ...page } = launchFirst(boot, data);
  later();
  return page;
}

/** Runs the script alone; `later` does what it left. */
export function launchFirst(
  boot: Partial<Boot> = {},
  data: string | null = JSON.stringify(DATA),
): LaunchedPage & { later: () => void } {
  const window = new EventTarget() as LaunchedPage["window"] & {
    parent: unknown;
  };
  window.parent = window;
  const reports: unknown[] = [];
  const reload = vi.fn();
  vi.stubGlobal("window", window);
  vi.stubGlobal("WebSocket", PageSocket);
  vi.stubGlobal("XMLHttpRequest", FakeXhr);
  vi.stubGlobal("MessageChannel", SoonChannel);
  vi.stubGlobal("location", { reload });
  vi.stubGlobal("reportError", (error: unknown) => reports.push(error));
  PageSocket.all = [];
  FakeXhr.asked = [];
  FakeXhr.status = 200;
  const left: (() => void)[] = [];
  SoonChannel.left = left;
  run(JSON.stringify({ ...BOOT, ...boot }), data ?? undefined);
  const context = window.__AGENT_CONTEXT__;
  if (!context) throw new Error("there is no context");
  const reloads = () => reload.mock.calls.length;
  const later = () => left.splice(0).forEach((say) => say());
  return { context, window, reports, reloads, later };
}

/** What a promise was refused with. */
export async function refusal(
  promise: Promise<unknown>,
): Promise<{ code: string; message: string; details?: unknown }> {
  try {
    await promise;
  } catch (error) {
    return error as { code: string; message: string; details?: unknown };
  }
  throw new Error("it was kept");
}
