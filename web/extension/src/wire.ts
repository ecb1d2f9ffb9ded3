// What travels between the extension and `gangway bridge`.
import type { PermissionsFrame } from "@gangway/client";

/** The native messaging host, as its manifest names it. */
export const HOST = "gangway.bridge";
/** The version of the protocol that is spoken here. */
export const PROTOCOL = 1;
/** The most that is sent to the bridge in one message, in bytes of JSON. */
export const FRAME_BYTES = 16 << 20;
/** Requests that may wait for an answer at once. */
export const MAX_REQUESTS = 512;

export interface WireError {
  code: string;
  message: string;
  /** Of the HTTP answer, where one stands behind it. */
  status?: number;
  details?: unknown;
  retryable?: boolean;
}

/** What the bridge says of itself. */
export interface Hello {
  protocol: number;
  gangway: string;
  pid: number;
  /** To a server that ran already, or with one of its own. */
  attached: "server" | "own";
  base_url: string;
  capabilities: string[];
}

export type Status =
  | {
      about: "server";
      state: "up" | "gone";
      attached: Hello["attached"];
      base_url: string;
    }
  | { about: "permissions"; frame: PermissionsFrame };

/** From the extension to the bridge; `fields` stand beside these. */
export type ToBridge =
  | { type: string; request_id: string; [field: string]: unknown }
  | { type: "page_frame"; page: string; frame: string }
  | { type: "page_close"; page: string };

/** One piece of a message that is too long for one. */
export interface Part {
  type: "part";
  part: string;
  index: number;
  count: number;
  data: string;
}

/** From the bridge, once its parts are joined. */
export interface FromBridge {
  type: string;
  request_id?: string | null;
  result?: unknown;
  error?: WireError;
  /** True when a request was refused because its id is in use: the first goes on. */
  refused?: boolean;
  event?: unknown;
  n?: number;
  page?: string;
  frame?: string | PermissionsFrame;
}

/** Everything that goes wrong on the way to Gangway or there. */
export class BridgeError extends Error implements WireError {
  readonly code: string;
  readonly status?: number;
  readonly details?: unknown;
  readonly retryable?: boolean;

  constructor({ code, message, status, details, retryable }: WireError) {
    super(message);
    this.name = "BridgeError";
    this.code = code;
    if (status !== undefined) this.status = status;
    if (details !== undefined) this.details = details;
    if (retryable !== undefined) this.retryable = retryable;
  }

  toJSON(): WireError {
    const { code, message, status, details, retryable } = this;
    return {
      ...{ code, message },
      ...(status !== undefined && { status }),
      ...(details !== undefined && { details }),
      ...(retryable !== undefined && { retryable }),
    };
  }
}

/** The error that a message stands for, whatever it holds. */
export function bridgeError(value: unknown): BridgeError {
  const { code, message, ...rest } = (value ?? {}) as Partial<WireError>;
  return new BridgeError({
    ...rest,
    code: typeof code === "string" ? code : "internal",
    message:
      typeof message === "string"
        ? message
        : "Gangway did not say what went wrong.",
  });
}
