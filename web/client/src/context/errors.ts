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

/** What kind of error a class makes; none for one that an app derives. */
function kindOf(maker: unknown): unknown {
  return typeof maker === "function" && Object.hasOwn(maker, KIND)
    ? (maker as unknown as Record<symbol, unknown>)[KIND]
    : undefined;
}

// A plain assignment: a page may have made the browser's own functions its own by then.
function mark(maker: object, kind: string): void {
  (maker as Record<symbol, string>)[KIND] = kind;
}

/** Makes the classes: once for an app's own copy, and in the context when they are first needed. */
export function makeErrors(Base: ErrorConstructor) {
  class AgentError extends Base {
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
      const kind = kindOf(this);
      if (kind === undefined) {
        return Function.prototype[Symbol.hasInstance].call(this, value);
      }
      let at: unknown = value;
      while (typeof at === "object" && at !== null) {
        const maker = (at as { constructor?: unknown }).constructor;
        if (kindOf(maker) === kind) return true;
        at = Object.getPrototypeOf(at);
      }
      return false;
    }
  }

  /** An event was not acknowledged, or a request not answered, in time. */
  class AgentTimeoutError extends AgentError {
    /** `operation` is `emit` or `request`, and says which code it is. */
    constructor(operation: string, timeout: number, message?: string) {
      super(
        /^request\b/.test(operation) ? CODES.requestTimeout : CODES.emitTimeout,
        message ?? `${operation} timed out after ${timeout}ms`,
        { operation, timeout },
      );
      this.name = "AgentTimeoutError";
    }
  }

  /** The agent, or the person, said no. */
  class AgentDeniedError extends AgentError {
    constructor(action: string, reason?: string, message?: string) {
      super(
        CODES.denied,
        message ?? `Agent denied: ${action}${reason ? ` - ${reason}` : ""}`,
        { action, ...(reason !== undefined && { reason }) },
      );
      this.name = "AgentDeniedError";
    }
  }

  mark(AgentError, "agent");
  mark(AgentTimeoutError, "timeout");
  mark(AgentDeniedError, "denied");
  return { AgentError, AgentTimeoutError, AgentDeniedError };
}

type Errors = ReturnType<typeof makeErrors>;
export type AgentError = InstanceType<Errors["AgentError"]>;
export type AgentTimeoutError = InstanceType<Errors["AgentTimeoutError"]>;
export type AgentDeniedError = InstanceType<Errors["AgentDeniedError"]>;
