// Runs a tool that a page registered.
import type { ModelContext, RegisteredTool } from "./api.js";

/** A browser takes the input as an object, libraries that stand in for one as JSON text. */
export function executeTool(
  context: ModelContext,
  tool: RegisteredTool,
  input: object,
  signal: AbortSignal,
): Promise<string | null> {
  const { executeTool: method } = context as { executeTool: unknown };
  const source = Function.prototype.toString.call(method);
  const native = /\[native code\]\s*}$/.test(source);
  const given = native ? input : JSON.stringify(input);
  return context.executeTool(tool, given, { signal });
}
