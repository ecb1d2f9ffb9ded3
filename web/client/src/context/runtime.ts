// The first script of a launched page: makes window.__AGENT_CONTEXT__ and keeps everything else to itself.
import { capture } from "./builtins.js";
import type { AgentContext } from "./context.js";
import {
  AgentDeniedError,
  AgentError,
  AgentTimeoutError,
  CODES,
} from "./errors.js";
import type { PageSays, PageTold } from "../generated/wire.js";
import { portLink, socketLink, type Link } from "./link.js";

/** What the server tells the script; as an object, or as JSON text of it. */
export interface Boot {
  launchId: string;
  /** The app's name. */
  app: string;
  agent: AgentContext["agent"];
  config: AgentContext["config"];
  data?: AgentContext["data"];
  /** Where `data` is when it is too large to be here. */
  dataUrl?: string;
  /** The number in the session's log that this page begins after. */
  seq?: number;
  /** The channel's address, with whatever proves this launch. */
  socket: string;
  /** The origin of the page around this one, when that is somebody's own. */
  parentOrigin: string | null;
  /** Whether the page is loaded anew when the server says so. */
  reload: boolean;
}

interface Waiting {
  text: string;
  size: number;
  request: boolean;
  action: string;
  timer: ReturnType<typeof setTimeout>;
  resolve: (value: unknown) => void;
  reject: (error: AgentError) => void;
}

type Handler = (payload: unknown) => void;
/** A message before it is known whether it has JSON. */
type Said = { type: PageSays["type"] } & Record<string, unknown>;

const EMIT_MS = 30_000;
const REQUEST_MS = 60_000;
// What may wait for an answer, together; the server takes no more either.
const MOST = 256;
const MOST_BYTES = 4 << 20;
// One message; the server's frames end a little above it.
const MESSAGE_BYTES = 1 << 20;
const NAME = /^[a-z][a-z0-9-]*$/;
const GONE = ["expired", "deleted"];

export default function run(given: Boot | string): void {
  const built = capture();
  const { parse, stringify, freeze, create, Later, setTimeout, clearTimeout } =
    built;
  const boot = (typeof given === "string" ? parse(given) : given) as Boot;
  const waiting = create(null) as Record<string, Waiting>;
  const handlers = create(null) as Record<string, Handler[]>;
  const page = built.uuid();
  let data = boot.data && freezeAll(boot.data);
  let count = 0;
  let bytes = 0;
  // From the moment that the page was written: what the agent says before the channel is open is not lost.
  let seq = boot.seq;
  let welcomed = false;
  let over = false;

  function freezeAll<T>(value: T): T {
    if (typeof value !== "object" || value === null) return value;
    freeze(value);
    if (built.isArray(value)) {
      for (let at = 0; at < value.length; at += 1) freezeAll(value[at]);
    } else for (const key in value) freezeAll(value[key]);
    return value;
  }

  function address(): string {
    const since = seq === undefined ? "" : `&since=${seq}`;
    welcomed = false;
    return `${boot.socket}${built.exec(/\?/, boot.socket) ? "&" : "?"}page=${page}${since}`;
  }

  const link: Link =
    boot.parentOrigin !== null && window.parent !== window
      ? portLink(built, boot.parentOrigin, boot.launchId, heard)
      : socketLink(built, address, heard);

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
          throw new TypeError(`A ${kind} has no JSON`);
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
        const code = request ? CODES.requestTimeout : CODES.emitTimeout;
        const reason = over ? "closed" : "buffer full";
        const words = over
          ? "This launch has ended"
          : "Too many messages wait for the agent";
        reject(new AgentError(code, words, { reason }));
        return;
      }
      const timer = setTimeout(() => {
        const words = request
          ? "Agent did not respond within 60s"
          : "Agent did not acknowledge event within 30s";
        const operation = request ? "request" : "emit";
        settle(id)?.reject(new AgentTimeoutError(operation, timeout, words));
      }, timeout);
      waiting[id] = { text, size, request, action, timer, resolve, reject };
      count += 1;
      bytes += size;
      if (welcomed) link.send(text);
    });
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
    const told = (
      typeof error === "object" && error ? error : { message: error }
    ) as { code?: unknown; message?: unknown; details?: unknown };
    const message = typeof told.message === "string" ? told.message : "";
    const code =
      typeof told.code === "string"
        ? told.code
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
          ? new AgentError(code, unknown, told.details)
          : new AgentError(
              code,
              message || "The agent refused it",
              told.details,
            ),
    );
  }

  function heard(text: unknown): void {
    if (over) return;
    let frame: PageTold;
    try {
      // Any JSON has a type to look at, but for null.
      frame = (parse(text as string) ?? {}) as PageTold;
    } catch {
      return;
    }
    switch (frame.type) {
      case "welcome":
        seq ??= frame.seq;
        welcomed = true;
        // Whatever has no answer may be lost: the server does each id once.
        for (const id in waiting) link.send((waiting[id] as Waiting).text);
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
        for (let at = 0; at < GONE.length; at += 1) {
          if (GONE[at] === frame.reason) end();
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

  /** The same list without the handler; a list is never changed while it is being told. */
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

  function fetchData(): AgentContext["data"] {
    const asked = new built.Xhr();
    // The first script of the page may want it, so there is nothing to wait with.
    asked.open("GET", boot.dataUrl ?? "", false);
    asked.send();
    if (asked.status !== 200) {
      const words = "No agent context available: the data could not be read";
      throw new AgentError(CODES.context, words, { status: asked.status });
    }
    return freezeAll(parse(asked.responseText) as AgentContext["data"]);
  }

  function end(): void {
    over = true;
    link.close();
  }

  const context = {
    agent: freezeAll(boot.agent),
    get data() {
      return (data ??= fetchData());
    },
    config: freezeAll(boot.config),
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
        throw new TypeError("on() needs a function to call");
      }
      const list = without(event, handler);
      // It stays where it was registered first.
      if (!has(handlers[event], handler)) {
        list[list.length] = handler;
        handlers[event] = list;
      }
      return () => off(event, handler);
    },
    off: (event: string, handler: Handler): void => off(event, handler),
  } satisfies AgentContext;

  freeze(context.emit);
  freeze(context.request);
  freeze(context.on);
  freeze(context.off);
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is frozen, not called
  freeze(Object.getOwnPropertyDescriptor(context, "data")?.get);
  built.defineProperty(window, "__AGENT_CONTEXT__", {
    value: freeze(context),
    enumerable: true,
  });

  built.listen(window, "pagehide", (event) => {
    // A page that the browser keeps for the way back goes on where it was.
    if ((event as PageTransitionEvent).persisted) {
      link.close();
      return;
    }
    end();
    for (const id in waiting) settle(id);
  });
  built.listen(window, "pageshow", (event) => {
    if ((event as PageTransitionEvent).persisted && !over) link.open();
  });
  // Opening a connection costs more than all of the above, and the page's own scripts wait.
  built.soon(() => {
    if (!over) link.open();
  });
}

/** A name as words, whatever it is. */
function nameOf(name: unknown): string {
  return typeof name === "string" ? name : typeof name;
}
