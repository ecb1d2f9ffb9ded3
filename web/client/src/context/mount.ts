// An app in a frame of another site's page: one port to it, one WebSocket to Gangway; messages of the frame are not trusted.
import { GangwayError } from "../errors.js";
import type {
  PageClientMessage,
  PageServerMessage,
} from "../generated/wire.js";
import { Http } from "../http.js";
import type { ApiKey } from "../key.js";
import {
  LAUNCH_ENDED,
  LAUNCH_GONE,
  LiveSocket,
  type LiveState,
} from "../live.js";
import { Rate } from "../rate.js";
import { CODES } from "./errors.js";

export interface MountOptions {
  frame: HTMLIFrameElement;
  /** Where Gangway is, e.g. `https://gangway.example`. */
  server: string;
  launchId: string;
  /** The launch's address, from a launch with `embedOrigin`. */
  url: string;
  /** An API key with the scope `apps`, or the token of a login. */
  key?: ApiKey;
  onState?: (state: LiveState, error?: GangwayError) => void;
  /** Gets why the frame is no longer served. */
  onProblem?: (error: GangwayError) => void;
  WebSocket?: typeof WebSocket;
  random?: () => number;
}

export interface MountedApp {
  readonly state: LiveState;
  dispose(): void;
}

/** What a frame of an app may do: it has an origin of its own, so it may be one. */
export const APP_SANDBOX =
  "allow-scripts allow-same-origin allow-forms allow-modals allow-downloads allow-popups";

const TYPES: readonly PageClientMessage["type"][] = [
  "weblet-event",
  "weblet-request",
  "weblet-cancel",
  "weblet-tools",
  "weblet-tool-result",
  "ping",
];
// The server's own limits are lower; this one protects the page.
const PER_SECOND = 100;
const BURST = 400;
// What is over that is refused one by one, until there is too much of it as well.
const REFUSED_PER_SECOND = 10;
const REFUSED_BURST = 2_000;
const MESSAGE_SIZE = (1 << 20) + (64 << 10);
// What the agent said lately, for a document that is still being loaded.
const KEPT = 256;
const KEPT_SIZE = 4 << 20;
const GONE = ["session_deleted", "launch_gone"];

