// Documents that use Gangway: each has a port from its content script, and a page at the bridge with the origin from the browser.
import type { Bridge } from "./bridge.js";
import { ancestorsOf, originOf, tabName, type Sender } from "./sender.js";
import { refusalFor } from "./trouble.js";

/** The longest frame that goes to the bridge, in characters: what a call may be, and its surroundings. */
const MAX_FRAME = 2_000_000;
/** Frames that may come before the page is open: as many as a page may have calls. */
const MAX_EARLY = 256;
/** Documents of one tab: all tabs together have a thousand. */
const MAX_IN_TAB = 64;

/** As much of a runtime port as is needed here. */
export interface Port {
  readonly sender?: Sender | undefined;
  postMessage(message: unknown): void;
  disconnect(): void;
  readonly onMessage: {
    addListener(listener: (message: unknown) => void): void;
  };
  readonly onDisconnect: { addListener(listener: () => void): void };
}

export interface PagesOptions {
  bridge: Bridge;
  /** What names of tabs are made with, the same for as long as the browser runs. */
  secret: () => Promise<string>;
  /** A document of a tab began or ended to use Gangway. */
  changed: (tab: number, origin: string, by: 1 | -1) => void;
  /** How many documents of a tab use it. */
  count: (tab: number) => number;
}

/** Serves the port of a content script until either side leaves. */
export function servePage(
  port: Port,
  { bridge, secret, changed, count }: PagesOptions,
): void {
  const origin = originOf(port.sender);
  const tab = port.sender?.tab?.id;
  const refuse = (refusal: string) => {
    port.postMessage(refusal);
    port.disconnect();
  };
  if (origin === null || tab === undefined) {
    refuse(NO_ORIGIN);
    return;
  }
  if (count(tab) >= MAX_IN_TAB) {
    refuse(TOO_MANY);
    return;
  }
  let page: { send(frame: string): void; close(): void } | null = null;
  let early: string[] | null = null;
  let left = false;

  function leave(): void {
    if (left) return;
    left = true;
    page?.close();
    if (page) changed(tab as number, origin as string, -1);
  }

  async function enter(first: string): Promise<void> {
    early = [];
    const hello = visitIn(first);
    const name = tabName(await secret(), tab as number);
    if (left) return;
    page = bridge.openPage(
      {
        ...{ origin: origin as string, tab: name },
        ...{ ancestors: ancestorsOf(port.sender), ...hello },
      },
      {
        frame: (text) => port.postMessage(text),
        closed(trouble) {
          leave();
          // A visit that stood waits for the bridge to come back: a program may be replaced just now.
          const isNew = hello.visit === undefined;
          if (trouble && isNew) port.postMessage(refusalFor(trouble));
          port.disconnect();
        },
      },
    );
    changed(tab as number, origin as string, 1);
    for (const frame of early) page.send(frame);
    early = null;
  }

  port.onMessage.addListener((message) => {
    // Only our content script speaks here, but a page may have taken its process over.
    if (typeof message !== "string" || message.length > MAX_FRAME) return;
    if (page) page.send(message);
    else if (early) {
      if (early.length < MAX_EARLY) early.push(message);
    } else void enter(message);
  });
  port.onDisconnect.addListener(leave);
}

/** The visit to resume. Other claims of the content script are ignored. */
export function visitIn(hello: string): { visit?: string; seen?: number } {
  try {
    const { visit, seen } = JSON.parse(hello) as Record<string, unknown>;
    if (typeof visit !== "string" || visit.length > 200) return {};
    if (!Number.isSafeInteger(seen) || (seen as number) < 0) return {};
    return { visit, seen: seen as number };
  } catch {
    return {};
  }
}

const TOO_MANY = JSON.stringify({
  type: "refused",
  error: {
    code: "ERR_RATE_LIMITED",
    message: "This tab has too many frames that use Gangway. Close some.",
  },
});

const NO_ORIGIN = JSON.stringify({
  type: "refused",
  error: {
    code: "ERR_PERMISSION_DENIED",
    message:
      "This page has an opaque origin (a sandbox or a file), so it cannot be granted permissions.",
  },
});
