// A WebSocket of an agent or a page elsewhere. It is no browser's: a tab for it would cost more than the rest of some tests.
import { once } from "node:events";
import { WebSocket } from "ws";
import type { Server } from "./server.js";

const PATIENCE_MS = 20_000;

/** One end of a WebSocket whose messages are JSON. */
export class JsonSocket<Message> {
  readonly #socket: WebSocket;
  /** Every message that no one took, oldest first. */
  readonly received: Message[] = [];
  /** The code with which it was closed; 0 while it is open. */
  closed = 0;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.on("message", (data: Buffer) => {
      this.received.push(JSON.parse(data.toString()) as Message);
    });
    socket.on("close", (code) => (this.closed = code));
  }

  /** Connects with the key of the server's owner. */
  static async open<Message>(
    server: Server,
    path: string,
  ): Promise<JsonSocket<Message>> {
    const url = server.url.replace("http", "ws") + path;
    const protocols = ["gangway", `gangway.key.${server.token}`];
    const socket = new WebSocket(url, protocols);
    const made = new JsonSocket<Message>(socket);
    await once(socket, "open");
    // A server that is killed is noticed by `closed`.
    socket.on("error", () => undefined);
    return made;
  }

  send(...texts: string[]): void {
    for (const text of texts) this.#socket.send(text);
  }

  /** The first message that is wanted, once it is there. */
  async next(
    wanted: (message: Message) => boolean,
    words: string,
  ): Promise<Message> {
    const signal = AbortSignal.timeout(PATIENCE_MS);
    for (;;) {
      const found = this.received.find(wanted);
      if (found) return found;
      await once(this.#socket, "message", { signal }).catch(() => {
        throw new Error(
          `${words} never came: ${JSON.stringify(this.received)}`,
        );
      });
    }
  }

  /** The same, which is received no more. */
  async take(
    wanted: (message: Message) => boolean,
    words: string,
  ): Promise<Message> {
    const found = await this.next(wanted, words);
    this.received.splice(this.received.indexOf(found), 1);
    return found;
  }

  /** Waits until it is closed, and says with which code. */
  async end(): Promise<number> {
    if (this.closed === 0) {
      const signal = AbortSignal.timeout(PATIENCE_MS);
      await once(this.#socket, "close", { signal });
    }
    return this.closed;
  }

  close(): void {
    this.#socket.close();
  }
}
