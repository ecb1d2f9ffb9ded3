// What can go wrong between a page and the server, as one class with a machine-readable code.
import type { ApiError } from "./generated/wire.js";

export interface GangwayErrorOptions {
  /** HTTP status, or 0 when no answer came. */
  status?: number;
  /** Whether the same request may work later. */
  retryable?: boolean;
  /** Seconds the server asked to wait. */
  retryAfterSeconds?: number | undefined;
  /** The error message of the model provider. */
  details?: string | undefined;
  cause?: unknown;
}

/** Every error this library throws or hands to a callback. */
export class GangwayError extends Error {
  readonly code: string;
  readonly status: number;
  readonly retryable: boolean;
  readonly retryAfterSeconds: number | undefined;
  readonly details: string | undefined;

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
    this.details = options.details;
  }

  /** The error a server's answer stands for; `body` is whatever it sent. */
  static fromResponse(status: number, body: unknown): GangwayError {
    if (isApiError(body)) {
      return new GangwayError(body.error_code, body.message, {
        status,
        retryable: body.retryable,
        retryAfterSeconds: body.retry_after_seconds,
        details: textOf((body as { details?: unknown }).details),
      });
    }
    if (isModelError(body)) return GangwayError.fromModel(body, status);
    return new GangwayError(
      `http_${status}`,
      `The server answered with status ${status}.`,
      { status, retryable: status >= 500 },
    );
  }

  /** The error of an answer in OpenAI's form; inside a stream it has no status. */
  static fromModel({ error }: ModelErrorBody, status = 0): GangwayError {
    return new GangwayError(
      textOf(error.code) ?? "model_failed",
      error.message,
      {
        status,
        retryable: status === 429 || status >= 500,
        details: textOf(error.details),
      },
    );
  }

  /** The error for a request that got no answer at all. */
  static unreachable(cause: unknown): GangwayError {
    return new GangwayError(
      "unreachable",
      "The server is unreachable. Check that it is running.",
      { retryable: true, cause },
    );
  }
}

// Answers that no later attempt will change.
const FINAL_STATUSES = [401, 403, 404, 410];

/** Whether trying again is of no use. */
export function isFinal(error: unknown): error is GangwayError {
  return (
    error instanceof GangwayError &&
    (FINAL_STATUSES.includes(error.status) || error.code === "data_corrupted")
  );
}

function isApiError(body: unknown): body is ApiError {
  if (typeof body !== "object" || body === null) return false;
  const fields = body as Record<string, unknown>;
  return (
    typeof fields["error_code"] === "string" &&
    typeof fields["message"] === "string"
  );
}

/** An error as OpenAI's clients expect it. */
export interface ModelErrorBody {
  error: { message: string; code?: unknown; details?: unknown };
}

export function isModelError(body: unknown): body is ModelErrorBody {
  if (typeof body !== "object" || body === null) return false;
  const { error } = body as Record<string, unknown>;
  if (typeof error !== "object" || error === null) return false;
  return typeof (error as Record<string, unknown>)["message"] === "string";
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}
