// What can go wrong between a page and the server, as one class with a machine-readable code.
import type { ApiError } from "./generated/wire.js";

export interface GangwayErrorOptions {
  /** HTTP status, or 0 when no answer came. */
  status?: number;
  /** Whether the same request may work later. */
  retryable?: boolean;
  /** Seconds the server asked to wait. */
  retryAfterSeconds?: number | undefined;
  cause?: unknown;
}

/** Every error this library throws or hands to a callback. */
export class GangwayError extends Error {
  readonly code: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | undefined;

  constructor(
    code: string,
    message: string,
    options: GangwayErrorOptions = {},
  ) {
    super(message, { cause: options.cause });
    this.name = "GangwayError";
    this.code = code;
    this.status = options.status ?? 0;
    this.retryable = options.retryable ?? false;
    this.retryAfterSeconds = options.retryAfterSeconds;
  }

  /** The error a server's answer stands for; `body` is whatever it sent. */
  static fromResponse(status: number, body: unknown): GangwayError {
    if (isApiError(body)) {
      return new GangwayError(body.error_code, body.message, {
        status,
        retryable: body.retryable,
        retryAfterSeconds: body.retry_after_seconds,
      });
    }
    return new GangwayError(
      `http_${status}`,
      `The server answered with status ${status}.`,
      { status, retryable: status >= 500 },
    );
  }

  /** The error for a request that got no answer at all. */
  static unreachable(cause: unknown): GangwayError {
    return new GangwayError(
      "unreachable",
      "The server cannot be reached. Check that it is running.",
      { retryable: true, cause },
    );
  }
}

function isApiError(body: unknown): body is ApiError {
  if (typeof body !== "object" || body === null) return false;
  const fields = body as Record<string, unknown>;
  return (
    typeof fields["error_code"] === "string" &&
    typeof fields["message"] === "string"
  );
}
