// Requests to the person, and what became of them, as the log has them.
import { nameOf } from "@gangway/kit/asks/words.js";
import type { AskActor, AskOutcome, EventFrame } from "@gangway/client";
import type { EventText } from "./words.js";

export type AskEvent = Extract<
  EventFrame,
  { type: "ask.opened" | "ask.closed" }
>;

const OUTCOMES: Record<AskOutcome, string> = {
  once: "Allowed once",
  always: "Always allowed",
  denied: "Denied",
  dismissed: "Closed without an answer",
  expired: "Not answered in time",
  withdrawn: "Withdrawn",
};

const PLACES: Record<AskActor, string> = {
  person: "in the chat",
  terminal: "in the terminal",
  extension: "in the extension",
  page: "on a page",
};

export function askWords(event: AskEvent): EventText {
  if (event.type === "ask.closed") {
    const where = event.by === null ? "" : PLACES[event.by];
    return { what: OUTCOMES[event.outcome], text: where };
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
  }
}
