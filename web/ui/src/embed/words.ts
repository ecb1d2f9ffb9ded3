// What an embed says about its agent and about what went wrong.
import type { GangwayError, AgentState } from "@gangway/client";

export const STATES: Record<AgentState, string> = {
  idle: "Ready",
  commanded: "Message received",
  processing: "Working…",
  awaiting_input: "Waiting for you",
  complete: "Done",
};

const FAILURES: Record<string, { title: string; message: string }> = {
  missing_token: {
    title: "Incomplete chat URL",
    message: "The URL has no token. Reload the page that contains this chat.",
  },
  invalid_token: {
    title: "Could not open this chat",
    message:
      "Its URL is no longer valid. Reload the page that contains this chat, or ask its owner for a new link.",
  },
  agent_not_found: {
    title: "Chat not found",
    message: "Its agent no longer exists.",
  },
  agent_ended: {
    title: "This chat has ended",
    message: "Its agent no longer accepts messages.",
  },
  unreachable: {
    title: "Server unreachable",
    message: "The chat reconnects automatically when the server is back.",
  },
};

export function failureWords(error: GangwayError): {
  title: string;
  message: string;
} {
  const title = "Could not open this chat";
  return FAILURES[error.code] ?? { title, message: error.message };
}

/** Reasons are said by the server, as the end of a sentence. */
export function endedWords(reason: string): string {
  const why = reason.trim().replace(/\.$/, "");
  return why ? `This chat has ended: ${why}.` : "This chat has ended.";
}
