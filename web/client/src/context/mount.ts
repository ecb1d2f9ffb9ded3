// An app in a frame of somebody's own page: one port to it, one WebSocket to Gangway, and no trust in what the frame says.
import { GangwayError } from "../errors.js";
import type { PageSays, PageTold } from "../generated/wire.js";
import { Http } from "../http.js";
import { LiveSocket, type LiveState } from "../live.js";
import { Rate } from "../rate.js";

export interface MountOptions {
  frame: HTMLIFrameElement;
  /** Where Gangway is, e.g. `https://gangway.example`. */
  server: string;
  launchId: string;
  /** The launch's address, from a launch with `embedOrigin`. */
  url: string;
  /** An API key, where Gangway asks for one. */
  key?: string;
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

const TYPES: readonly PageSays["type"][] = [
  "weblet-event",
  "weblet-request",
  "ping",
];
// The server's own limits are lower; this one protects the page.
const PER_SECOND = 100;
const BURST = 400;
const PATIENCE = 2_000;
const MESSAGE_SIZE = (1 << 20) + (64 << 10);

/** Shows a launched app in `frame` and carries its messages. */
export function mountApp(options: MountOptions): MountedApp {
  const { frame, server, launchId, url, key } = options;
  const target = new URL(url, location.href);
  if (target.origin === location.origin) {
    throw new GangwayError(
      "same_origin",
      "An app on the page's own origin could reach into the page. Give apps an origin of their own (apps_url).",
    );
  }
  const path = `/ws/launch-pages/${encodeURIComponent(launchId)}`;
  const http = new Http({ baseUrl: server, ...(key && { apiKey: key }) });
  const rate = new Rate(PER_SECOND, BURST);
  const page = crypto.randomUUID();
  let port: MessagePort | null = null;
  let welcome: string | null = null;
  let seq: number | undefined;
  let refused = 0;

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
    ...(key && { protocols: ["gangway", `gangway.key.${key}`] }),
    WebSocket: options.WebSocket,
    random: options.random,
  });

  function fromServer(text: string): void {
    let said: PageTold;
    try {
      said = JSON.parse(text) as PageTold;
    } catch {
      // Going on would hide a gap; a new socket resumes before it.
      live.renew();
      return;
    }
    if (said.type === "welcome") {
      welcome = text;
      seq ??= said.seq;
    } else if ("seq" in said) seq = said.seq;
    port?.postMessage(text);
  }

  function fromFrame(data: unknown): void {
    if (typeof data !== "string" || data.length > MESSAGE_SIZE) return;
    if (!rate.take()) {
      refused += 1;
      const error = "The app sent too many messages.";
      if (refused > PATIENCE) stop(new GangwayError("flood", error));
      return;
    }
    let said: unknown;
    try {
      said = JSON.parse(data);
    } catch {
      return;
    }
    const type = (said as PageSays | null)?.type;
    if (!type || !TYPES.includes(type)) return;
    // Without a connection it is dropped: the app sends it again after the next welcome.
    if (welcome !== null) live.send(data);
  }

  /** Each document of the frame gets a port of its own, if it is one of the app. */
  function loaded(): void {
    port?.close();
    const { port1, port2 } = new MessageChannel();
    port = port1;
    port1.onmessage = ({ data }: MessageEvent) => {
      if (port === port1) fromFrame(data);
    };
    const message = { type: "gangway-port", launchId };
    frame.contentWindow?.postMessage(message, target.origin, [port2]);
    if (welcome !== null) port1.postMessage(welcome);
  }

  function stop(error?: GangwayError): void {
    if (stopped) return;
    stopped = true;
    frame.removeEventListener("load", loaded);
    port?.close();
    port = null;
    live.dispose();
    if (error) options.onProblem?.(error);
  }

  let stopped = false;
  frame.addEventListener("load", loaded);
  frame.setAttribute("sandbox", APP_SANDBOX);
  frame.setAttribute("referrerpolicy", "no-referrer");
  frame.src = target.href;
  return {
    get state() {
      return live.state;
    },
    dispose: () => stop(),
  };
}
