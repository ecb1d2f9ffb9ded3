// A page with gangway.js in it, and the test in place of the broker frame.
import { JSDOM, type DOMWindow } from "jsdom";
import { bundle } from "../scripts.js";
import type { Agent, AI, ModelContext } from "../src/web-agent/api.js";

export const SERVER = "http://localhost:3000";

const scripts = new Map<string, Promise<string>>();

/** The script as the server hands it out. */
export function built(name: "gangway.js" | "broker.js"): Promise<string> {
  const found =
    scripts.get(name) ??
    bundle(name).then(({ code }) => code.replace("__GANGWAY_ORIGIN__", SERVER));
  scripts.set(name, found);
  return found;
}

/** What jsdom does not have; ports keep what is posted for the test to look at. */
const MISSING = `
  window.channels = [];
  const { stringify } = JSON;
  window.MessagePort = class extends EventTarget {
    posted = [];
    closed = false;
    postMessage(data) { this.posted[this.posted.length] = stringify(data); }
    start() {}
    close() { this.closed = true; }
  };
  window.MessageChannel = class {
    port1 = new MessagePort();
    port2 = new MessagePort();
    constructor() { channels[channels.length] = this; }
  };
  window.CSSStyleSheet = class { replaceSync() {} };
  window.shadows = [];
  const { attachShadow } = Element.prototype;
  Element.prototype.attachShadow = function (options) {
    const root = attachShadow.call(this, options);
    shadows.push(root);
    return root;
  };
`;

export type Said = Record<string, unknown> & {
  type: string;
  id: number;
  method: string;
  params: Record<string, unknown>;
};

interface Port extends EventTarget {
  posted: string[];
  closed: boolean;
}

export type Win = DOMWindow & {
  ai: AI;
  agent: Agent;
  channels: { port1: Port; port2: Port }[];
  shadows: ShadowRoot[];
};

export interface PageOptions {
  html?: string;
  url?: string;
  /** Runs before gangway.js. */
  before?: (window: Win) => void;
}

export class Page {
  readonly window: Win;
  readonly opened: string[] = [];
  greeting: { data: unknown; origin: string; ports: unknown[] } | null = null;

  private constructor(code: string, options: PageOptions) {
    const dom = new JSDOM(options.html ?? "<!doctype html><p>Hello", {
      url: options.url ?? "https://shop.example/fish?a=1",
      runScripts: "outside-only",
      pretendToBeVisual: true,
    });
    this.window = dom.window as unknown as Win;
    this.window.eval(MISSING);
    Object.assign(this.window, {
      structuredClone,
      ReadableStream,
      open: (url: string) => {
        this.opened.push(url);
        return {};
      },
    });
    options.before?.(this.window);
    this.window.eval(code);
  }

  static async open(options: PageOptions = {}): Promise<Page> {
    return new Page(await built("gangway.js"), options);
  }

  get ai(): AI {
    return this.window.ai;
  }

  get agent(): Agent {
    return this.window.agent;
  }

  get modelContext(): ModelContext {
    const { modelContext } = this.window.document;
    if (!modelContext) throw new Error("there is no document.modelContext");
    return modelContext;
  }

  get frame(): HTMLIFrameElement {
    const frame = this.window.document.querySelector("iframe");
    if (!frame) throw new Error("there is no frame");
    return frame;
  }

  get port(): Port {
    const channel = this.window.channels.at(-1);
    if (!channel) throw new Error("there is no port");
    return channel.port1;
  }

  /** What the page said, its JSON read. */
  get said(): Said[] {
    return this.port.posted.map((text) => {
      const said = JSON.parse(text) as Said;
      for (const name of ["params", "tools", "result"]) {
        const value = said[name];
        if (typeof value === "string") said[name] = JSON.parse(value);
      }
      return said;
    });
  }

  /** The last call. */
  last(): Said {
    const call = this.said.findLast(({ type }) => type === "call");
    if (!call) throw new Error("nothing was called");
    return call;
  }

  get aborts(): number[] {
    return this.said.filter(({ type }) => type === "abort").map(({ id }) => id);
  }

  /** The frame loads, and its broker reports it. */
  greet(): void {
    const postMessage = (data: unknown, origin: string, ports: unknown[]) =>
      (this.greeting = { data, origin, ports });
    const contentWindow = { postMessage };
    Object.defineProperty(this.frame, "contentWindow", {
      value: contentWindow,
      configurable: true,
    });
    this.frame.dispatchEvent(new this.window.Event("load"));
    this.hear({ type: "ready" });
  }

  hear(message: Record<string, unknown>): void {
    const data = structuredClone(message);
    this.port.dispatchEvent(new this.window.MessageEvent("message", { data }));
  }

  result(result: unknown, id = this.last().id): void {
    this.hear({ type: "result", id, result });
  }

  error(code: string, message = "words", id = this.last().id): void {
    this.hear({ type: "error", id, error: { code, message } });
  }

  event(event: unknown, id = this.last().id): void {
    this.hear({ type: "event", id, event });
  }
}

/** What a promise was refused with. */
export async function refusal(promise: Promise<unknown>): Promise<{
  name: string;
  code?: string;
  message: string;
  details?: unknown;
}> {
  try {
    await promise;
  } catch (error) {
    return error as Error;
  }
  throw new Error("it was kept");
}

/** Everything that an iterator gives, to its end. */
export async function all<T>(events: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const event of events) list.push(event);
  return list;
}

/** Lets promises that are ready be kept. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}
