// The page's side of an applet in a frame: shakes hands, relays, and trusts nothing the frame says.
import { GangwayError } from "../errors.js";
import type { ApiKey } from "../key.js";
import type { LiveState } from "../live.js";
import { Rate } from "../rate.js";
import { askWhy } from "./connect.js";
import { SocketLink } from "./socket-link.js";
import {
  sizeLimit,
  type ClientMessage,
  type Link,
  type LinkEvents,
  type ServerFrame,
  type FrameOf,
} from "./wire.js";

/** The connection of a host. */
export interface HostLink extends Link {
  readonly state: LiveState;
  /** The frame was reloaded, and has no open requests. */
  reset(): void;
  /** Tries at once instead of waiting for the next attempt. */
  reconnect(): void;
}

export interface AppletHostOptions {
  session: string;
  applet: string;
  theme?: "light" | "dark";
  /** Where the server is; the page's own origin without it. */
  url?: string;
  /** An API key, or the token of a login. */
  key?: ApiKey | undefined;
  /** Gets every change of the connection. */
  onState?: (state: LiveState, error?: GangwayError) => void;
  /** Called when the person leaves the frame by the keyboard. */
  onLeave?: () => void;
  /** Gets why the frame is no longer served. */
  onProblem?: (error: GangwayError) => void;
  /** Makes what answers the frame, instead of a connection to the server. */
  link?: (events: LinkEvents) => HostLink;
  WebSocket?: typeof WebSocket;
  random?: () => number;
}

/** What an applet's frame may do. */
export const SANDBOX = "allow-scripts allow-forms allow-modals allow-downloads";

const TYPES: Record<ClientMessage["type"], true> = {
  ...{ setState: true, getState: true, readFile: true, writeFile: true },
  ...{ listFiles: true, stat: true, subscribe: true, unsubscribe: true },
  ...{ invoke: true, stop: true, ping: true },
  ...{ offerTools: true, toolResult: true },
};
// A drag sends one message per frame of the screen; this leaves room for a few of them.
const PER_SECOND = 200;
const BURST = 400;
// A frame that exceeds the rate limit this often is cut off.
const MAX_REFUSED = 2_000;
const ID_LENGTH = 100;

export class AppletHost {
  readonly #iframe: HTMLIFrameElement;
  readonly #options: AppletHostOptions;
  readonly #link: HostLink;
  readonly #stop = new AbortController();
  #theme: "light" | "dark";
  #port: MessagePort | null = null;
  #nonce: unknown;
  #loaded = false;
  #ready: FrameOf<"ready"> | null = null;
  #address: string | null = null;
  readonly #rate = new Rate(PER_SECOND, BURST);
  #refused = 0;

