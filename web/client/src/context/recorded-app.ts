// An app's own page in a replay: the log answers it, and nothing that it does leaves its frame.
import { same } from "../same.js";
import { GangwayError } from "../errors.js";
import type {
  JsonValue,
  PageClientMessage,
  PageServerMessage,
} from "../generated/wire.js";
import { Rate } from "../rate.js";
import { CODES } from "./errors.js";
import type { ReplayShown, ReplayState } from "./replay.js";

/** What the log has about a page, in its order. */
export type RecordedMessage =
  /** The agent sent it an event. */
  | { type: "event"; event: string; payload: JsonValue }
  /** One of its tools was called. */
  | { type: "call"; name: string; arguments: JsonValue }
  /** It reported its state. */
  | { type: "state"; state: unknown }
  /** It sent an event. */
  | { type: "emitted"; event: string; payload: JsonValue }
  /** A request of it was answered. */
  | {
      type: "answer";
      action: string;
      params: JsonValue;
      result: JsonValue;
      error: { code: string; message: string } | null;
    };

export interface RecordedAppOptions {
  frame: HTMLIFrameElement;
  /** Where its page is, from `Apps.replay`. */
  url: string;
  /** Empty where there was no launch. */
  launchId: string;
  /** What the log has about it; may grow. */
  messages: readonly RecordedMessage[];
  /** The page shows the states that it reported. */
  onShown?: () => void;
  /** Gets why the frame is no longer served. */
  onProblem?: (error: GangwayError) => void;
}

/** What the frame may do: it has no origin, so it reaches no login and no storage. */
export const REPLAY_SANDBOX = "allow-scripts";

const MESSAGE_SIZE = (1 << 20) + (64 << 10);
const PER_SECOND = 100;
const BURST = 400;
// A page may register its tools after it was loaded.
const TOOLS_MS = 1_500;
// Requests whose answers come at later steps.
const MOST_REQUESTS = 256;
const REPLAY = "This is a replay: nothing is sent.";

type Request = Extract<PageClientMessage, { type: "weblet-request" }>;

export class RecordedApp {
  readonly #options: RecordedAppOptions;
  readonly #stop = new AbortController();
  readonly #rate = new Rate(PER_SECOND, BURST);
  /** How many messages are shown. */
  #count = 0;
  // Of the document that is loaded.
  #port: MessagePort | null = null;
  #sent = 0;
  #calls = 0;
  #tools = new Set<string>();
  #used = new Set<RecordedMessage>();
  #requests: Request[] = [];
  #state: RecordedMessage | null | undefined;
  /** Whether it shows states: they hold what calls did. */
  #shows = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #waited = false;

  constructor(options: RecordedAppOptions) {
    this.#options = options;
    const { frame } = options;
    const { signal } = this.#stop;
    frame.setAttribute("sandbox", REPLAY_SANDBOX);
    frame.setAttribute("referrerpolicy", "no-referrer");
    frame.addEventListener("load", () => this.#loaded(), { signal });
    this.#load();
  }

  /** Shows the page as it was after so many messages. */
  show(count: number): void {
    if (count < this.#sent && !this.#canGoBack(count)) {
      this.#count = count;
      this.#load();
      return;
    }
    this.#count = count;
    this.#sent = Math.min(this.#sent, count);
    this.#deliver();
  }

  dispose(): void {
    this.#stop.abort();
    this.#forget();
  }

  /** Whether nothing but states was shown since: the one before takes their place. */
  #canGoBack(count: number): boolean {
    const back = this.#options.messages.slice(count, this.#sent);
    return back.every(
      ({ type }) => type !== "event" && (type !== "call" || this.#shows),
    );
  }

  #load(): void {
    this.#forget();
    this.#options.frame.src = this.#options.url;
  }

  #forget(): void {
    clearTimeout(this.#timer);
    this.#port?.close();
    this.#port = null;
    this.#sent = 0;
    this.#calls = 0;
    this.#tools = new Set();
    this.#used = new Set();
    this.#requests = [];
    this.#state = undefined;
    this.#waited = false;
    this.#shows = false;
  }

