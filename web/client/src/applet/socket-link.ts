// The channel over a WebSocket: unanswered requests are repeated after each reconnect, and reads resume.
import { GangwayError } from "../errors.js";
import type { ApiKey } from "../key.js";
import { DELETED, LiveSocket, type LiveState } from "../live.js";
import {
  ends,
  hasBytes,
  idOf,
  sizeLimit,
  WAITING_MESSAGES,
  WAITING_SIZE,
  type ClientMessage,
  type Id,
  type Link,
  type LinkEvents,
  type ServerFrame,
} from "./wire.js";

export interface SocketLinkOptions {
  session: string;
  applet?: string | undefined;
  /** Where the server is, e.g. `https://gangway.example`; the page's own origin without it. */
  url?: string | undefined;
  /** An API key, or the token of a login. */
  key?: ApiKey | undefined;
  onState?: ((state: LiveState, error?: GangwayError) => void) | undefined;
  askWhy?: ((signal: AbortSignal) => Promise<unknown>) | undefined;
  WebSocket?: typeof WebSocket | undefined;
  random?: (() => number) | undefined;
}

interface Request {
  /** As it was given, with the caller's id. */
  message: ClientMessage;
  size: number;
  /** How many bytes of a file, or characters of an answer, have arrived. */
  got: number;
  /** How many characters of a restarted answer were already received. */
  delivered: number;
  /** How large the file was when its first chunk arrived. */
  fileSize?: number;
}

// Shorter than the timeout of the socket: a channel that is alive is never replaced.
const PING_MS = 50_000;
// The server recognizes a client that reconnects by this id, so it must be unique.
const newClient = () => crypto.randomUUID();

export class SocketLink implements Link {
  readonly #options: SocketLinkOptions;
  readonly #events: LinkEvents;
  readonly #client = newClient();
  readonly #live: LiveSocket;
  readonly #requests = new Map<number, Request>();
  readonly #watched = new Set<string>();
  readonly #pings: ReturnType<typeof setInterval>;
  #waiting = 0;
  #lastId = 0;
  #seq: number | undefined;
  #announced: ServerFrame | null = null;
  /** Whether the page offered tools; and whether those of one that is gone must be withdrawn. */
  #offered = false;
  #staleTools = false;

