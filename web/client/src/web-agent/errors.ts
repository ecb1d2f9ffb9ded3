// What can go wrong between a page and the Gangway it asks.

export type ErrorCode =
  | "ERR_NOT_INSTALLED"
  | "ERR_PERMISSION_DENIED"
  | "ERR_SCOPE_REQUIRED"
  | "ERR_TOOL_NOT_ALLOWED"
  | "ERR_TOOL_NOT_FOUND"
  | "ERR_TOOL_FAILED"
  | "ERR_TOOL_TIMEOUT"
  | "ERR_MODEL_FAILED"
  | "ERR_SESSION_NOT_FOUND"
  | "ERR_TIMEOUT"
  | "ERR_RATE_LIMITED"
  | "ERR_SERVER_UNAVAILABLE"
  | "ERR_BUDGET_EXCEEDED"
  | "ERR_ABORTED"
  | "ERR_INVALID_ARGUMENT"
  | "ERR_NOT_SUPPORTED"
  | "ERR_ELEMENT_NOT_FOUND"
  | "ERR_ELEMENT_AMBIGUOUS"
  | "ERR_ELEMENT_HIDDEN"
  | "ERR_ELEMENT_DISABLED"
  | "ERR_ELEMENT_PROTECTED"
  | "ERR_TAB_NOT_VISIBLE"
  | "ERR_TAB_CHANGED"
  | "ERR_INTERNAL";

export interface ApiError {
  /** One of `ErrorCode`, or a later one. */
  code: ErrorCode | (string & {});
  message: string;
  details?: unknown;
}

/** Every error of window.ai and window.agent, but for wrong arguments, which are TypeErrors with a code. */
export class AgentApiError extends Error implements ApiError {
  readonly code: ApiError["code"];
  readonly details?: unknown;

  constructor(code: ApiError["code"], message: string, details?: unknown) {
    super(message);
    this.name = "AgentApiError";
    this.code = code;
    if (details !== undefined) this.details = details;
  }

  /** An error's message is not among its fields, and pages do write errors down. */
  toJSON(): ApiError {
    const { code, message, details } = this;
    return { code, message, ...(details !== undefined && { details }) };
  }
}

/** The error that a message stands for, whatever it holds. */
export function errorFrom(value: unknown): AgentApiError {
  const { code, message, details } = (value ?? {}) as Partial<ApiError>;
  return new AgentApiError(
    typeof code === "string" ? code : "ERR_INTERNAL",
    typeof message === "string" ? message : "Gangway gave no error message.",
    details,
  );
}

export function aborted(): AgentApiError {
  return new AgentApiError("ERR_ABORTED", "The page aborted this call.");
}

/** Whatever was under way when the connection to Gangway was lost can be tried again. */
export function lost(): AgentApiError {
  const words = "The connection to Gangway was lost. Try again.";
  return new AgentApiError("ERR_SERVER_UNAVAILABLE", words, {
    retryable: true,
  });
}

export function timedOut(what: string, ms: number): AgentApiError {
  const words = `${what} timed out after ${ms / 1000} seconds.`;
  return new AgentApiError("ERR_TIMEOUT", words, { timeout: ms });
}

/** What something thrown says; it may come from another window, or be no error at all. */
export function wordsOf(thrown: unknown): string {
  const message = (thrown as { message?: unknown } | null)?.message;
  return typeof message === "string" ? message : String(thrown);
}
