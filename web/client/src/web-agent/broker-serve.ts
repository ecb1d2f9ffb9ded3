// Between a page and the server: passes on only what it knows, at the server's pace, and sends again what got lost.
import type { JsonValue, PageTool } from "../generated/wire.js";
import { Rate } from "../rate.js";
import { BrokerSocket, type Connection } from "./broker-socket.js";
import { AgentApiError, errorFrom } from "./errors.js";
import { isTooLong, MAX_CALLS, PAGE_SIZE } from "./wire.js";
import type {
  BrokerClientMessage,
  Numbered,
  BrokerToPage,
  PageToBroker,
  PageText,
} from "./wire.js";

// A little less than what the server takes of one connection before it thinks of a flood.
const PER_SECOND = 180;
const BURST = 360;
// How soon what was held back is tried again.
const HOLD_MS = 10;
// What may be held back: all that can be open, and the ends of it.
const MAX_HELD = 1_000;
const MAX_METHOD = 64;
// What open calls may carry together, in bytes: about what a socket may have under way.
const MAX_OPEN = 16 << 20;
// As many as the server calls concurrently: whatever it waits for is among this many last results.
const MAX_RESULTS = 16;

type Call = Extract<BrokerClientMessage, { type: "call" }>;

/** What a page may have done to itself, by the extension alone. */
const TAB_CALLS = [
  "tab.elements",
  "tab.click",
  "tab.fill",
  "tab.screenshot",
] as const;

export type TabCall = (typeof TAB_CALLS)[number];

const isTabCall = (method: string): method is TabCall =>
  TAB_CALLS.some((one) => one === method);

/** Gets the text that was read, or the error. */
export type Read = (text: unknown, error?: AgentApiError) => void;

export interface BrokerOptions {
  /** What the browser says of the page, never what the page says. */
  origin: string;
  connect: () => Connection;
  hello: () => Extract<BrokerClientMessage, { type: "hello" }>;
  /** Keeps what lets this page in next time. */
  saveToken: (token: string) => void;
  /** Reads the page, of which its script sent what it sees. */
  read: (page: PageText, done: Read) => void;
  /** Does to the page what the server has just allowed; only the extension can. */
  act?: (method: TabCall, params: JsonValue, done: Read) => void;
  /** Shows a question to the person; without it the page's script does. */
  ask?: (ask: string) => void;
  /** Shows the chat that the page opened; without it the page's script does. */
  openChat?: (chatId: string, url: string) => void;
}

/** Ends the visit. */
export type Leave = () => void;

