// The tools that a page offers to agents over its own channel: kept here, announced after each connect, run when they are called.
import type { JsonValue, PageTool, RefusedPageTool } from "./generated/wire.js";
import type { Parameter, Parameters } from "./host/parameters.js";

/** A tool as a page describes it. */
export interface ToolDescription {
  /** At most 128 letters, digits, `_`, `-` and `.`. */
  name: string;
  description?: string;
  /** JSON Schema of the arguments, of type object. */
  inputSchema?: object;
  /** The same, parameter by parameter; or a JSON Schema. */
  parameters?: Parameters | object;
  /** Whether calls change nothing; the person is not asked about those. */
  readOnly?: boolean;
}

/** Runs a tool; what it returns, or throws, is the result of the call. */
export type ToolHandler = (
  args: Record<string, unknown>,
  context: { readonly signal: AbortSignal },
) => unknown;

/** Withdraws a tool. */
export type Unregister = () => void;

/** How the channel tells the server; either may be dropped while there is no connection. */
export interface ToolsLink {
  offer(tools: PageTool[]): void;
  answer(call: number, result: JsonValue): void;
  fail(call: number, message: string): void;
}

interface Registered extends PageTool {
  handler: ToolHandler;
}

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const MOST_TOOLS = 64;
const LONGEST_DESCRIPTION = 4_096;
const LONGEST_SCHEMA = 64 << 10;
const LONGEST_RESULT = 1 << 20;
const LONGEST_MESSAGE = 2_000;
// The server has no more calls open than this, so it asks for no other again.
const KEPT_RESULTS = 16;

export class PageTools {
  readonly #link: ToolsLink;
  readonly #report: (error: unknown) => void;
  readonly #tools = new Map<string, Registered>();
  readonly #running = new Map<number, AbortController>();
  /** How the newest calls ended: a connection may be lost before the server has it. */
  readonly #ended = new Map<number, () => void>();
  #last = 0;
  #announced = false;
  #changed = false;

  constructor(
    link: ToolsLink,
    report: (error: unknown) => void = (error) => reportError(error),
  ) {
    this.#link = link;
    this.#report = report;
  }

  /** Offers a tool to the agents of the session; gives back how to withdraw it. */
  register(tool: ToolDescription, handler: ToolHandler): Unregister {
    const { name, description = "", readOnly = false } = tool;
    if (typeof name !== "string" || !NAME.test(name)) {
      throw new TypeError(
        `${JSON.stringify(name)} is not a valid tool name: use at most 128 letters, digits, "_", "." and "-".`,
      );
    }
    if (typeof handler !== "function") {
      throw new TypeError(`The tool ${name} needs a handler function.`);
    }
    if (this.#tools.has(name)) {
      throw new TypeError(`The tool ${name} is already registered.`);
    }
    if (this.#tools.size >= MOST_TOOLS) {
      throw new TypeError(`A page can offer at most ${MOST_TOOLS} tools.`);
    }
    // A schema with a cycle is a TypeError here, not later.
    const schema = JSON.stringify(schemaOf(tool));
    if (new TextEncoder().encode(schema).length > LONGEST_SCHEMA) {
      throw new TypeError(
        `The schema of ${name} must be at most ${LONGEST_SCHEMA} bytes.`,
      );
    }
    const registered: Registered = {
      name,
      description: description.slice(0, LONGEST_DESCRIPTION),
      inputSchema: JSON.parse(schema) as JsonValue,
      ...(readOnly && { readOnly }),
      handler,
    };
    this.#tools.set(name, registered);
    this.#change();
    return () => {
      if (this.#tools.get(name) !== registered) return;
      this.#tools.delete(name);
      this.#change();
    };
  }

  /** The channel is open: the server knows of no tools yet, or of those from before. */
  connected(): void {
    if (this.#announced || this.#tools.size > 0) this.#announce();
  }

  /** What the server made of the tools. */
  offered({ refused }: { refused: RefusedPageTool[] }): void {
    for (const { name, message } of refused) {
      this.#report(new TypeError(`The tool ${name} was refused: ${message}`));
    }
  }

  /** Runs a call; one that comes again after a reconnect is run once. */
  call(call: number, name: string, args: JsonValue): void {
    const ended = this.#ended.get(call);
    if (ended) ended();
    if (call <= this.#last) return;
    this.#last = call;
    const tool = this.#tools.get(name);
    if (!tool) {
      this.#end(call, () => this.#link.fail(call, `There is no tool ${name}.`));
      return;
    }
    const controller = new AbortController();
    this.#running.set(call, controller);
    const { signal } = controller;
    void (async () => {
      let say: () => void;
      try {
        const given = args as Record<string, unknown>;
        const result = await tool.handler(given, Object.freeze({ signal }));
        const text = JSON.stringify(result) as string | undefined;
        if (text !== undefined && text.length > LONGEST_RESULT) {
          throw new RangeError(
            `The result must be at most ${LONGEST_RESULT} characters of JSON.`,
          );
        }
        const plain = JSON.parse(text ?? "null") as JsonValue;
        say = () => this.#link.answer(call, plain);
      } catch (error) {
        const message = error instanceof Error ? error.message : String(error);
        const short = message.slice(0, LONGEST_MESSAGE);
        say = () => this.#link.fail(call, short || "The tool failed.");
      }
      if (!this.#running.delete(call)) return;
      this.#end(call, say);
    })();
  }

  /** Nobody waits for the result any more. */
  cancel(call: number): void {
    const controller = this.#running.get(call);
    this.#running.delete(call);
    controller?.abort();
  }

  /** The channel is closed for good. */
  close(): void {
    for (const call of [...this.#running.keys()]) this.cancel(call);
    this.#tools.clear();
    this.#ended.clear();
  }

  #end(call: number, say: () => void): void {
    this.#ended.set(call, say);
    for (const oldest of this.#ended.keys()) {
      if (this.#ended.size <= KEPT_RESULTS) break;
      this.#ended.delete(oldest);
    }
    say();
  }

  /** Several changes in one go are one message. */
  #change(): void {
    if (this.#changed) return;
    this.#changed = true;
    queueMicrotask(() => {
      this.#changed = false;
      this.#announce();
    });
  }

  #announce(): void {
    this.#announced = true;
    const tools = [...this.#tools.values()];
    this.#link.offer(tools.map(({ handler: _, ...tool }) => tool));
  }
}

/** The JSON Schema of a tool's arguments. */
function schemaOf({ inputSchema, parameters }: ToolDescription): object {
  if (inputSchema !== undefined) return inputSchema;
  if (parameters === undefined) return { type: "object" };
  // A parameter may be called `type`; it is described by an object then.
  if (typeof (parameters as { type?: unknown }).type === "string") {
    return parameters;
  }
  return fieldsOf(parameters as Parameters);
}

function fieldsOf(parameters: Parameters): object {
  const all = Object.entries(parameters);
  return {
    type: "object",
    properties: Object.fromEntries(
      all.map(([name, parameter]) => [name, parameterSchema(parameter)]),
    ),
    required: all.filter(([, { optional }]) => !optional).map(([name]) => name),
    additionalProperties: false,
  };
}

function parameterSchema({
  type,
  optional: _,
  items,
  properties,
  ...rest
}: Parameter): object {
  if (properties) return { ...fieldsOf(properties), ...rest };
  return {
    ...(type !== "any" && { type }),
    ...rest,
    ...(items && { items: parameterSchema(items) }),
  };
}
