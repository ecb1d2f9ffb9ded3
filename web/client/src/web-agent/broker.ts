// The hidden frame of Gangway's origin: takes one port from the page around it and passes on only what it knows.
import { Rate } from "../rate.js";
import type { JsonValue, PageTool } from "../generated/wire.js";
import { BrokerSocket } from "./broker-socket.js";
import { AgentApiError, errorFrom } from "./errors.js";
import { readable } from "./readable.js";
import { isTooLong, MAX_CALLS, PAGE_SIZE } from "./wire.js";
import type {
  BrokerSays,
  Greeting,
  Numbered,
  PageHears,
  PageSays,
} from "./wire.js";

// A little less than what the server takes of one connection before it thinks of a flood.
const PER_SECOND = 180;
const BURST = 360;
// How soon what was held back is tried again.
const HOLD_MS = 10;
// What may be held back: all that can be open, and the ends of it.
const MAX_HELD = 1_000;
const MAX_METHOD = 64;
// As many tools as the server has a page run at once: whatever it waits for is among the last so many results.
const MAX_RESULTS = 16;

type Call = Extract<BrokerSays, { type: "call" }>;

/** Waits for the one greeting of the page around this frame. */
export function startBroker(): void {
  const greet = (event: MessageEvent<Partial<Greeting> | null>) => {
    const { data, ports, source, origin } = event;
    if (window.parent === window || source !== window.parent) return;
    const [port] = ports;
    if (data?.gangway !== "hello" || data.v !== 1) return;
    if (ports.length !== 1 || !port) return;
    if (typeof data.tab !== "string" || !/^[0-9a-f]{32}$/.test(data.tab))
      return;
    window.removeEventListener("message", greet);
    serve(port, origin, data.tab);
  };
  window.addEventListener("message", greet);
}

