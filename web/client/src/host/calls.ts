// Runs what agents ask for, one after the other, and says what came of it.
import { problemsOf } from "./parameters.js";
import { isOffered, type Toolbox } from "./tools.js";
import {
  isRecord,
  LONGEST_REASON,
  ToolError,
  WAITING_CALLS,
  type ProblemCode,
} from "./wire.js";

export interface Call {
  toolName: string;
  params: Record<string, unknown>;
  reason: string;
}

/** A call and what came of it. */
export interface DoneCall extends Call {
  ok: boolean;
  code?: ProblemCode;
  message?: string;
}

/** What an agent asked for, when it can be run at all. */
export function readCall(payload: Record<string, unknown>): Call {
  const { toolName, params = {}, reason } = payload;
  if (typeof toolName !== "string" || toolName === "") {
    throw new ToolError("INVALID_PARAMS", "toolName is missing.");
  }
  if (typeof reason !== "string" || reason.trim() === "") {
    throw new ToolError(
      "INVALID_PARAMS",
      "reason is missing. Say briefly why you call this tool; the user reads it.",
    );
  }
  if (reason.length > LONGEST_REASON) {
    throw new ToolError(
      "INVALID_PARAMS",
      `reason must be at most ${LONGEST_REASON} characters.`,
    );
  }
  if (!isRecord(params)) {
    throw new ToolError("INVALID_PARAMS", "params must be an object.");
  }
  return { toolName, params, reason: reason.trim() };
}

/** Runs one call, or throws a `ToolError` that says why not. */
export async function runCall(
  toolbox: Toolbox,
  { toolName, params, reason }: Call,
  signal: AbortSignal,
): Promise<unknown> {
  const found = await toolbox.find(toolName);
  if (!found || !isOffered(found)) {
    const names = (await toolbox.list()).map(({ name }) => name).join(", ");
    throw found
      ? new ToolError(
          "TOOL_EXECUTION_FAILED",
          `${toolName} is not available at the moment. Available tools: ${names}`,
        )
      : new ToolError(
          "UNKNOWN_TOOL",
          `Unknown tool "${toolName.slice(0, 60)}". Available tools: ${names}`,
        );
  }
  const problems = problemsOf(found.parameters, params);
  if (problems.length > 0) {
    throw new ToolError(
      "INVALID_PARAMS",
      `Invalid arguments for ${toolName}: ${problems.join("; ")}.`,
    );
  }
  let giveUp: (error: ToolError) => void = () => undefined;
  const late = new Promise<never>((_, reject) => (giveUp = reject));
  const stop = () =>
    giveUp(
      new ToolError(
        "TOOL_EXECUTION_FAILED",
        `${toolName} was cancelled: it timed out, or the page is closing.`,
      ),
    );
  if (signal.aborted) stop();
  signal.addEventListener("abort", stop, { once: true });
  try {
    const given = { ...params };
    for (const [name, value] of Object.entries(given)) {
      // Left out, by some models' way of saying it.
      if (value === null && found.parameters[name]?.type !== "any") {
        Reflect.deleteProperty(given, name);
      }
    }
    const done = Promise.resolve().then(() =>
      found.run(given as never, { reason, signal }),
    );
    return await Promise.race([done, late]);
  } finally {
    signal.removeEventListener("abort", stop);
  }
}

/** The error for the agent. */
export function problemOf(error: unknown): ToolError {
  if (error instanceof ToolError) return error;
  const code = (error as { code?: unknown } | null)?.code;
  const known = ["INVALID_PARAMS", "NO_ACTIVE_SPEC", "TOOL_EXECUTION_FAILED"];
  const words = error instanceof Error ? error.message : String(error);
  return new ToolError(
    // A tool may bring an error class of its own.
    typeof code === "string" && known.includes(code)
      ? (code as ProblemCode)
      : "TOOL_EXECUTION_FAILED",
    words.slice(0, 500) || "The tool failed without an error message.",
  );
}

/** A line in which one thing is done at a time. */
export class Line {
  #last: Promise<unknown> = Promise.resolve();
  #length = 0;

  /** Does `work` when everything before it is done; refuses when too much waits. */
  add(work: () => Promise<void>): void {
    if (this.#length >= WAITING_CALLS) {
      throw new ToolError(
        "TOOL_EXECUTION_FAILED",
        `Too many calls: ${WAITING_CALLS} are already waiting. Wait for their results and try again.`,
      );
    }
    this.#length += 1;
    this.#last = this.#last.then(work).finally(() => (this.#length -= 1));
  }
}
