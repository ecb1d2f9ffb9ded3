// What can go wrong between an app and its agent.

/** Every code of an `AgentError`. */
export const CODES = {
  name: "E-AGT-001",
  payload: "E-AGT-002",
  emitTimeout: "E-AGT-003",
  denied: "E-AGT-004",
  requestTimeout: "E-AGT-005",
  action: "E-AGT-006",
  context: "E-AGT-007",
} as const;

// The context and an app's own copy of this file are two bundles: a shared symbol makes their classes one.
const KIND = Symbol.for("gangway.AgentError.kind");

export class AgentError extends Error {
  declare static readonly [KIND]: string | undefined;

  constructor(
    public code: string,
    message: string,
    public details?: unknown,
  ) {
    super(message);
    this.name = "AgentError";
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    // A class that an app derives has no kind of its own, and no second copy.
    if (!Object.hasOwn(this, KIND)) {
      return Function.prototype[Symbol.hasInstance].call(this, value);
    }
    let at: unknown = value;
    while (typeof at === "object" && at !== null) {
      const maker = (at as { constructor?: unknown }).constructor;
      if (
        typeof maker === "function" &&
        Object.hasOwn(maker, KIND) &&
        (maker as typeof AgentError)[KIND] === this[KIND]
      ) {
        return true;
      }
      at = Object.getPrototypeOf(at);
    }
    return false;
  }
}

/** Nobody took an event, or answered a request, in time. */
export class AgentTimeoutError extends AgentError {
  /** `operation` is `emit` or `request`, and says which code it is. */
  constructor(operation: string, timeout: number, message?: string) {
    super(
      /^request\b/.test(operation) ? CODES.requestTimeout : CODES.emitTimeout,
      message ?? `${operation} timed out after ${timeout}ms`,
      { operation, timeout },
    );
  }
}

/** The agent, or the person, said no. */
export class AgentDeniedError extends AgentError {
  constructor(action: string, reason?: string, message?: string) {
    super(
      CODES.denied,
      message ?? `Agent denied: ${action}${reason ? ` - ${reason}` : ""}`,
      { action, ...(reason !== undefined && { reason }) },
    );
  }
}

for (const [kind, errors] of Object.entries({
  agent: AgentError,
  timeout: AgentTimeoutError,
  denied: AgentDeniedError,
})) {
  Object.defineProperty(errors, KIND, { value: kind });
}
