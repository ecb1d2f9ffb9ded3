// The connection to `gangway bridge`: one native port, the requests that wait on it, the streams and the pages.
import { Backoff, isTooLong } from "@gangway/client/extension";
import { lost, missing, tooLarge, tooMany } from "./failures.js";
import { Parts } from "./parts.js";
import { troubleIn, troubleOf, type Trouble } from "./trouble.js";
import {
  BridgeError,
  bridgeError,
  FRAME_BYTES,
  MAX_REQUESTS,
  PROTOCOL,
  type BridgeAnswer,
  type FromBridge,
  type Hello,
  type Part,
  type Status,
  type ToBridge,
} from "./wire.js";

// An unused bridge is disconnected after this time.
const IDLE_MS = 60_000;

/** As much of a native port as is needed here. */
export interface NativePort {
  postMessage(message: unknown): void;
  disconnect(): void;
  readonly onMessage: {
    addListener(listener: (message: unknown) => void): void;
  };
  readonly onDisconnect: { addListener(listener: () => void): void };
}

export interface BridgeOptions {
  connect: () => NativePort;
  /** Why a port that has just closed did; the browsers keep that in different places. */
  whyClosed: (port: NativePort) => string;
  browser: string;
  version: string;
}

/** `off` until something needs it. */
export interface BridgeState {
  state: "off" | "starting" | "up" | "gone" | "missing";
  trouble: Trouble | null;
  hello: Hello | null;
}

export interface BridgeListener {
  state?: (state: BridgeState) => void;
  status?: (status: Status) => void;
}

export interface PageHandlers {
  frame: (text: string) => void;
  /** Nothing more comes; `trouble` says what is missing on this machine. */
  closed: (trouble: Trouble | null) => void;
}

export interface PageOpenRequest {
  origin: string;
  tab: string;
  /** The pages around it, nearest first. */
  ancestors: string[];
  visit?: string;
  seen?: number;
}

interface Waiting {
  result: (value: unknown) => void;
  fail: (error: BridgeError) => void;
  event?: (event: unknown) => void;
}

export interface Stream {
  done: Promise<unknown>;
  cancel: () => void;
}

export class Bridge {
  readonly #options: BridgeOptions;
  readonly #listeners = new Set<BridgeListener>();
  readonly #waiting = new Map<string, Waiting>();
  readonly #pages = new Map<string, PageHandlers>();
  #port: NativePort | null = null;
  /** The port whose greeting is not answered yet. */
  #greeting: NativePort | null = null;
  /** The open requests, as last reported. */
  #asks: Status | null = null;
  #parts = new Parts();
  #spoke = false;
  #count = 0;
  #holds = 0;
  readonly #backoff = new Backoff();
  #retry: ReturnType<typeof setTimeout> | undefined;
  #idle: ReturnType<typeof setTimeout> | undefined;
  #state: BridgeState = { state: "off", trouble: null, hello: null };

  constructor(options: BridgeOptions) {
    this.#options = options;
  }

  get state(): BridgeState {
    return this.#state;
  }

