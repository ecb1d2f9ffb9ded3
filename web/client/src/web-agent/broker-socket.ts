// The broker's connection: one visit of one page, which outlives a connection that breaks.
import { Backoff } from "../backoff.js";
import { errorFrom, lost, type AgentApiError } from "./errors.js";
import type {
  BrokerServerMessage,
  BrokerClientMessage,
  Numbered,
} from "./wire.js";

/** How long a visit waits for its connection to come back. */
const GIVE_UP_MS = 30_000;
// A handshake that takes longer is taken for lost.
const CONNECT_MS = 10_000;
/** Acknowledgements are sent this often, so that the server can drop messages. */
const ACK_EVERY = 64;
const ACK_MS = 1_000;
/** The server's close code for a page that it wants nothing to do with. */
const REFUSED = 4403;
// More than this on its way means that the server does not keep up.
const MAX_BUFFERED = 16 << 20;
// What a page may have said before the server is there.
const MAX_WAITING = 1_000;

/** As much of a WebSocket as is needed here; what goes through an extension looks the same. */
export interface Connection {
  onopen: ((event: Event) => void) | null;
  onmessage: ((event: MessageEvent) => void) | null;
  onclose: ((event: CloseEvent) => void) | null;
  readonly bufferedAmount: number;
  send(text: string): void;
  close(): void;
}

export interface BrokerSocketOptions {
  /** Begins a connection. */
  connect: () => Connection;
  /** Who visits, and the token for a server that wants one. */
  hello: () => Extract<BrokerClientMessage, { type: "hello" }>;
  /** Gets every message once, in order. */
  onMessage: (message: Numbered) => void;
  /** A visit was resumed: unanswered calls may not have arrived, and queued messages were not sent. */
  resumed: () => void;
  /** What was open is gone; a new visit begins with the next message. */
  lost: (error: AgentApiError) => void;
  /** Nothing more will come. */
  refused: (error: AgentApiError) => void;
}

type Timer = ReturnType<typeof setTimeout>;

export class BrokerSocket {
  readonly #options: BrokerSocketOptions;
  #socket: Connection | null = null;
  #welcomed = false;
  #waiting: BrokerClientMessage[] = [];
  #visit: string | undefined;
  #seen = 0;
  #acked = 0;
  readonly #backoff = new Backoff();
  #over = false;
  #connectTimer: Timer | undefined;
  #retryTimer: Timer | undefined;
  #giveUpTimer: Timer | undefined;
  #ackTimer: Timer | undefined;

  constructor(options: BrokerSocketOptions) {
    this.#options = options;
  }

  /** Whether another message can be taken. */
  get hasRoom(): boolean {
    if (this.#waiting.length >= MAX_WAITING) return false;
    return (this.#socket?.bufferedAmount ?? 0) < MAX_BUFFERED;
  }

  send(message: BrokerClientMessage): void {
    if (this.#over) return;
    if (this.#welcomed) {
      this.#socket?.send(JSON.stringify(message));
      return;
    }
    this.#waiting.push(message);
    if (!this.#socket && this.#retryTimer === undefined) this.#open();
  }

  /** The page is closed. */
  leave(): void {
    if (this.#welcomed) this.send({ type: "bye" });
    this.#end();
  }

  /** The page is put aside, and may come back. */
  pause(): void {
    this.#drop();
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
  }

  /** Resumes a suspended visit. */
  wake(): void {
    if (this.#over || this.#socket || this.#visit === undefined) return;
    this.#wait();
    this.#open();
  }

  #open(): void {
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#wait();
    const socket = this.#options.connect();
    this.#socket = socket;
    this.#connectTimer = setTimeout(() => this.#broke(), CONNECT_MS);
    const current = () => socket === this.#socket;
    socket.onopen = () => {
      if (!current()) return;
      const resume =
        this.#visit === undefined
          ? {}
          : { visit: this.#visit, seen: this.#seen };
      const hello = { ...this.#options.hello(), ...resume };
      socket.send(JSON.stringify(hello));
    };
    socket.onmessage = ({ data }: MessageEvent) => {
      if (current()) this.#read(String(data));
    };
    socket.onclose = ({ code }) => {
      if (!current()) return;
      if (code !== REFUSED) this.#broke();
      else this.#refuse(errorFrom(null));
    };
  }

  #read(text: string): void {
    let message: BrokerServerMessage;
    try {
      message = JSON.parse(text) as BrokerServerMessage;
    } catch {
      // Going on would hide a gap; a new socket resumes before it.
      this.#broke();
      return;
    }
    if (message.type === "welcome") this.#welcome(message);
    else if (message.type === "refused") this.#refuse(errorFrom(message.error));
    // A later server may say more; what has no number needs no answer.
    else if (Number.isSafeInteger(message.n)) this.#numbered(message);
  }

  #welcome(message: Extract<BrokerServerMessage, { type: "welcome" }>): void {
    clearTimeout(this.#connectTimer);
    clearTimeout(this.#giveUpTimer);
    this.#giveUpTimer = undefined;
    this.#backoff.opened();
    this.#welcomed = true;
    const again = this.#visit !== undefined;
    this.#visit = message.visit;
    const waiting = this.#waiting;
    this.#waiting = [];
    if (again && message.resumed) {
      this.#options.resumed();
      return;
    }
    this.#seen = this.#acked = 0;
    if (again) this.#options.lost(lost());
    else for (const said of waiting) this.send(said);
  }

  #numbered(message: Numbered): void {
    if (message.n <= this.#seen) return;
    if (message.n > this.#seen + 1) {
      this.#broke();
      return;
    }
    this.#seen = message.n;
    if (this.#seen - this.#acked >= ACK_EVERY) this.#ack();
    else this.#ackTimer ??= setTimeout(() => this.#ack(), ACK_MS);
    this.#options.onMessage(message);
  }

  #ack(): void {
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    if (!this.#welcomed || this.#acked === this.#seen) return;
    this.#acked = this.#seen;
    this.send({ type: "ack", n: this.#seen });
  }

  #broke(): void {
    this.#drop();
    if (this.#over) return;
    this.#wait();
    this.#retryTimer = setTimeout(() => this.#open(), this.#backoff.next());
  }

  /** From the first failure on, what is open waits only so long. */
  #wait(): void {
    this.#giveUpTimer ??= setTimeout(() => this.#giveUp(), GIVE_UP_MS);
  }

  #giveUp(): void {
    this.#giveUpTimer = undefined;
    this.#drop();
    clearTimeout(this.#retryTimer);
    this.#retryTimer = undefined;
    this.#backoff.reset();
    this.#visit = undefined;
    this.#waiting = [];
    this.#seen = this.#acked = 0;
    this.#options.lost(lost());
  }

  #refuse(error: AgentApiError): void {
    this.#end();
    this.#options.refused(error);
  }

  #end(): void {
    this.#over = true;
    this.#drop();
    clearTimeout(this.#retryTimer);
    clearTimeout(this.#giveUpTimer);
  }

  #drop(): void {
    clearTimeout(this.#connectTimer);
    clearTimeout(this.#ackTimer);
    this.#ackTimer = undefined;
    this.#welcomed = false;
    const socket = this.#socket;
    this.#socket = null;
    if (!socket) return;
    socket.onopen = socket.onmessage = socket.onclose = null;
    socket.close();
  }
}
