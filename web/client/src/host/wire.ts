// What goes over the relay's socket, and how much of it.

import { GangwayError } from "../errors.js";
import type {
  RelayCode,
  RelayEnvelope,
  RelayError,
  RelayFromHost,
  RelayVersion,
} from "../generated/wire.js";
import type { StudySession } from "./options.js";

export const VERSION: RelayVersion = "mvp-0.2";

/** Every code that the protocol knows. */
export type ProblemCode = RelayCode;

export type Envelope = RelayEnvelope;

/** What a page says. */
type FromPage = Omit<Envelope, "v" | "type"> & {
  type: RelayFromHost | "relay.join";
};

/** Who changed what is shown. */
export type Source = "user" | "agent" | "stage";

// A call waits here at most as long as the relay waits for its answer, so a longer line would be in vain.
export const WAITING_CALLS = 64;
// User messages and responses that are buffered while disconnected.
export const WAITING_MESSAGES = 64;
// Answers that are kept in case the relay asks again after a lost socket.
export const KEPT_ANSWERS = 64;
// More than this in the socket means that the other side reads too slowly; only the newest state is worth sending then.
export const BUFFERED_BYTES = 1 << 20;
// The relay takes messages of several times as many bytes, unless it is set up otherwise.
export const LARGEST_MESSAGE = 1 << 20;
export const LONGEST_TEXT = 4_000;
export const LONGEST_REASON = 2_000;

/** An error with a code for the agent; any other error of a tool becomes TOOL_EXECUTION_FAILED. */
export class ToolError extends Error {
  readonly code: ProblemCode;

  constructor(code: ProblemCode, message: string) {
    super(message);
    this.name = "ToolError";
    this.code = code;
  }
}

/** The URL of the relay. A launched page includes its launch: the agents of its chat may use it too. */
export function relayAddress(server: string | undefined): string {
  const address = new URL("/agent/ws", server ?? location.href);
  address.protocol = address.protocol.replace("http", "ws");
  if (server === undefined) {
    const launch = new URLSearchParams(location.search).get("launch");
    if (launch !== null) address.searchParams.set("launch", launch);
  }
  return address.href;
}

/** Reads a message of the relay; nothing when it is none. */
export function readEnvelope(data: unknown): Envelope | null {
  if (typeof data !== "string") return null;
  let value: unknown;
  try {
    value = JSON.parse(data);
  } catch {
    return null;
  }
  if (!isRecord(value)) return null;
  const { v, type, id, replyTo, seq, payload = {} } = value;
  if (v !== VERSION || typeof type !== "string" || !isRecord(payload)) {
    return null;
  }
  return {
    ...{ v, type, payload },
    ...(typeof id === "string" && { id }),
    ...(typeof replyTo === "string" && { replyTo }),
    ...(typeof seq === "number" && { seq }),
  };
}

/** Why this page is not wanted any more; nothing where it is worth trying on. */
export function farewell({ replyTo, payload }: Envelope): GangwayError | null {
  if (payload["replaced"] === true) {
    // Reconnecting automatically would replace the other page in turn, forever.
    const words = "Another page has replaced this one.";
    return new GangwayError("replaced", words);
  }
  // An invalid join stays invalid: do not retry.
  const code = textOf(payload["code"]);
  if (replyTo !== "join" || code !== "INVALID_MESSAGE") return null;
  return new GangwayError(code.toLowerCase(), textOf(payload["message"]));
}

export function textOf(value: unknown): string {
  return typeof value === "string" ? value.slice(0, 500) : "";
}

/** The study session that begins. */
export function studyOf(payload: Record<string, unknown>): StudySession {
  const { sessionId, studyId, participantId, setup } = payload;
  return {
    sessionId: textOf(sessionId),
    studyId: textOf(studyId),
    participantId: textOf(participantId),
    ...(setup !== undefined && { setup }),
  };
}

/** Writes a message; what the page keeps for itself is left out, wherever it stands. */
export function writeEnvelope(message: FromPage): string {
  const all: Envelope = { v: VERSION, ...message };
  return JSON.stringify(all, (key, value: unknown) =>
    key === "backendData" ? undefined : value,
  );
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The answer of a page whose answer would be too large. */
export function tooLarge(replyTo: string, length: number): string {
  const message = `The snapshot is ${length} characters, more than one message may contain.`;
  const payload: RelayError = { code: "TOOL_EXECUTION_FAILED", message };
  return writeEnvelope({ type: "error", replyTo, payload });
}
