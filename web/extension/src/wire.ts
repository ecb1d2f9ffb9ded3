// Messages between the extension and `gangway bridge`.
import type {
  BridgeHello,
  BridgeProblem,
  BridgeStatus,
  BridgeMessage,
} from "@gangway/client";

/** The native messaging host, as its manifest names it. */
export const HOST = "gangway.bridge";
/** The version of the protocol that is spoken here. */
export const PROTOCOL = 1;
/** The size limit of a frame to the bridge, in bytes of JSON. */
export const FRAME_BYTES = 16 << 20;
/** Requests that may wait for an answer at once. */
export const MAX_REQUESTS = 512;

export type WireError = BridgeProblem;

/** The first message of the bridge. */
export type Hello = BridgeHello;

export type Status = BridgeStatus;

/** From the extension to the bridge; `fields` stand beside these. */
export type ToBridge =
  | { type: string; request_id: string; [field: string]: unknown }
  | { type: "page_frame"; page: string; frame: string }
  | { type: "page_close"; page: string };

/** One part of a message that is too long for one frame. */
export type Part = Extract<BridgeMessage, { type: "part" }>;

/** Responses to a request; results and events are those of the server. */
export type BridgeAnswer =
  | Extract<BridgeMessage, { type: "error" }>
  | { type: `${string}_event`; request_id: string; n: number; event: unknown }
  | { type: `${string}_result`; request_id: string; result: unknown };

/** From the bridge, once its parts are joined. */
export type FromBridge =
  | BridgeAnswer
  | Extract<BridgeMessage, { type: "status" }>
  | { type: "page_frame"; page: string; frame: string };

/** An error on the way to Gangway, or of Gangway. */
export class BridgeError extends Error implements WireError {
  readonly code: string;
  readonly status?: number;
  readonly details?: string;
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

/** The error in a message of any shape. */
export function bridgeError(value: unknown): BridgeError {
  const { code, message, ...rest } = (value ?? {}) as Partial<WireError>;
  return new BridgeError({
    ...rest,
    code: typeof code === "string" ? code : "internal",
    message:
      typeof message === "string" ? message : "Gangway gave no error message.",
  });
}
