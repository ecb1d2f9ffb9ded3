// A connection to the background that looks like a WebSocket to the broker.
import type { Connection } from "@gangway/client/extension";
import type { Port } from "./pages.js";

/** `connect` throws where the extension was taken away or replaced under the page. */
export class PortConnection implements Connection {
  onopen: ((event: Event) => void) | null = null;
  onmessage: ((event: MessageEvent) => void) | null = null;
  onclose: ((event: CloseEvent) => void) | null = null;
  /** A port has no buffered amount; the broker bounds open calls. */
  readonly bufferedAmount = 0;
  #port: Port | null = null;
  #closed = false;

  constructor(connect: () => Port) {
    // A WebSocket says nothing before its maker listens either.
    queueMicrotask(() => this.#open(connect));
  }

  send(text: string): void {
    this.#port?.postMessage(text);
  }

  close(): void {
    this.#closed = true;
    this.#port?.disconnect();
    this.#port = null;
  }

  #open(connect: () => Port): void {
    if (this.#closed) return;
    try {
      const port = connect();
      this.#port = port;
      port.onMessage.addListener((data) => this.#hear(data));
      port.onDisconnect.addListener(() => {
        this.#port = null;
        this.onclose?.(new CloseEvent("close", { code: 1006 }));
      });
      this.onopen?.(new Event("open"));
    } catch {
      this.#hear(GONE);
    }
  }

  #hear(data: unknown): void {
    this.onmessage?.(new MessageEvent("message", { data }));
  }
}

const GONE = JSON.stringify({
  type: "refused",
  error: {
    code: "ERR_NOT_INSTALLED",
    message: "The Gangway extension was updated or removed. Reload the page.",
    details: { reason: "extension_gone" },
  },
});
