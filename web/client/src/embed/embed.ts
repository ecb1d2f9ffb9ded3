// Puts the chat of a remote agent into a page of another origin, and talks with it.
import type {
  EmbedEventName,
  EmbedEvents,
  EmbedStyle,
  FromEmbed,
  ToEmbed,
} from "./messages.js";
import type { FlagsWanted } from "../generated/wire.js";

export type { EmbedEventName, EmbedEvents, EmbedStyle, FlagsWanted, FromEmbed };

export interface EmbedOptions extends EmbedStyle {
  /** The `embed_url` that the create request was answered with. */
  url: string;
  /** Where the chat goes; without one it floats in the corner once it is opened. */
  container?: Element | string;
  /** Features to switch on, of those that the agent was allowed. */
  features?: FlagsWanted;
  /** Makes the frame as high as what is in it. */
  autoHeight?: boolean;
  /** What the frame is called for people who cannot see it. */
  title?: string;
}

export interface Embed {
  readonly element: HTMLIFrameElement;
  /** Shows the chat, and loads it the first time. */
  open(): void;
  /** Hides the chat; the agent keeps running. */
  close(): void;
  /** Says something as the person, once the chat is ready. */
  send(text: string): void;
  /** Changes the look. */
  style(variables: EmbedStyle): void;
  /** Puts the keyboard into the chat. */
  focus(): void;
  /** Calls back until the returned function is called. */
  on<Name extends EmbedEventName>(
    name: Name,
    listener: (event: EmbedEvents[Name]) => void,
  ): () => void;
  /** Removes the chat from the page. */
  remove(): void;
}

// What is asked for before the chat is ready; more than that is a fault of the page.
const MAX_WAITING = 100;
const FLOATING =
  "position:fixed;right:1rem;bottom:1rem;z-index:2147483000;width:min(24rem,calc(100vw - 2rem));height:min(38rem,calc(100vh - 2rem));border-radius:12px;box-shadow:0 8px 32px rgb(0 0 0/25%);";

export function embed(options: EmbedOptions): Embed {
  const url = addressOf(options);
  const { container, autoHeight = false, title = "Chat" } = options;
  const place =
    typeof container === "string"
      ? document.querySelector(container)
      : container;
  if (container !== undefined && !place) {
    throw new Error(
      "Gangway.embed: `container` matches no element of this page.",
    );
  }
  const frame = document.createElement("iframe");
  frame.title = title;
  frame.allow = "microphone; clipboard-write";
  frame.referrerPolicy = "no-referrer";
  frame.style.cssText = `border:0;${place ? "width:100%;height:100%;" : FLOATING}`;
  const listeners = new Map<EmbedEventName, Set<(event: never) => void>>();
  let waiting: ToEmbed[] = [];
  let ready = false;
  let removed = false;

  function load(): void {
    if (frame.isConnected || removed) return;
    // A frame that was taken out and put back starts over.
    ready = false;
    frame.src = url.href;
    (place ?? document.body).append(frame);
  }

  function tell(message: ToEmbed): void {
    if (ready) frame.contentWindow?.postMessage(message, url.origin);
    else if (waiting.length < MAX_WAITING) waiting.push(message);
  }

  function hear({ source, origin, data }: MessageEvent<unknown>): void {
    if (source === null || source !== frame.contentWindow) return;
    if (origin !== url.origin || !isFromEmbed(data)) return;
    if (data.type === "ready") {
      ready = true;
      const queued = waiting;
      waiting = [];
      queued.forEach(tell);
    } else if (data.type === "resize" && autoHeight) {
      const { height } = data;
      if (Number.isFinite(height)) frame.style.height = `${height}px`;
    }
    for (const listener of listeners.get(data.type) ?? [])
      listener(data as never);
  }

  window.addEventListener("message", hear);
  if (place) load();
  else frame.style.display = "none";

  return {
    element: frame,
    open() {
      load();
      frame.style.display = "";
    },
    close() {
      frame.style.display = "none";
    },
    send(text) {
      load();
      tell({ target: "gangway", type: "send", text });
    },
    style(variables) {
      tell({ target: "gangway", type: "style", variables });
    },
    focus() {
      frame.focus();
      tell({ target: "gangway", type: "focus" });
    },
    on(name, listener) {
      const all = listeners.get(name) ?? new Set();
      listeners.set(name, all.add(listener));
      return () => void all.delete(listener);
    },
    remove() {
      removed = true;
      window.removeEventListener("message", hear);
      frame.remove();
    },
  };
}

/** The URL of the frame: `embed_url` with the options of the page. */
function addressOf({ url, features, ...wishes }: EmbedOptions): URL {
  const address = new URL(url, location.href);
  if (!/^https?:$/.test(address.protocol)) {
    throw new Error("Gangway.embed: `url` is not a valid http or https URL.");
  }
  const query = address.searchParams;
  for (const name of ["theme", "accent", "font", "size", "radius"] as const) {
    if (wishes[name]) query.set(name, wishes[name]);
  }
  for (const [name, on] of Object.entries(features ?? {})) {
    query.set(name, on ? "1" : "0");
  }
  // The chat talks with this origin alone, where the server allows it.
  query.set("parent", location.origin);
  return address;
}

function isFromEmbed(data: unknown): data is FromEmbed {
  if (typeof data !== "object" || data === null) return false;
  const { source, type } = data as Record<string, unknown>;
  return source === "gangway" && typeof type === "string";
}
