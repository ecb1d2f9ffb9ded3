// All that a launched page does with its agent: built when it is first needed, so that the page's own scripts do not wait for it.
import type { Builtins } from "./builtins.js";
import type { AgentContext } from "./context.js";
import { CODES, makeErrors, type AgentError } from "./errors.js";
import type {
  PageClientMessage,
  PageServerMessage,
} from "../generated/wire.js";
import { PageTools } from "../page-tools.js";
import { socketLink, type Link } from "./link.js";
import type { Boot } from "./runtime.js";

interface Waiting {
  text: string;
  size: number;
  request: boolean;
  action: string;
  timer: ReturnType<typeof setTimeout>;
  /** Whether the server may have it. */
  sent: boolean;
  resolve: (value: unknown) => void;
  reject: (error: AgentError) => void;
}

export type Handler = (payload: unknown) => void;
/** A message before it is known whether it has JSON. */
type Said = { type: PageClientMessage["type"] } & Record<string, unknown>;

const EMIT_MS = 30_000;
const REQUEST_MS = 60_000;
// What may wait for an answer, together; the server takes no more either.
const MOST = 256;
const MOST_BYTES = 4 << 20;
// One message; the server's frames end a little above it.
const MESSAGE_BYTES = 1 << 20;
const NAME = /^[a-z][a-z0-9-]*$/;

export interface Channel extends Pick<
  AgentContext,
  "emit" | "request" | "on" | "off" | "registerTool"
> {
  /** Connects, unless it is already connected. */
  open(): void;
  /** Takes what the other end says. */
  receive(text: unknown): void;
}