  #loaded(): void {
    this.#forget();
    const { frame, launchId } = this.#options;
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }: MessageEvent) => {
      if (this.#port === port1) this.#fromFrame(data);
    };
    // Its origin has no name. Nothing but the recording goes to it.
    const message = { type: "gangway-port", launchId };
    frame.contentWindow?.postMessage(message, "*", [port2]);
    // Before the page offers its tools, so that one that shows states says so before they are called.
    this.#postState();
    this.#post({ type: "welcome", seq: 0 });
    this.#deliver();
  }

  #deliver(): void {
    if (!this.#port) return;
    const { messages } = this.#options;
    for (; this.#sent < this.#count; this.#sent += 1) {
      const message = messages[this.#sent];
      if (message?.type === "event") {
        const { event, payload } = message;
        const seq = this.#sent + 1;
        this.#post({ type: "agent-event", event, payload, seq });
      } else if (message?.type === "call" && !this.#shows) {
        const { name, arguments: args } = message;
        if (!this.#tools.has(name) && !this.#waited) {
          this.#timer ??= setTimeout(() => {
            this.#waited = true;
            this.#deliver();
          }, TOOLS_MS);
          break;
        }
        this.#calls += 1;
        const call = this.#calls;
        this.#post({ type: "tool-call", call, name, arguments: args });
      }
    }
    this.#postState();
    this.#requests = this.#requests.filter((asked) => !this.#answer(asked));
  }

  /** The newest state, unless the page has it. */
  #postState(): void {
    const state =
      this.#options.messages
        .slice(0, this.#count)
        .findLast((message) => message.type === "state") ?? null;
    if (state === this.#state) return;
    this.#state = state;
    this.#post({ type: "replay-state", state: state?.state ?? null });
  }

  #fromFrame(data: unknown): void {
    if (typeof data !== "string" || data.length > MESSAGE_SIZE) return;
    if (!this.#rate.take()) {
      this.dispose();
      this.#options.onProblem?.(
        new GangwayError("flood", "The app sent too many messages."),
      );
      return;
    }
    let said: PageClientMessage | ReplayShown | null;
    try {
      said = JSON.parse(data) as PageClientMessage | ReplayShown | null;
    } catch {
      return;
    }
    switch (said?.type) {
      case "replay-shown":
        this.#shows = true;
        this.#options.onShown?.();
        this.#deliver();
        break;
      case "weblet-tools":
        this.#tools = new Set(said.tools.map(({ name }) => name));
        this.#deliver();
        break;
      case "weblet-event":
        this.#acknowledge(said);
        break;
      case "weblet-request":
        if (!this.#answer(said) && this.#requests.length < MOST_REQUESTS) {
          this.#requests.push(said);
        }
    }
  }

  /** An event that the log has is acknowledged as it was; any other goes nowhere. */
  #acknowledge({
    id,
    event,
    payload,
  }: Extract<PageClientMessage, { type: "weblet-event" }>): void {
    const known = this.#find(
      (one) =>
        one.type === "emitted" &&
        one.event === event &&
        same(one.payload, payload ?? null),
      Infinity,
    );
    if (known) this.#post({ type: "weblet-ack", id });
    else {
      const error = { code: CODES.emitTimeout, message: REPLAY };
      this.#post({ type: "weblet-nack", id, error });
    }
  }

  /** A request gets the answer that it got, once the steps are there; false until then. */
  #answer({ requestId, action, params }: Request): boolean {
    const matches = (one: RecordedMessage) =>
      one.type === "answer" &&
      one.action === action &&
      same(one.params, params ?? null);
    const known = this.#find(matches, this.#sent);
    if (known?.type === "answer") {
      const { result, error } = known;
      this.#post(
        error
          ? { type: "weblet-response", requestId, success: false, error }
          : { type: "weblet-response", requestId, success: true, result },
      );
      return true;
    }
    if (this.#options.messages.some(matches)) return false;
    const error = { code: CODES.denied, message: REPLAY };
    this.#post({ type: "weblet-response", requestId, success: false, error });
    return true;
  }

  /** The first one among so many messages that was not found for this document before. */
  #find(
    matches: (message: RecordedMessage) => boolean,
    most: number,
  ): RecordedMessage | undefined {
    const known = this.#options.messages
      .slice(0, most)
      .find((one) => !this.#used.has(one) && matches(one));
    if (known) this.#used.add(known);
    return known;
  }

  #post(message: PageServerMessage | ReplayState): void {
    this.#port?.postMessage(JSON.stringify(message));
  }
}
