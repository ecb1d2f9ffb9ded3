// Errors that the extension makes itself, where no bridge says them.
import type { Trouble } from "./trouble.js";
import { BridgeError } from "./wire.js";

export function tooMany(): BridgeError {
  const message = "Too many requests to Gangway. Wait a moment.";
  return new BridgeError({ code: "too_many_requests", message });
}

export function tooLarge(): BridgeError {
  const message = "The message is too large: the limit is 16 MiB.";
  return new BridgeError({ code: "too_large", message });
}

/** The way broke; it says nothing of whether what was asked is done. */
export function lost(): BridgeError {
  const message = "The connection to Gangway was lost.";
  return new BridgeError({ code: "bridge_lost", message, retryable: true });
}

/** There was no way at all. */
export function missing({ words }: Trouble): BridgeError {
  const message = `Gangway cannot be reached: ${words}`;
  return new BridgeError({ code: "bridge_missing", message });
}

/** Whether an error only means that nothing was reachable. */
export function isUnreached(error: unknown): boolean {
  const { code = "" } = (error ?? {}) as { code?: string };
  return ["bridge_lost", "bridge_missing", "server_gone"].includes(code);
}
