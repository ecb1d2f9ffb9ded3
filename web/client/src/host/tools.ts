// The tools of a page: those that it declares here, and those that it gave to the browser (WebMCP).
import type { ModelContext, RegisteredTool } from "../web-agent/api.js";
import { executeTool } from "../web-agent/execute-tool.js";
import type {} from "../web-agent/globals.js";
import type { Parameter, Parameters, ParamsOf } from "./parameters.js";
import { isRecord } from "./wire.js";

export interface RunContext {
  /** The agent's reason. */
  reason: string;
  /** Aborted when the result is no longer needed. */
  signal: AbortSignal;
}

export interface Tool<P extends Parameters = Parameters> {
  description: string;
  parameters: P;
  /** Whether calls change nothing; the person is not asked before those. */
  readOnly?: boolean;
  /** Whether it is offered at the moment; always without it. */
  when?: () => boolean;
  /** Does it; what it gives back goes to the agent as `result`. Throw a `ToolError` to choose the code. */
  run(params: ParamsOf<P>, context: RunContext): unknown;
}

/** A tool whose parameters have been forgotten by the type system; they are checked when it runs. */
export interface AnyTool {
  description: string;
  parameters: Parameters;
  readOnly?: boolean;
  when?: () => boolean;
  run(params: never, context: RunContext): unknown;
}

export type Tools = Record<string, AnyTool>;

/** The tools of a page, or how to find out which there are at the moment. */
export type ToolSource = Tools | (() => Tools);

/** Declares one tool, so that TypeScript knows what `run` gets. */
export function tool<const P extends Parameters>(
  declared: Tool<P>,
): Tool<P> & AnyTool {
  return declared;
}

export interface ToolEntry {
  name: string;
  description: string;
  parameters: Parameters;
  readOnly?: true;
}

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const MOST_TOOLS = 128;
const LONGEST_DESCRIPTION = 4_096;

/** What the page declared, and whatever is registered with the browser at the moment. */
export class Toolbox {
  readonly #source: ToolSource;
  readonly #webMcp: boolean;
  /** What was registered with the browser when it was last asked. */
  #others: ToolEntry[] = [];
  /** The tools last sent to agents, to detect changes. */
  #sent: string | undefined;

  constructor(source: ToolSource, webMcp: boolean) {
    const names = typeof source === "function" ? [] : Object.keys(source);
    for (const name of names) {
      if (!NAME.test(name)) {
        throw new TypeError(
          `"${name}" is not a valid tool name: use at most 128 letters, digits, "_", "." and "-".`,
        );
      }
    }
    this.#source = source;
    this.#webMcp = webMcp;
  }

  /** Looked up each time: a script that brings it may come after this one. */
  get #context(): ModelContext | undefined {
    return this.#webMcp && typeof document !== "undefined"
      ? document.modelContext
      : undefined;
  }

  get #own(): Tools {
    return typeof this.#source === "function" ? this.#source() : this.#source;
  }

  /** Calls back when the page registers or takes back a tool. */
  onChange(callback: () => void, signal: AbortSignal): void {
    this.#context?.addEventListener("toolchange", callback, { signal });
  }

  async list(): Promise<ToolEntry[]> {
    this.#others = (await this.#registered()).map(
      ({ name, description, inputSchema }) =>
        entry(name, description, parametersOf(inputSchema)),
    );
    return this.#offered();
  }

  /** Reads the registered tools again; the next update contains them in any case. */
  async renew(): Promise<void> {
    await this.list();
    this.#sent = "";
  }

  /** The tools for the next update, if they have changed. */
  news(): { toolSchema?: ToolEntry[] } {
    const toolSchema = this.#offered();
    const text = JSON.stringify(toolSchema);
    const before = this.#sent;
    this.#sent = text;
    return before === undefined || before === text ? {} : { toolSchema };
  }

  #offered(): ToolEntry[] {
    const all = Object.entries(this.#own);
    const own = all
      .filter(([name, tool]) => NAME.test(name) && isOffered(tool))
      .map(([name, { description, parameters, readOnly }]) =>
        entry(name, description, parameters, readOnly),
      );
    const taken = new Set(all.map(([name]) => name));
    const others = this.#others.filter(({ name }) => !taken.has(name));
    return [...own, ...others].slice(0, MOST_TOOLS);
  }

  /** The tool of this name, ready to run; nothing when there is none. */
  async find(name: string): Promise<AnyTool | null> {
    const own = this.#own;
    if (Object.hasOwn(own, name)) return own[name] ?? null;
    const context = this.#context;
    const registered = (await this.#registered()).find(
      (each) => each.name === name,
    );
    if (!context || !registered) return null;
    const { description, inputSchema } = registered;
    return {
      description,
      parameters: parametersOf(inputSchema),
      async run(params: Record<string, unknown>, { signal }: RunContext) {
        const said = await executeTool(context, registered, params, signal);
        return said === null ? undefined : parsed(said);
      },
    };
  }

  async #registered(): Promise<RegisteredTool[]> {
    const context = this.#context;
    if (!context) return [];
    try {
      const tools = await context.getTools();
      // A browser lists the tools of frames too; those speak for themselves.
      return tools.filter((each) => {
        const { window: of = window } = each as { window?: unknown };
        return of === window && NAME.test(each.name);
      });
    } catch {
      // A preview of a browser that does not do as it says is no reason to lose the page's own tools.
      return [];
    }
  }
}

/** Whether a tool can be used at the moment; one that cannot say so cannot. */
export function isOffered({ when }: AnyTool): boolean {
  try {
    return when?.() ?? true;
  } catch {
    return false;
  }
}

function entry(
  name: string,
  description: string,
  parameters: Parameters,
  readOnly = false,
): ToolEntry {
  return {
    name,
    description: description.slice(0, LONGEST_DESCRIPTION),
    parameters,
    ...(readOnly && { readOnly }),
  };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

const TYPES = ["string", "number", "integer", "boolean", "array", "object"];

/** A JSON Schema of an object, as far as parameters can say it. */
function parametersOf(schema: unknown): Parameters {
  const read = typeof schema === "string" ? parsed(schema) : schema;
  if (!isRecord(read) || !isRecord(read["properties"])) return {};
  const { required } = read;
  const needed = Array.isArray(required) ? (required as unknown[]) : [];
  return Object.fromEntries(
    Object.entries(read["properties"]).map(([name, property]) => [
      name,
      parameterOf(property, needed.includes(name)),
    ]),
  );
}

function parameterOf(schema: unknown, needed: boolean): Parameter {
  const {
    type,
    description,
    enum: values,
  } = isRecord(schema) ? schema : ({} as Record<string, unknown>);
  const known = typeof type === "string" && TYPES.includes(type);
  const plain =
    Array.isArray(values) &&
    values.every((each) => ["string", "number"].includes(typeof each));
  return {
    type: known ? (type as Parameter["type"]) : "any",
    ...(typeof description === "string" && { description }),
    ...(plain && { enum: values as (string | number)[] }),
    ...(!needed && { optional: true }),
  };
}
