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
    title: "This chat needs its whole address",
    message:
      "The address has no token. Load the page that this chat belongs to again.",
  },
  invalid_token: {
    title: "This chat cannot be opened",
    message:
      "Its address is no longer valid. Load the page that this chat belongs to again, or ask whoever runs it for a new one.",
  },
  agent_not_found: {
    title: "This chat is gone",
    message: "The agent it was with does not exist any more.",
  },
  agent_ended: {
    title: "This chat has ended",
    message: "The agent it was with does not take messages any more.",
  },
  unreachable: {
    title: "The chat cannot be reached",
    message: "It goes on by itself when the server is back.",
  },
};

export function failureWords(error: GangwayError): {
  title: string;
  message: string;
} {
  const title = "This chat cannot be opened";
  return FAILURES[error.code] ?? { title, message: error.message };
}

/** Reasons are said by the server, as the end of a sentence. */
export function endedWords(reason: string): string {
  const why = reason.trim().replace(/\.$/, "");
  return why ? `This chat has ended: ${why}.` : "This chat has ended.";
}