/** `port` is the way out where there is a parent page. */
export function makeChannel(
  built: Builtins,
  boot: Boot,
  port: Link | null,
): Channel {
  const { parse, stringify, create, Later, setTimeout, clearTimeout } = built;
  const { AgentError, AgentDeniedError, AgentTimeoutError } = makeErrors(
    built.Failure,
  );
  const waiting = create(null) as Record<string, Waiting>;
  const handlers = create(null) as Record<string, Handler[]>;
  const page = built.uuid();
  /** What could not be said while there was no connection. */
  let cancelled: string[] = [];
  let count = 0;
  let bytes = 0;
  // From the moment that the page was written: what the agent says before the channel is open is not lost.
  let seq = boot.seq;
  let welcomed = false;
  /** Why nothing can be said any more, once that is so. */
  let over = "";

  function address(): string {
    const since = seq === undefined ? "" : `&since=${seq}`;
    welcomed = false;
    return `${boot.socket}${built.exec(/\?/, boot.socket) ? "&" : "?"}page=${page}${since}`;
  }

  const link = port ?? socketLink(built, address, receive, end);
  // What is dropped without a connection is said again: the tools after a welcome, a result when its call comes again.
  const say = (said: PageClientMessage) => {
    if (welcomed) link.send(stringify(said));
  };
  const result = (call: number) =>
    ({ type: "weblet-tool-result", call }) as const;
  const tools = new PageTools(
    {
      offer: (tools) => say({ type: "weblet-tools", tools }),
      answer: (call, value) =>
        say({ ...result(call), success: true, result: value }),
      fail: (call, message) =>
        say({
          ...result(call),
          success: false,
          error: { code: null, message },
        }),
    },
    built.report,
  );

  function textOf(fields: Said): string {
    return stringify(
      { ...fields, timestamp: built.now(), weblet: boot.app },
      function (this: unknown, _key, value: unknown) {
        const kind = typeof value;
        if (
          kind === "function" ||
          kind === "symbol" ||
          kind === "bigint" ||
          // It would arrive as null.
          (kind === "undefined" && built.isArray(this))
        ) {
          throw new TypeError(`A ${kind} cannot be serialized as JSON`);
        }
        return value;
      },
    );
  }

  function ask(
    id: string,
    fields: Said,
    request: boolean,
    action: string,
  ): Promise<unknown> {
    return new Later((resolve, reject) => {
      let text: string;
      try {
        text = textOf(fields);
      } catch (cause) {
        const words = "Event payload must be JSON-serializable";
        const reason = cause instanceof Error ? cause.message : "";
        reject(new AgentError(CODES.payload, words, { reason }));
        return;
      }
      const size = built.size(text);
      if (size > MESSAGE_BYTES) {
        const words = `Event payload must be at most ${MESSAGE_BYTES} bytes of JSON`;
        reject(
          new AgentError(CODES.payload, words, { reason: "too large", size }),
        );
        return;
      }
      const timeout = request ? REQUEST_MS : EMIT_MS;
      if (over || count >= MOST || bytes + size > MOST_BYTES) {
        reject(unsent(request));
        return;
      }
      const timer = setTimeout(() => {
        const words = request
          ? "Agent did not respond within 60s"
          : "Agent did not acknowledge event within 30s";
        const operation = request ? "request" : "emit";
        const found = settle(id);
        found?.reject(new AgentTimeoutError(operation, timeout, words));
        if (found?.sent) cancel(id);
      }, timeout);
      const sent = welcomed;
      waiting[id] = {
        ...{ text, size, request, action, timer, sent, resolve, reject },
      };
      count += 1;
      bytes += size;
      if (welcomed) link.send(text);
    });
  }

  /** An agent that comes later must not get it: for the app it failed, and the app may try again. */
  function cancel(id: string): void {
    const text = stringify({ type: "weblet-cancel", id });
    if (welcomed) link.send(text);
    else if (cancelled.length < MOST) cancelled[cancelled.length] = text;
  }

  /** It will never be acknowledged or answered: fails with the timeout's code, without waiting. */
  function unsent(request: boolean): AgentError {
    const code = request ? CODES.requestTimeout : CODES.emitTimeout;
    const words = over || "Too many messages are waiting for the agent";
    const reason = over ? "closed" : "buffer full";
    return new AgentError(code, words, { reason });
  }

  /** Nothing waits under this id any more. */
  function settle(id: unknown): Waiting | undefined {
    const found = waiting[id as string];
    if (!found) return undefined;
    clearTimeout(found.timer);
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- a Map's methods could be changed by the page
    delete waiting[id as string];
    count -= 1;
    bytes -= found.size;
    return found;
  }

  function refuse(id: unknown, error: unknown): void {
    const found = settle(id);
    if (!found) return;
    const { action, request } = found;
    const fault = (
      typeof error === "object" && error ? error : { message: error }
    ) as { code?: unknown; message?: unknown; details?: unknown };
    const message = typeof fault.message === "string" ? fault.message : "";
    const code =
      typeof fault.code === "string"
        ? fault.code
        : request
          ? CODES.requestTimeout
          : CODES.emitTimeout;
    const denied = `Agent denied request: ${action}`;
    const unknown = `Agent does not support action: ${action}`;
    found.reject(
      code === CODES.denied
        ? message === "" || message === denied
          ? new AgentDeniedError(action, undefined, denied)
          : new AgentDeniedError(action, message, `${denied} - ${message}`)
        : code === CODES.action
          ? new AgentError(code, unknown, fault.details)
          : new AgentError(
              code,
              message || "The agent denied the request",
              fault.details,
            ),
    );
  }

  function receive(text: unknown): void {
    if (over) return;
    let frame: PageServerMessage;
    try {
      // Any JSON has a type to look at, but for null.
      frame = (parse(text as string) ?? {}) as PageServerMessage;
    } catch {
      return;
    }
    switch (frame.type) {
      case "welcome":
        seq ??= frame.seq;
        welcomed = true;
        for (let at = 0; at < cancelled.length; at += 1) {
          link.send(cancelled[at] as string);
        }
        cancelled = [];
        // Whatever has no answer may be lost: the server does each id once.
        for (const id in waiting) {
          const found = waiting[id] as Waiting;
          found.sent = true;
          link.send(found.text);
        }
        tools.connected();
        break;
      case "tools-offered":
        tools.offered(frame);
        break;
      case "tool-call":
        tools.call(frame.call, frame.name, frame.arguments);
        break;
      case "tool-cancel":
        tools.cancel(frame.call);
        break;
      case "weblet-ack":
        settle(frame.id)?.resolve(undefined);
        break;
      case "weblet-nack":
        refuse(frame.id, frame.error);
        break;
      case "weblet-response":
        if (frame.success) {
          settle(frame.requestId)?.resolve(frame.result);
        } else refuse(frame.requestId, frame.error);
        break;
      case "agent-event":
        if (seq !== undefined && frame.seq <= seq) return;
        seq = frame.seq;
        tell(frame.event, frame.payload);
        break;
      case "resync":
        seq = frame.seq;
        break;
      case "error":
        refuse(frame.id, frame.error);
        break;
      case "reload":
        if (boot.reload) location.reload();
        break;
      case "closing":
        if (frame.reason === "deleted" || frame.reason === "expired") {
          end(frame.reason);
        }
    }
  }

  function tell(event: string, payload: unknown): void {
    const before = handlers[event];
    for (let at = 0; before && at < before.length; at += 1) {
      const handler = before[at] as Handler;
      // One that was taken off by another is not called any more.
      if (!has(handlers[event], handler)) continue;
      try {
        handler(payload);
      } catch (error) {
        built.report(error);
      }
    }
  }

  function has(list: Handler[] | undefined, handler: Handler): boolean {
    for (let at = 0; list && at < list.length; at += 1) {
      if (list[at] === handler) return true;
    }
    return false;
  }

  /** A copy of the list without the handler; a list is never changed during dispatch. */
  function without(event: string, handler: Handler): Handler[] {
    const kept: Handler[] = [];
    const list = handlers[event];
    for (let at = 0; list && at < list.length; at += 1) {
      const each = list[at] as Handler;
      if (each !== handler) kept[kept.length] = each;
    }
    return kept;
  }

  function off(event: string, handler: Handler): void {
    handlers[event] = without(event, handler);
  }

  function end(why: "deleted" | "expired"): void {
    over =
      why === "deleted"
        ? "This launch no longer exists"
        : "This launch has ended";
    link.close();
    tools.close();
    for (const id in waiting) {
      const found = settle(id);
      found?.reject(unsent(found.request));
    }
  }

  built.listen(window, "pagehide", (event) => {
    // A page in the back/forward cache resumes.
    if ((event as PageTransitionEvent).persisted) {
      link.close();
      return;
    }
    // There is no agent.
    for (const id in waiting) settle(id);
    end("expired");
  });
  built.listen(window, "pageshow", (event) => {
    if ((event as PageTransitionEvent).persisted && !over) link.open();
  });
  return {
    open() {
      if (!over) link.open();
    },
    receive,
    emit: (event: string, payload?: unknown): Promise<void> => {
      if (typeof event !== "string" || !built.exec(NAME, event)) {
        const words = `Invalid event name: ${nameOf(event)}. Use lowercase with hyphens.`;
        return Later.reject(new AgentError(CODES.name, words));
      }
      const id = built.uuid();
      const fields: Said = { type: "weblet-event", id, event, payload };
      return ask(id, fields, false, event) as Promise<void>;
    },
    request: <T>(action: string, params?: unknown): Promise<T> => {
      if (typeof action !== "string" || action === "") {
        const words = `Agent does not support action: ${nameOf(action)}`;
        return Later.reject(new AgentError(CODES.action, words));
      }
      const requestId = built.uuid();
      const fields: Said = {
        type: "weblet-request",
        action,
        params,
        requestId,
      };
      return ask(requestId, fields, true, action) as Promise<T>;
    },
    on: (event: string, handler: Handler): (() => void) => {
      if (typeof handler !== "function") {
        throw new TypeError("on() needs a callback function");
      }
      const list = without(event, handler);
      // It stays where it was registered first.
      if (!has(handlers[event], handler)) {
        list[list.length] = handler;
        handlers[event] = list;
      }
      return () => off(event, handler);
    },
    off,
    registerTool: (tool, handler) => tools.register(tool, handler),
  };
}

/** A name as a string. */
function nameOf(name: unknown): string {
  return typeof name === "string" ? name : typeof name;
}
