// The other ends of a channel, held by a test: a WebSocket and a page around a frame.

/** A frame, or as much of it as a test needs. */
export interface Frame {
  type: string;
  [field: string]: unknown;
}

/** A message of a client; requests have an id. */
export type Sent = Frame & { id: number };

export class FakeSocket {
  static all: FakeSocket[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((event: { data: unknown }) => void) | null = null;
  onclose: ((event: { code: number }) => void) | null = null;
  readonly sent: Sent[] = [];
  closed = false;

  constructor(readonly url: string) {
    FakeSocket.all.push(this);
  }

  send(text: string): void {
    this.sent.push(JSON.parse(text) as Sent);
  }

  close(): void {
    this.closed = true;
  }

  say(...frames: Frame[]): void {
    for (const frame of frames) {
      this.onmessage?.({ data: JSON.stringify(frame) });
    }
  }

  /** A piece of a file as bytes, announced and sent. */
  piece(id: unknown, text: string, done: boolean, more = {}): void {
    const { buffer, byteLength } = new TextEncoder().encode(text);
    const frame = { type: "fileContent", id, path: "a", ...more };
    this.onmessage?.({
      data: JSON.stringify({ ...frame, bytes: byteLength, done }),
    });
    if (byteLength > 0) this.onmessage?.({ data: copy(buffer) });
  }

  drop(code = 1006): void {
    this.onclose?.({ code });
  }

  /** The message of this type that was sent last. */
  asked(type: string): Sent {
    const message = this.sent.findLast((sent) => sent.type === type);
    if (!message) throw new Error(`${type} was not sent`);
    return message;
  }

  static last(): FakeSocket {
    const socket = FakeSocket.all.at(-1);
    if (!socket) throw new Error("no socket was opened");
    return socket;
  }
}

// jsdom's page and Node's encoder have an ArrayBuffer each; the code under test compares with the page's.
function copy(buffer: ArrayBufferLike): ArrayBuffer {
  const own = new ArrayBuffer(buffer.byteLength);
  new Uint8Array(own).set(new Uint8Array(buffer));
  return own;
}

export const ready = {
  type: "ready",
  session: "s1",
  applet: "board",
  seq: 0,
  version: 0,
};

/** Lets promises run that wait for nothing else. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 20; round += 1) await Promise.resolve();
}
