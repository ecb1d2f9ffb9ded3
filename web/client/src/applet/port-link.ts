// The channel inside a frame: the parent page hands over a port and relays.
import { GangwayError } from "../errors.js";
import {
  hasBytes,
  WAITING_MESSAGES,
  type ClientMessage,
  type Link,
  type LinkEvents,
  type ServerFrame,
} from "./wire.js";

// A page that is still loading may miss the first greeting.
const GREET_AGAIN_MS = 1_000;
const GREETINGS = 30;

/** What the parent page says about it. */
export interface Welcome {
  applet: string;
  session: string;
  theme: "light" | "dark";
}

export class PortLink implements Link {
  readonly #events: LinkEvents;
  readonly #onWelcome: (welcome: Partial<Welcome>) => void;
  readonly #stop = new AbortController();
  readonly #nonce = crypto.randomUUID();
  #queue: ClientMessage[] = [];
  #port: MessagePort | null = null;
  #announced: ServerFrame | null = null;
  #greetings = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    events: LinkEvents,
    onWelcome: (welcome: Partial<Welcome>) => void = () => undefined,
  ) {
    this.#events = events;
    this.#onWelcome = onWelcome;
    window.addEventListener("message", (event) => this.#received(event), {
      signal: this.#stop.signal,
    });
    // Keys do not bubble out of a frame: this one is the page's, and leads back to it.
    window.addEventListener("keydown", (event) => this.#leave(event), {
      signal: this.#stop.signal,
    });
    this.#greet();
  }

  send(message: ClientMessage): void {
    if (this.#stop.signal.aborted) {
      throw new GangwayError("closed", "This channel is closed.");
    }
    if (this.#port) {
      this.#port.postMessage(message);
      return;
    }
    if (this.#queue.length >= WAITING_MESSAGES) {
      throw new GangwayError(
        "buffer_full",
        "Too many messages are waiting for the parent page.",
        { retryable: true },
      );
    }
    this.#queue.push(message);
  }

  forget(): void {
    // The parent page forgets the request when the response arrives.
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#stop.abort();
    this.#port?.close();
    this.#queue = [];
  }

  #greet(): void {
    // `location.origin` is the server's although this document's own origin is opaque.
    parent.postMessage(
      { type: "gangway:hello", nonce: this.#nonce },
      location.origin,
    );
    this.#greetings += 1;
    if (this.#greetings < GREETINGS) {
      this.#timer = setTimeout(() => this.#greet(), GREET_AGAIN_MS);
      return;
    }
    const message = "The parent page does not respond.";
    this.dispose();
    this.#events.onClosed("unreachable", message);
  }

  #leave(event: KeyboardEvent): void {
    if (event.key !== "F6" || event.defaultPrevented) return;
    event.preventDefault();
    parent.postMessage({ type: "gangway:leave" }, location.origin);
  }

  #received(event: MessageEvent): void {
    if (event.source !== parent || event.origin !== location.origin) return;
    const message = event.data as ({ type?: string } & Partial<Welcome>) | null;
    if (message?.type === "gangway:theme") this.#onWelcome(message);
    const port = event.ports[0];
    if (message?.type !== "gangway:port" || !port || this.#port) return;
    clearTimeout(this.#timer);
    this.#port = port;
    this.#onWelcome(message);
    port.onmessage = ({ data }: MessageEvent) => this.#receive(data);
    for (const message of this.#queue) port.postMessage(message);
    this.#queue = [];
  }

  #receive(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      const announced = this.#announced;
      this.#announced = null;
      if (announced) this.#events.onFrame(announced, data);
      return;
    }
    const frame = data as ServerFrame;
    if (hasBytes(frame)) this.#announced = frame;
    else this.#events.onFrame(frame);
  }
}