export function serve(port: MessagePort, options: BrokerOptions): Leave {
  const { origin } = options;
  const tell = (message: BrokerToPage) => port.postMessage(message);
  if (!/^https?:\/\//.test(origin)) {
    const words =
      "This page has an opaque origin (a sandbox or a file), so it cannot be granted permissions.";
    tell({ type: "refused", error: plain(denied(words)) });
    return () => undefined;
  }
  const rate = new Rate(PER_SECOND, BURST);
  /** Calls without an answer, as they were sent. */
  const open = new Map<number, Call>();
  /** The size of each call until the server has ended it. */
  const weights = new Map<number, number>();
  /** What calls about the page itself say: that stays here. */
  const acts = new Map<number, JsonValue>();
  /** The number of the last call. */
  let last = 0;
  /** Calls that the page no longer wants, which the server has not ended yet. */
  const aborted = new Set<number>();
  /** The last results of the page's tools; the server says nothing to them. */
  const results = new Map<number, BrokerClientMessage>();
  /** How often the page may be read: once for each time that the server allowed it. */
  let reads = 0;
  let tools: BrokerClientMessage | null = null;
  let held: BrokerClientMessage[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;
  const socket = new BrokerSocket({
    connect: options.connect,
    hello: options.hello,
    onMessage: (message) => fromServer(message),
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
      weights.clear();
      acts.clear();
      aborted.clear();
      results.clear();
      held = [];
      reads = 0;
      tell({ type: "lost", error: plain(error) });
    },
    refused: (error) => tell({ type: "refused", error: plain(error) }),
  });

  /** Sends at the server's pace. */
  function send(message: BrokerClientMessage): void {
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
      socket.send(held[sent] as BrokerClientMessage);
    }
    held = held.slice(sent);
    if (held.length > 0) timer = setTimeout(release, HOLD_MS);
  }

  const hasRoom = () => held.length < MAX_HELD && socket.hasRoom;

  function fromServer(message: Numbered): void {
    switch (message.type) {
      case "token":
        options.saveToken(message.token);
        // What a page offered before it was known was not taken.
        if (tools) send(tools);
        return;
      case "ask":
        if (!options.ask) break;
        // Where Gangway is, is nothing for the page.
        options.ask(message.ask);
        return;
      case "result":
        if (act(message.id)) return;
        if (isOf(message.id, "tab.readability")) reads += 1;
        if (isOf(message.id, "chat.open")) showChat(message.result);
        end(message.id);
        break;
      case "error":
        end(message.id);
        break;
      case "tool_cancel":
        results.delete(message.call);
        break;
    }
    const { n: _, ...rest } = message;
    tell(rest);
  }

  const isOf = (id: number, method: string) => open.get(id)?.method === method;

  function end(id: number): void {
    open.delete(id);
    weights.delete(id);
    acts.delete(id);
    aborted.delete(id);
  }

  /** The server allowed a call; whether that is one to be done here. */
  function act(id: number): boolean {
    const call = open.get(id);
    const params = acts.get(id);
    if (!call || !isTabCall(call.method) || params === undefined) return false;
    end(id);
    options.act?.(call.method, params, (result, error) => {
      if (error) tell({ type: "error", id, error: plain(error) });
      else tell({ type: "result", id, result });
    });
    return true;
  }

  function showChat(result: JsonValue): void {
    const { openChat } = options;
    if (!openChat || typeof result !== "object" || result === null) return;
    const { chatId, panel } = result as { chatId?: string; panel?: string };
    if (chatId === undefined || panel === undefined) return;
    // What opens the chat is nothing for the page.
    delete (result as { panel?: string }).panel;
    openChat(chatId, panel);
  }

  function fromPage(message: PageToBroker | null): void {
    if (typeof message !== "object" || message === null) return;
    switch (message.type) {
      case "call": {
        if (!isId(message.id)) return;
        try {
          call(message.id, message.method, message.params);
        } catch (error) {
          tell({ type: "error", id: message.id, error: plain(error) });
        }
        return;
      }
      case "abort":
        if (isId(message.id) && open.delete(message.id)) {
          acts.delete(message.id);
          aborted.add(message.id);
          forgetOldest(aborted, MAX_CALLS);
          send({ type: "abort", id: message.id });
        }
        return;
      case "tools":
        if (!hasRoom()) return;
        tools = { type: "tools", tools: value(message.tools) as PageTool[] };
        send(tools);
        return;
      case "tool_result":
        if (isId(message.call) && hasRoom()) toolResult(message);
        return;
      case "read":
        if (isId(message.id)) read(message);
    }
  }

  function call(id: number, method: unknown, params: unknown): void {
    if (!isText(method, MAX_METHOD)) throw wrong("The call has no method.");
    // The server does each number once; a second call under it would be taken for the first when that is answered.
    if (id <= last) return;
    last = id;
    if (open.size >= MAX_CALLS || !hasRoom()) throw tooMuch();
    const given = value(params);
    const stays = isTabCall(method);
    if (stays && !options.act) throw needsExtension(method);
    const message: Call = {
      type: "call",
      id,
      method,
      params: stays ? {} : given,
    };
    const weight = bytesOf(params as string);
    if (sum(weights.values()) + weight > MAX_OPEN) throw tooMuch();
    weights.set(id, weight);
    open.set(id, message);
    if (stays) acts.set(id, given);
    send(message);
  }

  function toolResult({
    call,
    error,
    result,
  }: Extract<PageToBroker, { type: "tool_result" }>): void {
    const message: BrokerClientMessage = {
      ...{ type: "tool_result", call },
      ...(error
        ? { error: plain(errorFrom(error)) }
        : { result: value(result) }),
    };
    results.set(call, message);
    forgetOldest(results, MAX_RESULTS);
    send(message);
  }

  function read({
    id,
    html,
    url,
    title,
  }: Extract<PageToBroker, { type: "read" }>): void {
    if (![html, url, title].every((text) => isText(text, PAGE_SIZE))) return;
    if (reads === 0) {
      tell({ type: "error", id, error: plain(notAllowed()) });
      return;
    }
    reads -= 1;
    // A page can only be read as what it is.
    const own = URL.canParse(url) && new URL(url).origin === origin;
    const page = { html, title, url: own ? url : origin };
    options.read(page, (result, error) => {
      if (error) tell({ type: "error", id, error: plain(error) });
      else tell({ type: "result", id, result });
    });
  }

  const leaving = new AbortController();
  port.onmessage = ({ data }: MessageEvent<PageToBroker | null>) => {
    try {
      fromPage(data);
    } catch {
      // The page wrote what is no message; its script never does.
    }
  };
  const { signal } = leaving;
  const pagehide = ({ persisted }: PageTransitionEvent) => {
    if (persisted) socket.pause();
    else socket.leave();
  };
  const pageshow = ({ persisted }: PageTransitionEvent) => {
    if (persisted) socket.wake();
  };
  window.addEventListener("pagehide", pagehide, { signal });
  window.addEventListener("pageshow", pageshow, { signal });
  tell({ type: "ready" });
  return () => {
    leaving.abort();
    port.onmessage = null;
    clearTimeout(timer);
    socket.leave();
  };
}

function isId(id: unknown): id is number {
  return Number.isSafeInteger(id) && (id as number) > 0;
}

function isText(text: unknown, longest: number): text is string {
  return typeof text === "string" && text.length <= longest;
}

function bytesOf(text: string): number {
  return new TextEncoder().encode(text).length;
}

function sum(numbers: Iterable<number>): number {
  let all = 0;
  for (const number of numbers) all += number;
  return all;
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
  if (isTooLong(text)) throw wrong("The call is too large: the limit is 1 MB.");
  return JSON.parse(text) as JsonValue;
}

function denied(message: string): AgentApiError {
  return new AgentApiError("ERR_PERMISSION_DENIED", message);
}

function notAllowed(): AgentApiError {
  const words = "Reading the page needs permission from the server first.";
  return new AgentApiError("ERR_SCOPE_REQUIRED", words);
}

function needsExtension(method: TabCall): AgentApiError {
  const words = `${method} needs the Gangway extension in this browser.`;
  return new AgentApiError("ERR_NOT_SUPPORTED", words);
}

function wrong(message: string): AgentApiError {
  return new AgentApiError("ERR_INTERNAL", message);
}

function tooMuch(): AgentApiError {
  const words = "This page sends too many messages. Wait a moment.";
  return new AgentApiError("ERR_RATE_LIMITED", words);
}

/** An error as it travels. */
function plain(error: unknown) {
  if (error instanceof AgentApiError) return error.toJSON();
  return wrong("The call could not be read.").toJSON();
}