  constructor(options: SocketLinkOptions, events: LinkEvents) {
    this.#options = options;
    this.#events = events;
    this.#live = new LiveSocket({
      url: () => this.#url(),
      onMessage: (data) => this.#receive(data),
      onOpen: () => this.#resume(),
      onState: (state, error) => this.#changed(state, error),
      ...(options.askWhy && { askWhy: options.askWhy }),
      key: options.key,
      WebSocket: options.WebSocket,
      random: options.random,
    });
    this.#pings = setInterval(() => {
      this.#live.send('{"type":"ping"}');
    }, PING_MS);
  }

  get state(): LiveState {
    return this.#live.state;
  }

  /** Tries at once instead of waiting for the next attempt. */
  reconnect(): void {
    this.#live.reconnect();
  }

  send(asked: ClientMessage): void {
    const message = this.#named(asked);
    if (message.type === "toolResult") {
      // Not kept: after a reconnect the server calls again, and gets the same result.
      this.#live.send(JSON.stringify(message));
      return;
    }
    if (message.type === "offerTools") this.#offered = true;
    if (this.#live.state === "closed") {
      throw new GangwayError("closed", "This channel is closed.");
    }
    const wireId = (this.#lastId += 1);
    const text = JSON.stringify({ ...message, id: wireId });
    if (text.length > sizeLimit(message.type)) {
      throw new GangwayError(
        "too_large",
        `A ${message.type} message of ${text.length} characters is too large. Send less at once.`,
      );
    }
    if (
      this.#requests.size >= WAITING_MESSAGES ||
      this.#waiting + text.length > WAITING_SIZE
    ) {
      throw new GangwayError(
        "buffer_full",
        "Too many unanswered messages. Try again when some have been answered.",
        { retryable: true },
      );
    }
    this.#requests.set(wireId, {
      message,
      size: text.length,
      got: 0,
      delivered: 0,
    });
    this.#waiting += text.length;
    // Without a socket it waits; `#resume` sends it.
    this.#live.send(text);
  }

  /** What is to be stopped, under the name that the server knows it by. */
  #named(message: ClientMessage): ClientMessage {
    if (message.type !== "stop") return message;
    const { invoke } = message;
    if (invoke === undefined) return message;
    const meant = [...this.#requests].find(
      ([
        ,
        {
          message: { type, id },
        },
      ]) => type === "invoke" && id === invoke,
    );
    // Nothing has the number 0: what was answered by now is not to be stopped.
    return { ...message, invoke: meant?.[0] ?? 0 };
  }

  forget(id: Id): void {
    for (const [wireId, { message }] of this.#requests) {
      if (message.id === id) this.#settle(wireId);
    }
  }

  /** Forgets every question and every watch, as for a page that has gone. */
  reset(): void {
    for (const wireId of this.#requests.keys()) this.#settle(wireId);
    for (const path of this.#watched) {
      this.#live.send(JSON.stringify({ type: "unsubscribe", path }));
    }
    this.#watched.clear();
    this.#staleTools ||= this.#offered;
    this.#offered = false;
    this.#resetTools();
  }

  /** A document knows nothing of the calls that the one before was sent. */
  #resetTools(): void {
    if (!this.#staleTools || this.#live.state !== "live") return;
    this.#staleTools = false;
    const none = { type: "offerTools", tools: [], reset: true };
    this.#live.send(JSON.stringify(none));
  }

  dispose(): void {
    clearInterval(this.#pings);
    this.#live.dispose();
    this.#requests.clear();
  }

  #url(): string {
    const { session, applet, url: base } = this.#options;
    const url = new URL("/ws/applet", base ?? location.origin);
    url.protocol = url.protocol.replace("http", "ws");
    url.searchParams.set("session", session);
    if (applet) url.searchParams.set("applet", applet);
    if (this.#seq !== undefined) {
      url.searchParams.set("since", String(this.#seq));
    }
    url.searchParams.set("client", this.#client);
    return url.href;
  }

  #changed(state: LiveState, error?: GangwayError): void {
    this.#options.onState?.(state, error);
    if (state !== "closed") return;
    clearInterval(this.#pings);
    this.#requests.clear();
    this.#events.onClosed(
      error?.code ?? "closed",
      error?.message ?? "This channel is closed.",
    );
  }

  /** The messages for a new socket: the watches, and unanswered requests, in order. */
  #resume(): void {
    this.#announced = null;
    this.#resetTools();
    for (const path of this.#watched) {
      this.#live.send(JSON.stringify({ type: "subscribe", path }));
      // Changes may have been missed, so watchers read again.
      this.#events.onFrame({ type: "fileChanged", path, event: "changed" });
    }
    for (const [wireId, request] of [...this.#requests]) {
      const { message } = request;
      if (message.type !== "readFile" || request.got === 0) {
        request.delivered = Math.max(request.delivered, request.got);
        request.got = 0;
        this.#sendAs(wireId, message);
        continue;
      }
      // A read in progress continues with a new id: the old one would restart.
      this.#requests.delete(wireId);
      const { offset = 0, length } = message;
      const next = (this.#lastId += 1);
      this.#requests.set(next, request);
      this.#sendAs(next, {
        ...message,
        offset: offset + request.got,
        ...(length !== undefined && { length: length - request.got }),
      });
    }
  }

  #sendAs(wireId: number, message: ClientMessage): void {
    this.#live.send(JSON.stringify({ ...message, id: wireId }));
  }

  #receive(data: unknown): void {
    if (data instanceof ArrayBuffer) {
      const announced = this.#announced;
      this.#announced = null;
      if (announced) this.#deliver(announced, data);
      else this.#live.renew();
      return;
    }
    let frame: ServerFrame;
    try {
      frame = JSON.parse(String(data)) as ServerFrame;
    } catch {
      // Going on would hide a gap; a new socket resumes before it.
      this.#live.renew();
      return;
    }
    if (hasBytes(frame)) this.#announced = frame;
    else this.#deliver(frame);
  }

  #deliver(frame: ServerFrame, bytes?: ArrayBuffer): void {
    const id = idOf(frame);
    if (typeof id === "number") {
      this.#answer(frame, id, bytes);
      return;
    }
    // Responses to pings and repeated subscriptions are not passed on.
    if (
      ["pong", "subscribed", "unsubscribed", "toolsOffered"].includes(
        frame.type,
      )
    )
      return;
    if (frame.type === "ready" || frame.type === "resync") {
      if (frame.type === "resync" || this.#seq === undefined) {
        this.#seq = frame.seq;
      }
    } else if ("seq" in frame) {
      if (this.#seq !== undefined && frame.seq <= this.#seq) return;
      this.#seq = frame.seq;
    }
    this.#events.onFrame(frame);
    if (frame.type === "closing") {
      this.#live.renew(frame.reason === "deleted" ? DELETED : undefined);
    }
  }

  #answer(frame: ServerFrame, wireId: number, bytes?: ArrayBuffer): void {
    const request = this.#requests.get(wireId);
    if (!request) return;
    const { message } = request;
    if (frame.type === "stream") {
      const { delta } = frame;
      const before = request.got;
      request.got += delta.length;
      if (request.got <= request.delivered) return;
      const fresh = delta.slice(Math.max(0, request.delivered - before));
      frame = { ...frame, delta: fresh };
    }
    if (frame.type === "fileContent") {
      const { size, chunk = "", path } = frame;
      request.fileSize ??= size;
      if (size === request.fileSize) {
        request.got += bytes?.byteLength ?? byteLength(chunk);
      } else [frame, bytes] = [changedUnderway(path), undefined];
    }
    if (frame.type === "subscribed") this.#watched.add(frame.path);
    if (frame.type === "unsubscribed") this.#watched.delete(frame.path);
    if (ends(frame, message)) this.#settle(wireId);
    // Under the caller's id.
    const answer = { ...frame, id: message.id } as ServerFrame;
    this.#events.onFrame(answer, bytes);
  }

  #settle(wireId: number): void {
    this.#waiting -= this.#requests.get(wireId)?.size ?? 0;
    this.#requests.delete(wireId);
  }
}

function byteLength(chunk: string): number {
  return new TextEncoder().encode(chunk).byteLength;
}

function changedUnderway(path: string): ServerFrame {
  return {
    type: "error",
    code: "file_changed",
    error: `${path} changed while it was read. Read it again.`,
  };
}
