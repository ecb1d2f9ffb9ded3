// The REST calls about apps and their launches.
import type {
  AppDetails,
  AppAddress,
  AppList,
  Entry,
  EventFrame,
  LaunchApp,
  LaunchedApp,
  LaunchInfo,
  OpenedLaunch,
  ReplayApp,
  SentAppEvent,
  TrustFolder,
} from "./generated/wire.js";
import { Http } from "./http.js";

/** What to open an app with; the server knows what to do without each of it. */
export type LaunchBody = Partial<LaunchApp>;

/** An event between an app and its agent, from the feed. */
export type AppFrame = Extract<EventFrame, { type: "app" }>;

/** It as an entry of a conversation. */
export type AppEntry = Extract<Entry, { role: "app" }>;

export class Apps {
  readonly #http: Http;

  constructor(http: Http = new Http()) {
    this.#http = http;
  }

  /** Those that match best first; all of them without a query. */
  list(query?: string, signal?: AbortSignal): Promise<AppList> {
    return this.#http.get("/api/apps", { query: { query }, signal });
  }

  /** Loads the apps of a folder, or no longer. */
  trust(folder: string, trusted: boolean): Promise<void> {
    const body: TrustFolder = { folder, trusted };
    return this.#http.put("/api/app-folders", { body });
  }

  get(name: string, signal?: AbortSignal): Promise<AppDetails> {
    return this.#http.get(pathOf(name), { signal });
  }

  /** Opens an app with a context; the address is good for one browser. */
  launch(name: string, body: LaunchBody = {}): Promise<LaunchedApp> {
    return this.#http.post(`${pathOf(name)}/launch`, { body });
  }

  /** An address that opens an app in this browser, once; `path` is where in the app. */
  enter(name: string, path: string): Promise<AppAddress> {
    return this.#http.post(`${pathOf(name)}/entry`, { body: { path } });
  }

  /** The address of an app's page for a replay, with the data of a launch. */
  replay(name: string, launchId: string | null): Promise<AppAddress> {
    const body: ReplayApp = launchId === null ? {} : { launchId };
    return this.#http.post(`${pathOf(name)}/replay`, { body });
  }

  launched(launchId: string, signal?: AbortSignal): Promise<LaunchInfo> {
    return this.#http.get(launchPath(launchId), { signal });
  }

  /** A fresh address of the same launch. */
  open(launchId: string, embedOrigin?: string): Promise<OpenedLaunch> {
    const body = embedOrigin === undefined ? {} : { embedOrigin };
    return this.#http.post(`${launchPath(launchId)}/open`, { body });
  }

  /** Sends an event to the pages of a launch, as its agent. */
  tell(
    launchId: string,
    event: string,
    payload?: unknown,
  ): Promise<SentAppEvent> {
    const body = { event, payload };
    return this.#http.post(`${launchPath(launchId)}/events`, { body });
  }
}

function pathOf(name: string): string {
  return `/api/apps/${encodeURIComponent(name)}`;
}

function launchPath(launchId: string): string {
  return `/api/launches/${encodeURIComponent(launchId)}`;
}
