// What an app may import to work with an agent and without one.
import type {
  ToolDescription,
  ToolHandler,
  Unregister,
} from "../page-tools.js";
import type { AgentContext } from "./context.js";
import { CODES, makeErrors } from "./errors.js";
import type * as errors from "./errors.js";

export type { AgentContext, AppReplay } from "./context.js";
export type {
  ToolDescription,
  ToolHandler,
  Unregister,
} from "../page-tools.js";
export const { AgentDeniedError, AgentError, AgentTimeoutError } =
  makeErrors(Error);
export type AgentDeniedError = errors.AgentDeniedError;
export type AgentError = errors.AgentError;
export type AgentTimeoutError = errors.AgentTimeoutError;

/** The context, where an agent launched this page. */
export function getAgentContext(): AgentContext | null {
  // The same code may run where there is no page.
  if (typeof window === "undefined") return null;
  return window.__AGENT_CONTEXT__ ?? null;
}

export function isAgentLaunched(): boolean {
  return getAgentContext() !== null;
}

/** The context, or E-AGT-007 where there is none. */
export function requireAgentContext(): AgentContext {
  const context = getAgentContext();
  if (context) return context;
  throw new AgentError(CODES.context, "No agent context available");
}

/** Sends the event to the agent; returns whether there is one. */
export async function emitToAgent(
  event: string,
  payload?: unknown,
): Promise<boolean> {
  const context = getAgentContext();
  if (!context) return false;
  await context.emit(event, payload);
  return true;
}

/** Offers a tool to every agent of the session, if an agent launched the page; gives back how to withdraw it. */
export function registerTool(
  tool: ToolDescription,
  handler: ToolHandler,
): Unregister {
  return getAgentContext()?.registerTool(tool, handler) ?? (() => undefined);
}

/** One field of the data, or `defaultValue` where it was not given. */
export function getAgentData<T>(key: string, defaultValue: T): T {
  return field(getAgentContext()?.data, key, defaultValue);
}

/** One field of the config, or `defaultValue` where it was not given. */
export function getAgentConfig<T>(key: string, defaultValue: T): T {
  return field(getAgentContext()?.config, key, defaultValue);
}

/** Asks the agent; without one, or when it will not, `fallback` does it. */
export async function requestAgentAction<T>(
  action: string,
  params: unknown,
  fallback: () => T | Promise<T>,
): Promise<T> {
  const context = getAgentContext();
  if (!context) return fallback();
  let done: T;
  try {
    done = await context.request<T>(action, params);
  } catch {
    return fallback();
  }
  return done;
}

function field<T>(
  from: Readonly<Record<string, unknown>> | undefined,
  key: string,
  defaultValue: T,
): T {
  // What every object inherits was not given by an agent.
  if (!from || !Object.hasOwn(from, key)) return defaultValue;
  return from[key] as T;
}
