// What every page of the extension shares: how things stand, and our library over the bridge.
import {
  GangwayError,
  Http,
  Models,
  Permissions,
  Sessions,
  Tools,
  type BrowserAct,
  type BrowserAnswer,
  type FeedFrame,
  type PermissionsFrame,
  type WatchOptions,
} from "@gangway/client";
import {
  sessionSource,
  type Source,
} from "@gangway/kit/chat/conversation.svelte.js";
import type { BridgeState } from "../bridge.js";
import { BackgroundPort } from "./background-port.js";
import { bridgeFetch } from "./bridge-fetch.js";

type Watch = (frame: PermissionsFrame) => void;

export class Gangway {
  readonly #port: BackgroundPort;
  #watches: Watch[] = [];
  readonly http: Http;
  readonly sessions: Sessions;
  readonly tools: Tools;
  readonly models: Models;
  readonly permissions: Permissions;
  bridge: BridgeState = $state.raw({
    ...{ state: "starting", trouble: null, hello: null },
  });
  #asks: PermissionsFrame | null = null;

  constructor() {
    this.#port = new BackgroundPort(
      () => chrome.runtime.connect({ name: "own" }),
      {
        state: (state) => this.#stands(state),
        status: (status) => {
          if (status.about !== "permissions") return;
          if (status.frame.type === "asks") this.#asks = status.frame;
          for (const watch of this.#watches) watch(status.frame);
        },
      },
    );
    this.http = new Http({ fetch: bridgeFetch(this.#port) });
    this.sessions = new Sessions(this.http);
    this.tools = new Tools(this.http);
    this.models = new Models(this.http);
    this.permissions = new BridgePermissions(this.http, (options) =>
      this.#watch(options),
    );
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
            const { code = "ended", message = "", status = 410 } = error ?? {};
            onState("closed", new GangwayError(code, message, { status }));
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

  /** Hears what is asked; with a question, this window stands for it. */
  #watch({ ask, onFrame, onState }: WatchOptions): () => void {
    if (ask === undefined) {
      this.#watches = [...this.#watches, onFrame];
      if (this.#asks) onFrame(this.#asks);
      return () => {
        this.#watches = this.#watches.filter((watch) => watch !== onFrame);
      };
    }
    const { stop } = this.#port.follow({
      type: "permission_watch",
      fields: () => ({ ask }),
      event: (frame) => onFrame(frame as PermissionsFrame),
      live: (live) => onState?.(live ? "live" : "reconnecting"),
      ended: () => onState?.("closed"),
    });
    return stop;
  }
}

class BridgePermissions extends Permissions {
  readonly #watch: (options: WatchOptions) => () => void;

  constructor(http: Http, watch: (options: WatchOptions) => () => void) {
    super(http);
    this.#watch = watch;
  }

  override watch(options: WatchOptions): () => void {
    return this.#watch(options);
  }
}
