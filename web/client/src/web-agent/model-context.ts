// The tools that a page carries out itself: document.modelContext, the browser's own or one like it.
import type { ModelContext, ModelContextTool, RegisteredTool } from "./api.js";
import type { JsonValue, PageTool } from "../generated/wire.js";
import type { Builtins } from "./builtins.js";
import { executeTool } from "./execute-tool.js";
import type {} from "./globals.js";
import { isTooLong } from "./wire.js";

const NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const MAX_TOOLS = 64;
const MAX_DESCRIPTION = 4_096;
const MAX_SCHEMA = 64 << 10;

export interface PageTools {
  list(): Promise<PageTool[]>;
  /** The tool's result, as a value. */
  run(name: string, args: unknown, signal: AbortSignal): Promise<unknown>;
}

/** Honours the browser's own context; puts one on the document where there is none. */
export function pageTools(built: Builtins, changed: () => void): PageTools {
  const found = document.modelContext ?? navigator.modelContext;
  const context = found ?? new Context(built.origin);
  for (const place of [document, navigator]) {
    if (place.modelContext) continue;
    // Other libraries for page tools put theirs around it.
    built.defineProperty(place, "modelContext", {
      value: context,
      enumerable: true,
      configurable: true,
    });
  }
  built.listen(context, "toolchange", changed);
  const registered = async (): Promise<RegisteredTool[]> => {
    const tools = await context.getTools();
    // A browser lists the tools of frames too; those speak for themselves.
    return tools.filter((tool) => {
      const { window: of = window } = tool as { window?: unknown };
      return of === window;
    });
  };

  return {
    async list() {
      const tools: PageTool[] = [];
      for (const { name, description, inputSchema } of await registered()) {
        if (tools.length === MAX_TOOLS) break;
        const schema = inputSchema && built.stringify(inputSchema);
        if (schema && isTooLong(schema, built.Encoder, MAX_SCHEMA)) continue;
        tools.push({
          name,
          description: description.slice(0, MAX_DESCRIPTION),
          ...(schema && { inputSchema: built.parse(schema) as JsonValue }),
        });
      }
      return tools;
    },
    async run(name, args, signal) {
      const tool = (await registered()).find((tool) => tool.name === name);
      if (!tool) throw new NoSuchTool(name);
      const input = typeof args === "object" && args !== null ? args : {};
      const result = await executeTool(context, tool, input, signal);
      if (result === null) return null;
      try {
        return built.parse(result) as unknown;
      } catch {
        return result;
      }
    },
  };
}

export class NoSuchTool extends Error {
  constructor(name: string) {
    super(`The page no longer has the tool ${name}.`);
  }
}

/** The state of Chromium's preview, as far as a page can detect it. */
class Context extends EventTarget implements ModelContext {
  readonly #origin: string;
  readonly #tools = new Map<string, ModelContextTool>();
  #handler: ModelContext["ontoolchange"] = null;
  #announced = false;
  #provided = new AbortController();

  constructor(origin: string) {
    super();
    this.#origin = origin;
    this.addEventListener("toolchange", (event) =>
      this.#handler?.call(this, event),
    );
  }

  get ontoolchange(): ModelContext["ontoolchange"] {
    return this.#handler;
  }

  set ontoolchange(handler: ModelContext["ontoolchange"]) {
    this.#handler = typeof handler === "function" ? handler : null;
  }

  // eslint-disable-next-line @typescript-eslint/require-await -- wrong tools are refused, not thrown
  async registerTool(
    tool: ModelContextTool,
    options: { signal?: AbortSignal } = {},
  ): Promise<void> {
    const { name, title = "", description, inputSchema } = tool;
    if (typeof name !== "string" || typeof description !== "string") {
      throw new TypeError("A tool needs a name and a description");
    }
    if (typeof tool.execute !== "function") {
      throw new TypeError("A tool needs an execute function");
    }
    if (!NAME.test(name)) throw invalid("Invalid tool name");
    if (this.#tools.has(name)) throw invalid("Duplicate tool name");
    if (this.#tools.size >= MAX_TOOLS) {
      throw invalid(`A page may register at most ${MAX_TOOLS} tools`);
    }
    // A schema with a cycle is a TypeError here, not later.
    const schema = inputSchema && JSON.stringify(inputSchema);
    if (schema && isTooLong(schema, TextEncoder, MAX_SCHEMA)) {
      throw new TypeError(`The schema of ${name} must be at most 64 kB`);
    }
    const { signal } = options;
    if (signal?.aborted) return;
    const kept: ModelContextTool = {
      ...{ name, title, description },
      ...(schema && { inputSchema: JSON.parse(schema) as object }),
      execute: (input, client) => tool.execute(input, client),
    };
    this.#tools.set(name, kept);
    signal?.addEventListener("abort", () => {
      if (this.#tools.get(name) === kept) this.#tools.delete(name);
      this.#changed();
    });
    this.#changed();
  }

  async provideContext({
    tools = [],
  }: { tools?: ModelContextTool[] } = {}): Promise<void> {
    this.#provided.abort();
    this.#provided = new AbortController();
    const { signal } = this.#provided;
    for (const tool of tools) await this.registerTool(tool, { signal });
  }

  getTools(): Promise<RegisteredTool[]> {
    const tools = [...this.#tools.values()].map((tool) => {
      const { name, title = "", description, inputSchema } = tool;
      const origin = this.#origin;
      return Object.freeze({
        ...{ name, title, description, origin },
        ...(inputSchema && { inputSchema: structuredClone(inputSchema) }),
      });
    });
    return Promise.resolve(tools);
  }

  async executeTool(
    { name }: RegisteredTool,
    input: object | string,
    { signal }: { signal?: AbortSignal } = {},
  ): Promise<string | null> {
    const tool = this.#tools.get(name);
    if (!tool) throw new DOMException("No such tool", "NotFoundError");
    const given: unknown =
      typeof input === "string" ? JSON.parse(input) : structuredClone(input);
    if (typeof given !== "object" || given === null) {
      throw new TypeError("The input of a tool must be an object");
    }
    signal?.throwIfAborted();
    const client = Object.freeze({ ...(signal && { signal }) });
    const fields = given as Record<string, unknown>;
    const result: unknown = await tool.execute(fields, client);
    return result === undefined ? null : JSON.stringify(result);
  }

  /** Several changes in one go are one event. */
  #changed(): void {
    if (this.#announced) return;
    this.#announced = true;
    queueMicrotask(() => {
      this.#announced = false;
      this.dispatchEvent(new Event("toolchange"));
    });
  }
}

function invalid(message: string): DOMException {
  return new DOMException(message, "InvalidStateError");
}
