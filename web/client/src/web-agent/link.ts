// The page's end of the connection: one port to its broker, and the calls that are open.
import type { Builtins } from "./builtins.js";
import { invalid } from "./arguments.js";
import {
  aborted,
  AgentApiError,
  errorFrom,
  lost,
  timedOut,
  wordsOf,
} from "./errors.js";
import { makeStream, type Streamed, type StreamOptions } from "./streams.js";
import { CALL_SIZE, isTooLong, MAX_CALLS } from "./wire.js";
import type { BrokerToPage, PageToBroker, PageText } from "./wire.js";

/** Page-side limits, in milliseconds. */
export const LIMITS = {
  plain: 30_000,
  /** Where a person is asked; a question without an answer ends a little earlier. */
  person: 120_000,
  /** For a prompt, and for silence in a stream. */
  prompt: 180_000,
  tool: 60_000,
} as const;

/** How the page gets at its broker. */
export interface Way {
  /** Opens a port; `missing` is called if nothing is connected to its other end. */
  open(missing: (error: AgentApiError) => void): MessagePort;
  /** Whether the other end is still where it was. */
  stands(): boolean;
  /** The other end has answered. */
  answered(): void;
  close(): void;
}

export interface CallOptions {
  ms?: number;
  signal?: AbortSignal | undefined;
  /** Gets what comes before the result. */
  event?: (event: unknown) => void;
}

/** What the rest of the script does about messages that belong to no call. */
export interface Host {
  /** Asks the person in a window, and says when that seems to be closed; gives back how to end that. */
  ask(url: string, closed: () => void): () => void;
  toolCall(call: number, name: string, args: unknown): void;
  toolCancel(call: number): void;
  chatClosed(chatId: string): void;
  /** There is a new connection, which knows nothing yet. */
  connected(): void;
  /** Nothing that was open is open any more. */
  lost(): void;
}

export interface Link {
  call(method: string, params: object, options?: CallOptions): Promise<unknown>;
  stream<T extends Streamed>(
    method: string,
    params: object,
    options: StreamOptions<T>,
  ): AsyncIterableIterator<T>;
  /** Posts something that is no call, if there is a connection. */
  say(message: Extract<PageToBroker, { type: "tools" | "tool_result" }>): void;
  /** Has the broker read HTML. */
  read(page: PageText, signal?: AbortSignal): Promise<unknown>;
}

interface Open {
  result(value: unknown): void;
  fail(error: AgentApiError): void;
  event?(event: unknown): void;
  /** What is undone when the call ends. */
  asked: (() => void) | null;
  timer: ReturnType<typeof setTimeout> | undefined;
  ms: number;
  /** Its time starts over with every event. */
  renews: boolean;
  method: string;
  signal: AbortSignal | undefined;
  onAbort: () => void;
}

export type Handlers = Pick<Open, "result" | "fail" | "event" | "renews">;