  /** Says at once what is asked, since the bridge says it only when it changes. */
  listen(listener: BridgeListener): () => void {
    this.#listeners.add(listener);
    if (this.#asks) listener.status?.(this.#asks);
    return () => this.#listeners.delete(listener);
  }

  /** Keeps the bridge connected, and brings it back, until the returned function is called. */
  hold(): () => void {
    this.#holds += 1;
    this.#reach();
    let held = true;
    return () => {
      if (!held) return;
      held = false;
      this.#holds -= 1;
      this.#rest();
    };
  }

  /** Tries at once instead of waiting for the next attempt. */
  retry(): void {
    this.#backoff.reset();
    clearTimeout(this.#retry);
    this.#retry = undefined;
    if (!this.#port) this.#reach();
    else if (this.#state.state !== "up") this.#greet();
  }

  request(type: string, fields: object = {}): Promise<unknown> {
    return this.#ask(type, fields).done;
  }

  /** A request that is answered by events first. */
  stream(
    type: string,
    fields: object,
    event: (event: unknown) => void,
  ): Stream {
    const { id, done } = this.#ask(type, fields, event);
    const cancel = () => {
      if (!this.#waiting.has(id)) return;
      this.request("cancel", { target: id }).catch(() => undefined);
    };
    return { done, cancel };
  }

  /** Opens the connection of one document; the origin in the request comes from the browser. */
  openPage(
    options: PageOpenRequest,
    handlers: PageHandlers,
  ): { send(frame: string): void; close(): void } {
    const page = `v${(this.#count += 1)}`;
    this.#pages.set(page, handlers);
    this.#send({ type: "page_open", request_id: page, ...options });
    const isOpen = () => this.#pages.get(page) === handlers;
    return {
      send: (frame) => {
        if (isOpen()) this.#send({ type: "page_frame", page, frame });
      },
      close: () => {
        if (!isOpen()) return;
        this.#pages.delete(page);
        this.#send({ type: "page_close", page });
        this.#rest();
      },
    };
  }

  #ask(
    type: string,
    fields: object,
    event?: (event: unknown) => void,
  ): { id: string; done: Promise<unknown> } {
    const id = `r${(this.#count += 1)}`;
    const done = new Promise<unknown>((result, fail) => {
      // What makes room is always taken.
      if (this.#waiting.size >= MAX_REQUESTS && type !== "cancel") {
        fail(tooMany());
        return;
      }
      const message = { ...fields, type, request_id: id };
      // The bridge could not read on behind such a one.
      if (isTooLong(JSON.stringify(message), TextEncoder, FRAME_BYTES)) {
        fail(tooLarge());
        return;
      }
      this.#waiting.set(id, { result, fail, ...(event && { event }) });
      this.#send(message);
    });
    return { id, done };
  }

  #send(message: ToBridge): void {
    this.#reach()?.postMessage(message);
  }

  /** The port, opened if there is none. */
  #reach(): NativePort | null {
    clearTimeout(this.#idle);
    this.#idle = undefined;
    if (this.#port) {
      const { state } = this.#state;
      const unwell = state === "missing" || state === "gone";
      if (unwell && this.#retry === undefined) this.#greet();
      return this.#port;
    }
    clearTimeout(this.#retry);
    this.#retry = undefined;
    const port = this.#options.connect();
    this.#port = port;
    this.#parts = new Parts();
    this.#spoke = false;
    port.onMessage.addListener((message) => {
      if (this.#port === port) this.#receive(message);
    });
    port.onDisconnect.addListener(() => {
      const words = this.#options.whyClosed(port);
      if (this.#port === port) this.#lost(words);
    });
    this.#greet();
    return port;
  }

  #greet(): void {
    const { browser, version } = this.#options;
    // What is missing, or gone, stays said until something else is known.
    if (this.#state.state === "off") this.#become("starting");
    const port = this.#port;
    if (this.#greeting === port) return;
    this.#greeting = port;
    const extension = { version, browser };
    this.request("hello", { protocol: PROTOCOL, extension }).then(
      (hello) => {
        this.#greeting = null;
        this.#backoff.opened();
        this.#become("up", null, hello as Hello);
        this.#rest();
      },
      (error: unknown) => {
        // A closed port has an error message.
        if (this.#port !== port || !(error instanceof BridgeError)) return;
        this.#greeting = null;
        this.#become("missing", troubleIn(error));
        this.#tryLater();
      },
    );
  }

  #receive(data: unknown): void {
    this.#spoke = true;
    let message: FromBridge | undefined;
    try {
      message = this.#whole(data as FromBridge | Part);
    } catch (error) {
      // What follows would be out of step; a new port starts over.
      console.error(error);
      this.#port?.disconnect();
      this.#lost("The native messaging host sent an invalid message.");
      return;
    }
    if (message) this.#act(message);
  }

  /** The message, once all of its parts are there. */
  #whole(message: FromBridge | Part): FromBridge | undefined {
    if (message.type !== "part") return message;
    return this.#parts.take(message) as FromBridge | undefined;
  }

  #act(message: FromBridge): void {
    if (message.type === "status") this.#status(message);
    else if (message.type === "page_frame") {
      const { page, frame } = message;
      quietly(() => this.#pages.get(page)?.frame(frame));
    } else if (message.request_id === null) {
      console.error("Gangway's bridge:", message);
    } else this.#answer(message.request_id, message);
  }

  #answer(id: string, message: BridgeAnswer): void {
    // The id of another request: this one keeps waiting.
    if ("refused" in message) return;
    const page = this.#pages.get(id);
    if (page) {
      this.#pages.delete(id);
      quietly(() => page.closed(null));
      this.#rest();
      return;
    }
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    if ("event" in message) {
      quietly(() => waiting.event?.(message.event));
      return;
    }
    this.#waiting.delete(id);
    if ("error" in message) waiting.fail(bridgeError(message.error));
    else waiting.result(message.result ?? null);
    this.#rest();
  }

  #status(status: Status): void {
    if (status.about === "server") {
      const { hello } = this.#state;
      const { attached, base_url } = status;
      if (hello) {
        const state = status.state === "up" ? "up" : "gone";
        this.#become(state, null, { ...hello, attached, base_url });
        // Asked once more, the bridge says why it finds none.
        if (state === "gone" && this.#isNeeded) this.#greet();
      }
    } else if (status.frame.type === "asks") this.#asks = status;
    this.#tell(({ status: hear }) => hear?.(status));
  }

  #lost(words: string): void {
    const trouble = troubleOf(words, this.#spoke);
    this.#port = null;
    clearTimeout(this.#idle);
    const waiting = [...this.#waiting.values()];
    const pages = [...this.#pages.values()];
    this.#waiting.clear();
    this.#pages.clear();
    this.#become(trouble ? "missing" : "gone", trouble);
    for (const { fail } of waiting) fail(trouble ? missing(trouble) : lost());
    for (const { closed } of pages) quietly(() => closed(trouble));
    if (this.#holds > 0) this.#tryLater();
    else if (!trouble) this.#become("off");
  }

  #tryLater(): void {
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => {
      this.#retry = undefined;
      if (!this.#isNeeded) return;
      if (this.#port) this.#greet();
      else this.#reach();
    }, this.#backoff.next());
  }

  get #isNeeded(): boolean {
    return this.#waiting.size + this.#pages.size + this.#holds > 0;
  }

  /** Disconnects the bridge once it is unused. */
  #rest(): void {
    if (this.#isNeeded || !this.#port || this.#idle !== undefined) return;
    this.#idle = setTimeout(() => {
      const port = this.#port;
      this.#port = null;
      clearTimeout(this.#retry);
      this.#become("off");
      port?.disconnect();
    }, IDLE_MS);
  }

  #become(
    state: BridgeState["state"],
    trouble: Trouble | null = null,
    // What was said last stays true while the bridge is looked for.
    hello: Hello | null = this.#state.hello,
  ): void {
    this.#state = { state, trouble, hello };
    this.#tell(({ state: hear }) => hear?.(this.#state));
    if (state === "up" || !this.#asks) return;
    // Nothing can be answered now; pages ask again when they reconnect.
    this.#asks = null;
    this.#tell(({ status: hear }) => hear?.(NO_ASKS));
  }

  #tell(say: (listener: BridgeListener) => void): void {
    for (const listener of this.#listeners) quietly(() => say(listener));
  }
}

const NO_ASKS: Status = {
  ...{ about: "asks", frame: { type: "asks", asks: [] } },
};

/** What goes wrong with one of those who listen is not the business of the bridge. */
function quietly(work: () => void): void {
  try {
    work();
  } catch (error) {
    console.error(error);
  }
}
