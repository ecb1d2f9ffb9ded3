// The interface as the specification declares it, and the helpers that it recommends to app authors.

export interface AgentContext {
  readonly agent: {
    readonly name: string;
    readonly version: string;
    readonly capabilities: readonly string[];
  };
  readonly data: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
  emit(event: string, payload?: unknown): Promise<void>;
  request(action: string, params?: unknown): Promise<unknown>;
  on(event: string, handler: (payload: unknown) => void): void;
  off(event: string, handler: (payload: unknown) => void): void;
}

export function getAgentContext(): AgentContext | null {
  return window.__AGENT_CONTEXT__ ?? null;
}

export const isAgentLaunched = () => window.__AGENT_CONTEXT__ !== undefined;

export async function emitToAgent(
  event: string,
  payload?: unknown,
): Promise<boolean> {
  const context = getAgentContext();
  await context?.emit(event, payload);
  return context !== null;
}

function own(from: Readonly<Record<string, unknown>> | undefined, key: string) {
  return from && key in from ? from[key] : undefined;
}

export function getAgentData<T>(key: string, otherwise: T): T {
  return (own(getAgentContext()?.data, key) ?? otherwise) as T;
}

export function getAgentConfig<T>(key: string, otherwise: T): T {
  return (own(getAgentContext()?.config, key) ?? otherwise) as T;
}

export async function requestAgentAction<T>(
  action: string,
  params: unknown,
  otherwise: () => T | Promise<T>,
): Promise<T> {
  const context = getAgentContext();
  if (!context) return otherwise();
  try {
    return (await context.request(action, params)) as T;
  } catch {
    return otherwise();
  }
}
