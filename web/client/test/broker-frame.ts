// A broker frame, with the test in place of its page and of its server.
import { JSDOM, type DOMWindow } from "jsdom";
import { built, SERVER } from "./web-agent-page.js";

export type Message = Record<string, unknown>;

export class Socket {
  sent: Message[] = [];
  closed = false;
  bufferedAmount = 0;
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;

  constructor(readonly url: string) {}

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Message);
  }

  close(): void {
    this.closed = true;
  }

  say(message: Message): void {
    this.onmessage?.({ data: JSON.stringify(message) });
  }

  welcome(visit = "v1", resumed = false): void {
    this.onopen?.();
    const more = { locked: false, heartbeatSeconds: 20 };
    this.say({ type: "welcome", visit, resumed, ...more });
  }
}

export const TAB = "0f".repeat(16);
export const HELLO = { gangway: "hello", v: 1, tab: TAB };

export class Broker {
  readonly window: DOMWindow;
  readonly sockets: Socket[] = [];
  readonly parent = {};
  readonly told: Message[] = [];
  readonly port = {
    onmessage: null as ((event: { data: unknown }) => void) | null,
    postMessage: (data: Message) => this.told.push(structuredClone(data)),
  };

  constructor(code: string) {
    const dom = new JSDOM("<!doctype html>", {
      url: `${SERVER}/broker`,
      runScripts: "outside-only",
    });
    this.window = dom.window;
    const { sockets, parent } = this;
    Object.defineProperty(this.window, "parent", { value: parent });
    Object.assign(this.window, {
      Date,
      WebSocket: class extends Socket {
        constructor(url: string) {
          super(url);
          sockets.push(this);
        }
      },
    });
    this.window.eval(code);
  }

  post(event: Message): void {
    const made = new this.window.Event("message");
    const usual = { source: this.parent, origin: "https://shop.example" };
    Object.assign(made, {
      ...usual,
      data: HELLO,
      ports: [this.port],
      ...event,
    });
    this.window.dispatchEvent(made);
  }

  get socket(): Socket {
    const socket = this.sockets.at(-1);
    if (!socket) throw new Error("no socket was opened");
    return socket;
  }

  say(data: unknown): void {
    this.port.onmessage?.({ data });
  }

  call(id: number, method = "tools.list", params: unknown = {}): void {
    this.say({ type: "call", id, method, params: JSON.stringify(params) });
  }
}

export async function broker(): Promise<Broker> {
  return new Broker(await built("broker.js"));
}

export async function visited(): Promise<Broker> {
  const made = await broker();
  made.post({});
  made.call(1);
  made.socket.welcome();
  made.told.length = 0;
  return made;
}
