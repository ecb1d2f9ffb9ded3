// The background's bridge, with the test in place of the program behind it.
import { Bridge } from "../src/bridge.js";
import { FakePort } from "./fake-ports.js";

export const HELLO = {
  ...{ protocol: 1, gangway: "0.1.0", pid: 7, attached: "server" },
  ...{ base_url: "http://127.0.0.1:3000", capabilities: [] },
  limits: { frame_bytes: 1, reply_bytes: 1, requests: 1, pages: 1 },
};

export class FakeHost {
  readonly ports: FakePort[] = [];
  words = "";
  readonly bridge = new Bridge({
    connect: () => {
      const port = new FakePort();
      this.ports.push(port);
      return port;
    },
    whyClosed: () => this.words,
    browser: "chromium",
    version: "0.1.0",
  });

  get port(): FakePort {
    const port = this.ports.at(-1);
    if (!port) throw new Error("no port was opened");
    return port;
  }

  /** Answers the last request of a type. */
  answer(type: string, result: unknown): void {
    const { request_id } = this.port.last(type);
    this.port.say({ type: `${type}_result`, request_id, result });
  }

  fail(type: string, error: object): void {
    const { request_id } = this.port.last(type);
    this.port.say({ type: "error", request_id, error });
  }

  /** Greets back. */
  async welcome(): Promise<void> {
    this.answer("hello", HELLO);
    await settled();
  }

  die(words = ""): void {
    this.words = words;
    this.port.end();
  }
}

/** Lets the handlers of settled promises run. */
export async function settled(): Promise<void> {
  for (let round = 0; round < 5; round += 1) await Promise.resolve();
}
