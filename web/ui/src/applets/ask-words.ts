// Requests to the person, and what became of them, as the log has them.
import { nameOf } from "@gangway/kit/asks/words.js";
import type { AskerInfo } from "@gangway/client";
import type { EventText } from "./words.js";

interface AskOpened {
  type: "ask.opened";
  asker: AskerInfo;
  request:
    | {
        type: "permission";
        scopes: string[];
        tools: string[];
        reason?: string;
        server?: string;
      }
    | { type: "action"; message: string }
    | {
        type: "elicitation";
        message: string;
        fields: string[];
        origin?: string;
      }
    | { type: "message"; text: string }
    | { type: "invitation" };
}

interface AskClosed {
  type: "ask.closed";
  outcome: string;
  by: string | null;
}

export type AskEvent = AskOpened | AskClosed;

const OUTCOMES: Partial<Record<string, string>> = {
  once: "Allowed once",
  always: "Always allowed",
  denied: "Denied",
  dismissed: "Closed without an answer",
  expired: "Not answered in time",
  withdrawn: "Withdrawn",
};

const PLACES: Partial<Record<string, string>> = {
  person: "in the chat",
  terminal: "in the terminal",
  extension: "in the extension",
  page: "on a page",
};

export function isAsk(event: { type: string }): event is AskEvent {
  return event.type === "ask.opened" || event.type === "ask.closed";
}

export function askWords(event: AskEvent): EventText {
  if (event.type === "ask.closed") {
    const what = OUTCOMES[event.outcome] ?? `Decision: ${event.outcome}`;
    const where = event.by === null ? "" : (PLACES[event.by] ?? event.by);
    return { what, text: where };
  }
  const { request } = event;
  const who = nameOf(event.asker);
  switch (request.type) {
    case "permission": {
      const { scopes, tools, reason, server } = request;
      const wants = server
        ? `${who} asks to add the MCP server at ${server}`
        : `${who} asks for permission: ${scopes.join(", ")}`;
      const text = [reason, tools.length > 0 && `Tools: ${tools.join(", ")}`];
      return { what: wants, text: text.filter(Boolean).join("\n") };
    }
    case "action":
      return { what: `${who} asks for permission`, text: request.message };
    case "elicitation": {
      const { message, fields, origin } = request;
      const more = origin
        ? `Opens ${origin}`
        : fields.length > 0 && `Fields: ${fields.join(", ")}`;
      const text = [message, more].filter(Boolean).join("\n");
      return { what: `${who} has a question`, text };
    }
    case "message":
      return { what: `${who} asks to send a message`, text: request.text };
    case "invitation":
      return { what: `${who} was invited to this chat`, text: "" };
    default:
      return { what: `${who} asks`, text: "", value: request };
  }
}
