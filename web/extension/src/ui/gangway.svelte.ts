// What every page of the extension shares: how things stand, and our library over the bridge.
import {
  Asks,
  GangwayError,
  Http,
  Models,
  Permissions,
  Sessions,
  Tools,
  type AsksFrame,
  type BrowserAct,
  type BrowserAnswer,
  type FeedFrame,
  type WatchOptions,
} from "@gangway/client";
import {
  sessionSource,
  type Source,
} from "@gangway/kit/chat/conversation.svelte.js";
import type { BridgeState } from "../bridge.js";
import type { BridgeError } from "../wire.js";
import { BackgroundPort } from "./background-port.js";
import { bridgeFetch } from "./bridge-fetch.js";

type Watch = (frame: AsksFrame) => void;

export class Gangway {
  readonly #port: BackgroundPort;
  #watches: Watch[] = [];
  readonly http: Http;
  readonly sessions: Sessions;
  readonly tools: Tools;
  readonly models: Models;
  readonly asks: Asks;
  readonly permissions: Permissions;
  bridge: BridgeState = $state.raw({
    ...{ state: "starting", trouble: null, hello: null },
  });
  #open: AsksFrame | null = null;

  constructor() {
    this.#port = new BackgroundPort(
      () => chrome.runtime.connect({ name: "own" }),
      {
        state: (state) => this.#stands(state),
        status: (status) => {
          if (status.about !== "asks") return;
          if (status.frame.type === "asks") this.#open = status.frame;
          for (const watch of this.#watches) watch(status.frame);
        },
      },
    );
    this.http = new Http({ fetch: bridgeFetch(this.#port) });
    this.sessions = new Sessions(this.http);
    this.tools = new Tools(this.http);
    this.models = new Models(this.http);
    this.permissions = new Permissions(this.http);
    this.asks = new BridgeAsks(this.http, (options) => this.#watch(options));
  }

  #stands(now: BridgeState): void {
    const known = this.bridge.hello;
    // A background that was restarted knows nothing yet; what is shown need not go for that.
    if (now.state === "starting" && known) {
      this.bridge = { ...now, state: "gone", hello: known };
    } else this.bridge = now;
  }

  /** Looks for the bridge at once. */
  retry(): void {
    this.#port.retry();
  }

  /** A session, followed by way of the bridge. */
  source(sessionId: string): Source {
    return {
      ...sessionSource(this.sessions, sessionId),
      follow: ({ onFrame, onState }) => {
        let since: number | undefined;
        const { stop } = this.#port.follow({
          type: "chat_follow",
          fields: () => ({
            session_id: sessionId,
            ...(since !== undefined && { since }),
          }),
          event: (event) => {
            const frame = event as FeedFrame;
            if (frame.type === "snapshot" || frame.type === "resync") {
              since = frame.snapshot.seq;
            } else if ("seq" in frame) {
              if (since !== undefined && frame.seq <= since) return;
              since = frame.seq;
            }
            onFrame(frame);
          },
          live: (live) => onState(live ? "live" : "reconnecting"),
          ended: (error) => {
            onState("closed", gangwayError(error));
          },
        });
        return { reconnect: () => this.retry(), dispose: stop };
      },
    };
  }

  /** Does what agents want of the active tab, until the returned function is called. */
  onBrowserAct(act: (act: BrowserAct) => Promise<BrowserAnswer>): () => void {
    const { stop } = this.#port.follow({
      type: "browser_attach",
      fields: () => ({}),
      event: (event) => {
        const { id } = event as BrowserAct;
        const done = act(event as BrowserAct).then((body) =>
          this.#port.request("browser_answer", { act: id, body }),
        );
        // The requester may be gone.
        done.catch(() => undefined);
      },
    });
    return stop;
  }

  /** Subscribes to the open requests; with a request, this is its window. */
  #watch({ ask, onFrame, onState }: WatchOptions): () => void {
    if (ask === undefined) {
      this.#watches = [...this.#watches, onFrame];
      if (this.#open) onFrame(this.#open);
      return () => {
        this.#watches = this.#watches.filter((watch) => watch !== onFrame);
      };
    }
    const { stop } = this.#port.follow({
      type: "ask_watch",
      fields: () => ({ ask }),
      event: (frame) => onFrame(frame as AsksFrame),
      live: (live) => onState?.(live ? "live" : "reconnecting"),
      ended: (error) => onState?.("closed", gangwayError(error)),
    });
    return stop;
  }
}

class BridgeAsks extends Asks {
  readonly #watch: (options: WatchOptions) => () => void;

  constructor(http: Http, watch: (options: WatchOptions) => () => void) {
    super(http);
    this.#watch = watch;
  }

  override watch(options: WatchOptions): () => void {
    return this.#watch(options);
  }
}

function gangwayError(error: BridgeError | null): GangwayError {
  const { code = "ended", message = "", status = 410 } = error ?? {};
  return new GangwayError(code, message, { status });
}