/** `origin` is what the browser says of the page, never what the page says. */
function serve(port: MessagePort, origin: string, tab: string): void {
  const tell = (message: PageHears) => port.postMessage(message);
  if (!/^https?:\/\//.test(origin)) {
    const words =
      "This page has no origin of its own (a sandbox, or a file), so nothing can be allowed to it.";
    tell({ type: "refused", error: plain(denied(words)) });
    return;
  }
  const rate = new Rate(PER_SECOND, BURST);
  /** Calls without an answer, as they were sent. */
  const open = new Map<number, Call>();
  /** Calls that the page no longer wants, whose end the server has not said yet. */
  const aborted = new Set<number>();
  /** The last results of the page's tools; the server says nothing to them. */
  const results = new Map<number, BrokerSays>();
  /** How often the page may be read: once for each time that the server allowed it. */
  let reads = 0;
  let tools: BrokerSays | null = null;
  let held: BrokerSays[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const socket = new BrokerSocket({
    url: `${location.origin.replace(/^http/, "ws")}/ws/web-agent`,
    hello: () => ({
      ...{ type: "hello", v: 1, origin, tab },
      ...savedToken(origin),
    }),
    heard: (message) => fromServer(message),
    resumed() {
      // The server does each number once; what was held back is among these.
      held = [];
      if (tools) send(tools);
      for (const call of open.values()) send(call);
      for (const id of aborted) send({ type: "abort", id });
      for (const result of results.values()) send(result);
    },
    lost(error) {
      open.clear();
      aborted.clear();
      results.clear();
      held = [];
      reads = 0;
      tell({ type: "lost", error: plain(error) });
    },
    refused: (error) => tell({ type: "refused", error: plain(error) }),
  });

  /** Sends at the server's pace. */
  function send(message: BrokerSays): void {
    if (held.length === 0 && rate.take()) {
      socket.send(message);
      return;
    }
    held.push(message);
    timer ??= setTimeout(release, HOLD_MS);
  }

  function release(): void {
    timer = undefined;
    let sent = 0;
    for (; sent < held.length && rate.take(); sent += 1) {
      socket.send(held[sent] as BrokerSays);
    }
    held = held.slice(sent);
    if (held.length > 0) timer = setTimeout(release, HOLD_MS);
  }

  const hasRoom = () => held.length < MAX_HELD && socket.hasRoom;

  function fromServer(message: Numbered): void {
    switch (message.type) {
      case "token":
        saveToken(origin, message.token);
        return;
      case "result":
      case "error":
        if (message.type === "result" && isReading(message.id)) reads += 1;
        open.delete(message.id);
        aborted.delete(message.id);
        break;
      case "tool_cancel":
        results.delete(message.call);
        break;
    }
    const { n: _, ...rest } = message;
    tell(rest);
  }

  const isReading = (id: number) => open.get(id)?.method === "tab.readability";

  function fromPage(said: PageSays | null): void {
    if (typeof said !== "object" || said === null) return;
    switch (said.type) {
      case "call": {
        if (!isId(said.id)) return;
        try {
          call(said.id, said.method, said.params);
        } catch (error) {
          tell({ type: "error", id: said.id, error: plain(error) });
        }
        return;
      }
      case "abort":
        if (isId(said.id) && open.delete(said.id)) {
          aborted.add(said.id);
          forgetOldest(aborted, MAX_CALLS);
          send({ type: "abort", id: said.id });
        }
        return;
      case "tools":
        if (!hasRoom()) return;
        tools = { type: "tools", tools: value(said.tools) as PageTool[] };
        send(tools);
        return;
      case "tool_result":
        if (isId(said.call) && hasRoom()) toolResult(said);
        return;
      case "read":
        if (isId(said.id)) read(said);
    }
  }

  function call(id: number, method: unknown, params: unknown): void {
    if (!isText(method, MAX_METHOD)) throw wrong("The call names no method.");
    if (open.size >= MAX_CALLS || !hasRoom()) throw tooMuch();
    const said: Call = { type: "call", id, method, params: value(params) };
    open.set(id, said);
    send(said);
  }

  function toolResult(said: Extract<PageSays, { type: "tool_result" }>): void {
    const { call, error, result } = said;
    const message: BrokerSays = {
      ...{ type: "tool_result", call },
      ...(error
        ? { error: plain(errorFrom(error)) }
        : { result: value(result) }),
    };
    results.set(call, message);
    forgetOldest(results, MAX_RESULTS);
    send(message);
  }

  function read(said: Extract<PageSays, { type: "read" }>): void {
    const { id, html, url, title } = said;
    if (![html, url, title].every((text) => isText(text, PAGE_SIZE))) return;
    if (reads === 0) {
      tell({ type: "error", id, error: plain(notAllowed()) });
      return;
    }
    reads -= 1;
    // A page can only be read as what it is.
    const own = URL.canParse(url) && new URL(url).origin === origin;
    const result = readable({ html, title, url: own ? url : origin });
    tell({ type: "result", id, result });
  }

  port.onmessage = ({ data }: MessageEvent<PageSays | null>) => {
    try {
      fromPage(data);
    } catch {
      // The page wrote what is no message; its script never does.
    }
  };
  window.addEventListener("pagehide", ({ persisted }) => {
    if (persisted) socket.pause();
    else socket.leave();
  });
  window.addEventListener("pageshow", ({ persisted }) => {
    if (persisted) socket.wake();
  });
  tell({ type: "ready" });
}

function isId(id: unknown): id is number {
  return Number.isSafeInteger(id) && (id as number) > 0;
}

function isText(text: unknown, longest: number): text is string {
  return typeof text === "string" && text.length <= longest;
}

/** Keeps the newest of a list. */
function forgetOldest<T>(
  kept: { size: number; keys(): Iterator<T>; delete(one: T): boolean },
  most: number,
): void {
  if (kept.size > most) kept.delete(kept.keys().next().value as T);
}

/** The value that JSON text stands for. */
function value(text: unknown): JsonValue {
  if (typeof text !== "string") throw wrong("The call could not be read.");
  if (isTooLong(text)) throw wrong("The call is larger than 1 MB.");
  return JSON.parse(text) as JsonValue;
}

const TOKEN = "gangway-token:";
/** For browsers that give frames no storage. */
const tokens = new Map<string, string>();

function savedToken(origin: string): { token?: string } {
  let token: string | null | undefined = tokens.get(origin);
  try {
    token ??= localStorage.getItem(TOKEN + origin);
  } catch {
    // Then it lasts as long as the page.
  }
  return token ? { token } : {};
}

function saveToken(origin: string, token: string): void {
  tokens.set(origin, token);
  try {
    localStorage.setItem(TOKEN + origin, token);
  } catch {
    // Then it lasts as long as the page.
  }
}

function denied(message: string): AgentApiError {
  return new AgentApiError("ERR_PERMISSION_DENIED", message);
}

function notAllowed(): AgentApiError {
  const words =
    "Each reading of the page has to be allowed by the server first.";
  return new AgentApiError("ERR_SCOPE_REQUIRED", words);
}

function wrong(message: string): AgentApiError {
  return new AgentApiError("ERR_INTERNAL", message);
}

function tooMuch(): AgentApiError {
  const words = "This page sends more than Gangway takes. Wait a moment.";
  return new AgentApiError("ERR_RATE_LIMITED", words);
}

/** An error as it travels. */
function plain(error: unknown) {
  if (error instanceof AgentApiError) return error.toJSON();
  return wrong("The call could not be read.").toJSON();
}