/** Shows a launched app in `frame` and carries its messages. */
export function mountApp(options: MountOptions): MountedApp {
  const { frame, server, launchId, url, key } = options;
  const target = new URL(url, location.href);
  if (target.origin === location.origin) {
    throw new GangwayError(
      "same_origin",
      "An app on the page's own origin could access the page. Serve apps from a separate origin (apps_url).",
    );
  }
  // Each app's own host has it at its root.
  if (target.pathname !== "/") {
    throw new GangwayError(
      "no_origin",
      "All apps share one host (apps_url has {app} in its path), so a message port cannot be sent to one app's origin. " +
        "Give each app its own origin: put {app} into the host name of apps_url.",
    );
  }
  const path = `/ws/launch-pages/${encodeURIComponent(launchId)}`;
  const http = new Http({ baseUrl: server, ...(key && { apiKey: key }) });
  const rate = new Rate(PER_SECOND, BURST);
  const page = crypto.randomUUID();
  const refusals = new Rate(REFUSED_PER_SECOND, REFUSED_BURST);
  const kept: string[] = [];
  let keptSize = 0;
  let port: MessagePort | null = null;
  let greeted = false;
  let welcome: string | null = null;
  let seq: number | undefined;
  let shown = false;
  /** Whether the document offered tools; and whether those of one that is gone must be withdrawn. */
  let offered = false;
  let stale = false;
  let stopped = false;

  const live = new LiveSocket({
    url: () => {
      const socket = new URL(path, server);
      socket.protocol = socket.protocol.replace("http", "ws");
      socket.searchParams.set("page", page);
      if (seq !== undefined) socket.searchParams.set("since", String(seq));
      return socket.href;
    },
    onMessage: (data) => fromServer(String(data)),
    onState: (state, error) => {
      if (state !== "live") welcome = null;
      options.onState?.(state, error);
      if (state === "closed" && error) stop(error);
    },
    askWhy: (signal) =>
      http.get(`/api/launches/${encodeURIComponent(launchId)}`, { signal }),
    key,
    WebSocket: options.WebSocket,
    random: options.random,
  });

  function fromServer(text: string): void {
    let said: PageServerMessage;
    try {
      said = JSON.parse(text) as PageServerMessage;
    } catch {
      // Going on would hide a gap; a new socket resumes before it.
      live.renew();
      return;
    }
    if (said.type === "welcome") {
      welcome = text;
      seq ??= said.seq;
      resetTools();
      greet();
      show();
      return;
    }
    if (said.type === "agent-event") {
      if (seq !== undefined && said.seq <= seq) return;
      keep(text);
    }
    if (said.type === "closing") {
      if (said.reason === "deleted") live.renew(LAUNCH_GONE);
      if (said.reason === "expired") live.renew(LAUNCH_ENDED);
      return;
    }
    if ("seq" in said) seq = said.seq;
    if (greeted) port?.postMessage(text);
  }

  /** The frame is loaded after the socket is there, so that no event falls in between. */
  function show(): void {
    if (shown) return;
    shown = true;
    frame.src = target.href;
  }

  function keep(text: string): void {
    kept.push(text);
    keptSize += text.length;
    while (kept.length > KEPT || keptSize > KEPT_SIZE) {
      keptSize -= kept.shift()?.length ?? 0;
    }
  }

  /** Sends a new document the messages that arrived while it was loading; numbers identify duplicates. */
  function greet(): void {
    if (!port || welcome === null) return;
    port.postMessage(welcome);
    if (greeted) return;
    greeted = true;
    for (const text of kept) port.postMessage(text);
  }

  function fromFrame(data: unknown): void {
    if (typeof data !== "string" || data.length > MESSAGE_SIZE) return;
    const free = rate.take();
    if (!free && !refusals.take()) {
      stop(new GangwayError("flood", "The app sent too many messages."));
      return;
    }
    let said: PageClientMessage | null;
    try {
      said = JSON.parse(data) as PageClientMessage | null;
    } catch {
      return;
    }
    if (!said || !TYPES.includes(said.type)) return;
    if (said.type === "weblet-tools") offered = true;
    if (!free) refuse(said);
    // Without a connection it is dropped: the app sends it again after the next welcome.
    else if (welcome !== null) live.send(data);
  }

  /** A document knows nothing of the calls that the one before was sent. */
  function resetTools(): void {
    if (!stale || welcome === null) return;
    stale = false;
    const none: PageClientMessage = {
      type: "weblet-tools",
      tools: [],
      reset: true,
    };
    live.send(JSON.stringify(none));
  }

  /** Nothing that the app waits for is dropped without a word. */
  function refuse(said: PageClientMessage): void {
    const message = `Too many messages: the limit is ${PER_SECOND} per second`;
    const answer = (message: PageServerMessage) =>
      port?.postMessage(JSON.stringify(message));
    if (said.type === "weblet-event") {
      const error = { code: CODES.emitTimeout, message };
      answer({ type: "weblet-nack", id: said.id, error });
    } else if (said.type === "weblet-request") {
      const { requestId } = said;
      const error = { code: CODES.requestTimeout, message };
      answer({ type: "weblet-response", requestId, success: false, error });
    }
  }

  /** Each document of the frame gets a port of its own, if it is one of the app. */
  function loaded(): void {
    stale ||= offered;
    offered = false;
    port?.close();
    const { port1, port2 } = new MessageChannel();
    port = port1;
    greeted = false;
    port1.onmessage = ({ data }: MessageEvent) => {
      if (port === port1) fromFrame(data);
    };
    const message = { type: "gangway-port", launchId };
    frame.contentWindow?.postMessage(message, target.origin, [port2]);
    resetTools();
    greet();
  }

  function stop(error?: GangwayError): void {
    if (stopped) return;
    stopped = true;
    frame.removeEventListener("load", loaded);
    // What still waits in the app is refused now, not in half a minute.
    const reason = error && GONE.includes(error.code) ? "deleted" : "expired";
    const message = error?.message ?? "The parent page closed the app.";
    const last: PageServerMessage = { type: "closing", reason, message };
    port?.postMessage(JSON.stringify(last));
    port?.close();
    port = null;
    live.dispose();
    if (error) options.onProblem?.(error);
  }

  frame.addEventListener("load", loaded);
  frame.setAttribute("sandbox", APP_SANDBOX);
  frame.setAttribute("referrerpolicy", "no-referrer");
  return {
    get state() {
      return live.state;
    },
    dispose: () => stop(),
  };
}
