// The two ways out of a launched page: a WebSocket of its own, or one port of the parent page.
import { Backoff } from "../backoff.js";
import { capturePort, type Builtins } from "./builtins.js";

export interface Link {
  /** Drops the text where there is no connection: after the next welcome everything open is sent again. */
  send(text: string): void;
  /** Lets go of the connection; `open` may follow. */
  close(): void;
  open(): void;
}

type OnMessage = (text: unknown) => void;
/** The launch has ended, with the reason of the server. */
type Over = (why: "deleted" | "expired") => void;

// A page cannot see a server's pings, so it sends its own; one without any answer means a dead connection.
const PING_MS = 25_000;
const PING = '{"type":"ping"}';

// The server's close codes: the launch is not there any more (with its session, or alone), or its time is up.
const DELETED = [4004, 4404];
const EXPIRED = 4410;

/** `url` is the address of the next attempt. */
export function socketLink(
  built: Builtins,
  url: () => string,
  onMessage: OnMessage,
  over: Over,
): Link {
  const { Socket, listen, sendOn, closeSocket } = built;
  const backoff = new Backoff(built.random, built.now);
  let socket: WebSocket | null = null;
  let live = false;
  let wanted = false;
  let silent = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function open(): void {
    drop();
    const next = new Socket(url());
    socket = next;
    // A handshake gets as long as a ping.
    timer = built.setTimeout(lost, PING_MS);
    listen(next, "open", () => {
      if (next !== socket) return;
      live = true;
      silent = false;
      backoff.opened();
      watch();
    });
    listen(next, "message", (event) => {
      if (next !== socket) return;
      silent = false;
      onMessage((event as MessageEvent).data);
    });
    listen(next, "close", (event) => {
      if (next !== socket) return;
      const { code } = event as CloseEvent;
      if (code === DELETED[0] || code === DELETED[1]) over("deleted");
      else if (code === EXPIRED) over("expired");
      else lost();
    });
  }

  function drop(): void {
    built.clearTimeout(timer);
    const old = socket;
    socket = null;
    live = false;
    if (old) closeSocket(old);
  }

  function send(text: string): void {
    if (socket && live) sendOn(socket, text);
  }

  function watch(): void {
    built.clearTimeout(timer);
    timer = built.setTimeout(() => {
      if (silent) {
        lost();
        return;
      }
      silent = true;
      send(PING);
      watch();
    }, PING_MS);
  }

  function lost(): void {
    drop();
    timer = built.setTimeout(open, backoff.next());
  }

  listen(window, "online", () => {
    if (wanted && !live) open();
  });
  return {
    send,
    close() {
      wanted = false;
      drop();
    },
    open() {
      wanted = true;
      open();
    },
  };
}

/** Takes one port from the parent page, if it is the one this launch was made for. */
export function portLink(
  built: Builtins,
  parentOrigin: string,
  launchId: string,
  onMessage: OnMessage,
): Link {
  const { listen, unlisten } = built;
  const { post, start } = capturePort();
  const around = window.parent;
  let port: MessagePort | null = null;

  const greet = (said: Event) => {
    const event = said as MessageEvent<Record<string, unknown> | null>;
    // A script can make an event that claims anything, but not one that the browser vouches for.
    if (!event.isTrusted || event.source !== around) return;
    if (parentOrigin !== "*" && event.origin !== parentOrigin) return;
    const { data, ports } = event;
    if (typeof data !== "object" || data?.["type"] !== "gangway-port") return;
    // Nothing of this is the page's business.
    event.stopImmediatePropagation();
    const [only] = ports;
    if (data["launchId"] !== launchId || !only || ports.length > 1) return;
    unlisten(window, "message", greet, true);
    port = only;
    listen(only, "message", (message) =>
      onMessage((message as MessageEvent).data),
    );
    start(only);
  };

  listen(window, "message", greet, true);
  // The parent page gives one port to each document, so it is kept for a page that comes back.
  return {
    send: (text) => port && post(port, text),
    close: () => undefined,
    open: () => undefined,
  };
}
