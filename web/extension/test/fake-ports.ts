// Ports as browsers make them, with the test at the other end.
import type { Sender } from "../src/sender.js";

type Listener<T> = (value: T) => void;

export class FakePort {
  readonly sent: Record<string, unknown>[] = [];
  readonly texts: string[] = [];
  closed = false;
  #messages: Listener<unknown>[] = [];
  #ends: Listener<void>[] = [];
  readonly onMessage = {
    addListener: (listener: Listener<unknown>) =>
      void this.#messages.push(listener),
  };
  readonly onDisconnect = {
    addListener: (listener: Listener<void>) => void this.#ends.push(listener),
  };

  constructor(readonly sender?: Sender) {}

  postMessage(message: unknown): void {
    if (this.closed) throw new Error("the port is closed");
    if (typeof message === "string") this.texts.push(message);
    else this.sent.push(structuredClone(message) as Record<string, unknown>);
  }

  /** Disconnects this side: only the other one is notified. */
  disconnect(): void {
    this.closed = true;
  }

  /** The other side says something. */
  say(message: unknown): void {
    for (const listener of this.#messages) listener(message);
  }

  /** The other side leaves. */
  end(): void {
    this.closed = true;
    for (const listener of this.#ends) listener();
  }

  /** The last message of a type. */
  last(type: string): Record<string, unknown> {
    const found = this.sent.findLast((message) => message["type"] === type);
    if (!found) throw new Error(`nothing of type ${type} was sent`);
    return found;
  }
}
