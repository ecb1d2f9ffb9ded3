// A socket whose other end is the test, in place of the relay.
import type { RelayJoined } from "../src/generated/wire.js";
import type { Envelope } from "../src/host/wire.js";

export type Told = Envelope & { payload: Record<string, unknown> };

export class RelaySocket {
  static all: RelaySocket[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  bufferedAmount = 0;
  closed = false;
  /** What the page said, oldest first. */
  readonly sent: Told[] = [];
  /** How long each of them was. */
  readonly sizes: number[] = [];
  seq = 0;

  constructor(readonly url: string) {
    RelaySocket.all.push(this);
  }

  static last(): RelaySocket {
    const socket = RelaySocket.all.at(-1);
    if (!socket) throw new Error("no socket was opened");
    return socket;
  }

  send(text: string): void {
    if (this.closed) throw new Error("this socket is closed");
    this.sent.push(JSON.parse(text) as Told);
    this.sizes.push(text.length);
  }

  close(): void {
    this.closed = true;
  }

  /** Lets the page in, as the relay does. */
  open(joined: Partial<RelayJoined> = {}): this {
    this.onopen?.();
    // Only what others say is counted, and on from the connection before.
    const { seq = RelaySocket.all.at(-2)?.seq ?? 0 } = joined;
    this.seq = seq;
    const plain = (message: object) =>
      this.raw(JSON.stringify({ v: "mvp-0.2", ...message }));
    plain({ type: "relay.hello", payload: {} });
    const payload: RelayJoined = {
      ...{ role: "host", sessionId: "default", host: true, agents: 1 },
      ...{ studySession: null, seq: this.seq },
      ...joined,
    };
    plain({ type: "relay.joined", replyTo: "join", payload });
    return this;
  }

  say(
    type: string,
    payload: Record<string, unknown>,
    more: Partial<Envelope> = {},
  ): void {
    const seq = (this.seq += 1);
    this.raw(JSON.stringify({ v: "mvp-0.2", type, seq, payload, ...more }));
  }

  call(
    id: string,
    toolName: string,
    params: unknown = {},
    reason: unknown = "because",
  ): void {
    this.say("tool.call", { toolName, params, reason }, { id });
  }

  raw(data: string): void {
    this.onmessage?.({ data });
  }

  drop(): void {
    this.closed = true;
    this.onclose?.({ code: 1006 });
  }

  of(type: string): Told[] {
    return this.sent.filter((message) => message.type === type);
  }

  /** What was answered to a request. */
  answer(id: string): Told | undefined {
    return this.sent.find(({ replyTo }) => replyTo === id);
  }
}