export function makeLink(built: Builtins, way: Way, host: Host): Link {
  const { Later } = built;
  let open = built.create(null) as Record<number, Open>;
  let count = 0;
  let id = 0;
  let port: MessagePort | null = null;
  /** Said to every call once Gangway will have nothing to do with this page. */
  let refused: AgentApiError | null =
    built.origin === "null" ? noOrigin() : null;

  function connect(): MessagePort {
    if (port && way.stands()) return port;
    // A page that rewrote itself took the frame with it.
    if (port) drop(lost());
    const opened = way.open((error) => {
      // The next call tries again.
      if (port === opened) drop(error);
    });
    port = opened;
    built.listen(opened, "message", (event) => {
      if (port === opened) receive((event as MessageEvent<BrokerToPage>).data);
    });
    built.start(opened);
    // The port keeps it until the broker listens.
    host.connected();
    return opened;
  }

  /** Ends everything that is open, and the connection. */
  function drop(error: AgentApiError): void {
    way.close();
    if (port) built.closePort(port);
    port = null;
    failAll(error);
  }

  function failAll(error: AgentApiError): void {
    const failed = open;
    open = built.create(null) as Record<number, Open>;
    count = 0;
    host.lost();
    for (const at in failed) {
      const call = failed[at] as Open;
      release(call);
      call.fail(error);
    }
  }

  /** Too many visits are fewer later: only a page that is not let in at all asks no more. */
  function forGood(error: AgentApiError): AgentApiError {
    if (error.code === "ERR_PERMISSION_DENIED") refused = error;
    return error;
  }

  function receive(message: BrokerToPage): void {
    switch (message.type) {
      case "ready":
        way.answered();
        return;
      case "refused":
        drop(forGood(errorFrom(message.error)));
        return;
      case "lost":
        failAll(errorFrom(message.error));
        host.connected();
        return;
      case "tool_call":
        host.toolCall(message.call, message.name, message.args);
        return;
      case "tool_cancel":
        host.toolCancel(message.call);
        return;
      case "chat":
        host.chatClosed(message.chatId);
        return;
    }
    const call = open[message.id];
    if (!call) return;
    switch (message.type) {
      case "event":
        if (call.renews) watch(message.id, call, call.ms);
        call.event?.(message.event);
        return;
      case "ask":
        call.asked?.();
        call.asked = host.ask(message.url, () => closed(message.ask));
        if (call.ms < LIMITS.person) watch(message.id, call, LIMITS.person);
        return;
      case "result":
        end(message.id, call).result(message.result);
        return;
      case "error":
        end(message.id, call).fail(errorFrom(message.error));
    }
  }

  /** The server knows whether the window was closed, or only out of sight once it had loaded. */
  function closed(ask: string): void {
    call("permissions.closed", { ask }).catch(() => undefined);
  }

  function release(call: Open): void {
    built.clearTimeout(call.timer);
    call.asked?.();
    if (call.signal) built.unlisten(call.signal, "abort", call.onAbort);
  }

  function end(at: number, call: Open): Open {
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- it has no prototype, and ids are numbers
    delete open[at];
    count -= 1;
    release(call);
    return call;
  }

  /** Ends an open call, and notifies the server. */
  function giveUp(at: number, error?: AgentApiError): void {
    const call = open[at];
    if (!call) return;
    end(at, call);
    if (port)
      built.post(port, { type: "abort", id: at } satisfies PageToBroker);
    if (error) call.fail(error);
  }

  function watch(at: number, call: Open, ms: number): void {
    built.clearTimeout(call.timer);
    const late = () => giveUp(at, timedOut(call.method, ms));
    call.timer = built.setTimeout(late, ms);
  }

  /** Opens a call; its number, or 0 when it was refused at once. */
  function begin(
    method: string,
    message: (id: number) => PageToBroker,
    { ms = LIMITS.plain, signal }: CallOptions,
    handlers: Handlers,
  ): number {
    const refuse = (error: AgentApiError) => {
      handlers.fail(error);
      return 0;
    };
    if (signal?.aborted) return refuse(aborted());
    if (refused) return refuse(refused);
    if (count >= MAX_CALLS) {
      const words = `Too many calls: this page already has ${MAX_CALLS} open. Wait for some of them.`;
      return refuse(new AgentApiError("ERR_RATE_LIMITED", words));
    }
    const to = connect();
    const at = (id += 1);
    const call: Open = {
      ...handlers,
      ...{ ms, method, signal, asked: null, timer: undefined },
      onAbort: () => giveUp(at, aborted()),
    };
    open[at] = call;
    count += 1;
    if (signal) built.listen(signal, "abort", call.onAbort);
    watch(at, call, ms);
    built.post(to, message(at));
    return at;
  }

  /** The parameters as JSON, or why they cannot be sent. */
  function written(method: string, params: object): string {
    let text: string;
    try {
      text = built.stringify(params);
    } catch (error) {
      throw invalid(
        `The arguments of ${method} must be serializable as JSON: ${wordsOf(error)}`,
      );
    }
    if (!isTooLong(text, built.Encoder)) return text;
    throw new AgentApiError(
      method === "tools.call" ? "ERR_TOOL_FAILED" : "ERR_INTERNAL",
      `The call is ${(text.length / (1 << 20)).toFixed(1)} MB; the limit is 1 MB.`,
      { size: text.length, limit: CALL_SIZE },
    );
  }

  /** Throws what is wrong with the parameters. */
  function beginCall(
    method: string,
    params: object,
    options: CallOptions,
    handlers: Handlers,
  ): number {
    const text = written(method, params);
    const message = (at: number): PageToBroker => {
      return { type: "call", id: at, method, params: text };
    };
    return begin(method, message, options, handlers);
  }

  function call(
    method: string,
    params: object,
    options: CallOptions = {},
  ): Promise<unknown> {
    return new Later((resolve, reject) => {
      const { event } = options;
      beginCall(method, params, options, {
        ...{ result: resolve, fail: reject, renews: false },
        ...(event && { event }),
      });
    });
  }

  return {
    call,
    stream: (method, params, options) =>
      makeStream(built, { begin: beginCall, giveUp }, method, params, options),
    say: (message) => port && built.post(port, message),
    read: (page, signal) =>
      new Later((resolve, reject) => {
        const message = (at: number): PageToBroker => {
          return { type: "read", id: at, ...page };
        };
        const handlers = { result: resolve, fail: reject, renews: false };
        begin("readability", message, { signal }, handlers);
      }),
  };
}

/** A frame of Gangway's would not load there at all. */
function noOrigin(): AgentApiError {
  const words =
    "This page has an opaque origin (a sandbox or a file), so it cannot be granted permissions.";
  return new AgentApiError("ERR_PERMISSION_DENIED", words);
}