  /** Gives the frame its sandbox, and its address as soon as the server says it. */
  constructor(iframe: HTMLIFrameElement, options: AppletHostOptions) {
    this.#iframe = iframe;
    this.#options = options;
    this.#theme = options.theme ?? "light";
    const { session, applet, url, key, onState, WebSocket, random } = options;
    const server = { session, applet, url, key };
    const connection = { ...server, onState, WebSocket, random };
    const events: LinkEvents = {
      onFrame: (frame, bytes) => this.#toFrame(frame, bytes),
      onClosed: (code, message) => this.#refuse(code, message),
    };
    this.#link =
      options.link?.(events) ??
      new SocketLink({ ...connection, askWhy: askWhy(connection) }, events);
    const { signal } = this.#stop;
    window.addEventListener("message", (event) => this.#greeted(event), {
      signal,
    });
    iframe.addEventListener("load", () => (this.#loaded = true), { signal });
    iframe.setAttribute("sandbox", SANDBOX);
    iframe.setAttribute("referrerpolicy", "no-referrer");
  }

  get state(): LiveState {
    return this.#link.state;
  }

  /** Loads the applet afresh, as after a change of its files. */
  reload(): void {
    if (this.#address !== null) this.#iframe.src = this.#address;
  }

  /** Tries to connect at once instead of waiting for the next attempt. */
  reconnect(): void {
    this.#link.reconnect();
  }

  setTheme(theme: "light" | "dark"): void {
    this.#theme = theme;
    // An opaque origin has no name; the frame checks who speaks.
    this.#iframe.contentWindow?.postMessage(
      { type: "gangway:theme", theme },
      "*",
    );
  }

  dispose(): void {
    this.#stop.abort();
    this.#closePort();
    this.#link.dispose();
  }

  #greeted(event: MessageEvent): void {
    if (event.source !== this.#iframe.contentWindow) return;
    if (event.source === null || event.origin !== "null") return;
    const message = event.data as { type?: unknown; nonce?: unknown } | null;
    // Only who is in the frame can leave it.
    const inside = document.activeElement === this.#iframe;
    if (message?.type === "gangway:leave" && inside) this.#options.onLeave?.();
    if (message?.type !== "gangway:hello") return;
    // One port for each document: a frame that was loaded again gets a new one.
    if (this.#port && (!this.#loaded || message.nonce === this.#nonce)) return;
    this.#nonce = typeof message.nonce === "string" ? message.nonce : undefined;
    this.#loaded = false;
    this.#closePort();
    this.#link.reset();
    const { port1, port2 } = new MessageChannel();
    this.#port = port1;
    port1.onmessage = ({ data }: MessageEvent) => {
      if (port1 === this.#port) this.#fromFrame(data);
    };
    const { applet, session } = this.#options;
    this.#iframe.contentWindow?.postMessage(
      { type: "gangway:port", applet, session, theme: this.#theme },
      "*",
      [port2],
    );
    if (this.#ready) port1.postMessage(this.#ready);
  }

  #fromFrame(data: unknown): void {
    if (!isMessage(data)) return;
    if (!this.#rate.take()) {
      this.#refused += 1;
      if (this.#refused > MAX_REFUSED) {
        this.#refuse("flood", "The applet sent too many messages.");
        return;
      }
      const error = "Too many messages. Slow down.";
      this.#answer(data, new GangwayError("too_fast", error));
      return;
    }
    const size = textSize(data);
    if (size === undefined) return;
    if (size > sizeLimit(data.type)) {
      const error = `A ${data.type} message of ${size} characters is too large.`;
      this.#answer(data, new GangwayError("too_large", error));
      return;
    }
    try {
      this.#link.send(data);
    } catch (error) {
      if (error instanceof GangwayError) this.#answer(data, error);
    }
  }

  #answer({ id }: ClientMessage, { code, message }: GangwayError): void {
    const named = id === undefined ? {} : { id };
    this.#port?.postMessage({ type: "error", ...named, code, error: message });
  }

  #toFrame(frame: ServerFrame, bytes?: ArrayBuffer): void {
    if (frame.type === "ready") frame = this.#readied(frame);
    this.#port?.postMessage(frame);
    if (bytes) this.#port?.postMessage(bytes, [bytes]);
    if (frame.type === "reload") this.reload();
  }

  /** The message for the applet, without the URL of its frame. */
  #readied({ frame: path, ...ready }: FrameOf<"ready">): FrameOf<"ready"> {
    const first = this.#address === null;
    if (path !== undefined) {
      this.#address = `${this.#options.url ?? ""}${path}`;
    }
    if (first) this.reload();
    this.#ready = ready;
    return ready;
  }

  #refuse(code: string, message: string): void {
    if (this.#stop.signal.aborted) return;
    this.dispose();
    this.#options.onProblem?.(new GangwayError(code, message));
  }

  #closePort(): void {
    this.#port?.close();
    this.#port = null;
  }
}

/** Whether this is a message the server knows, in a plain object. */
function isMessage(data: unknown): data is ClientMessage {
  if (typeof data !== "object" || data === null) return false;
  if (Object.getPrototypeOf(data) !== Object.prototype) return false;
  const { type, id } = data as { type?: unknown; id?: unknown };
  if (typeof type !== "string" || !Object.hasOwn(TYPES, type)) return false;
  return (
    id === undefined ||
    (typeof id === "string" && id.length <= ID_LENGTH) ||
    (typeof id === "number" && Number.isFinite(id))
  );
}

/** How long the message is as text; nothing if it has no text, as with a loop in it. */
function textSize(message: ClientMessage): number | undefined {
  try {
    return JSON.stringify(message).length;
  } catch {
    return undefined;
  }
}
