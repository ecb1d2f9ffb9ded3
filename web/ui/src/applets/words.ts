// Labels for applets and for the events of a session.
import type {
  AppFrame,
  EventFrame,
  PageEntry,
  Source,
  ConsentState,
} from "@gangway/client";
import { newsWords } from "../apps/lines.js";
import { askWords } from "./ask-words.js";

export const ORIGINS: Record<string, string> = {
  builtin: "built in",
  apps: "from your apps folder",
  data: "your own",
};

export const SPEAKS: Record<ConsentState, string> = {
  once: "may send this message once",
  allowed: "may send messages",
  denied: "may not send messages",
  ask: "asks first",
};

export function speakerOf(
  source: Source,
  nameOf: (slug: string) => string,
): string {
  switch (source.kind) {
    case "applet":
      return nameOf(source.slug);
    case "agent":
      return `Agent ${source.name}`;
    case "page":
      return source.origin;
    case "person":
      return "You";
  }
}

export interface EventText {
  what: string;
  /** A message, unchanged. */
  text: string;
  /** Data, as JSON. */
  value?: unknown;
}

/** A description of one event. */
export function tell(
  event: EventFrame | AppFrame,
  nameOf: (slug: string) => string,
): EventText {
  switch (event.type) {
    case "session.created":
      return {
        what: "Chat created",
        text: `${event.agent}, ${event.cwd}`,
      };
    case "session.changed": {
      const { title, agent, model } = event;
      const now = [title, agent, model].filter(Boolean).join(", ");
      return { what: "Chat updated", text: now };
    }
    case "user.message": {
      const who = speakerOf(event.source, nameOf);
      const what = event.showInChat
        ? `${who} sent a message`
        : `${who} sent a background message`;
      return { what, text: event.prompt };
    }
    case "assistant.turn_start":
      return { what: `${event.agent} started`, text: event.model ?? "" };
    case "assistant.message_delta":
      return { what: "Agent message (streaming)", text: event.delta };
    case "assistant.message": {
      const what = event.partial
        ? "Agent message (incomplete)"
        : "Agent message";
      return { what, text: event.content };
    }
    case "tool.execution_start":
      return given(`Tool call: ${event.tool}`, event.arguments);
    case "tool.execution_complete":
      return event.success
        ? given(`Tool result: ${event.tool}`, event.result)
        : { what: `Tool failed: ${event.tool}`, text: event.error ?? "" };
    case "session.question":
      return { what: "Agent question", text: event.question };
    case "session.answer":
      return { what: "Answer", text: event.answer };
    case "applet.state": {
      const by = speakerOf(event.source, nameOf);
      const name = nameOf(event.applet);
      const what = `State of ${name}, version ${event.version}, by ${by}`;
      return given(what, event.patch);
    }
    case "applet.asks":
      return {
        what: `${nameOf(event.applet)} asks to send`,
        text: event.prompt,
      };
    case "applet.leave": {
      const may = SPEAKS[event.speak];
      return { what: `${nameOf(event.applet)} ${may}`, text: "" };
    }
    case "applet.open":
      return { what: `${nameOf(event.applet)} opened`, text: "" };
    case "page.reload": {
      const which = event.applet === null ? "Pages" : nameOf(event.applet);
      return { what: `${which}: reload requested`, text: "" };
    }
    case "app": {
      const { what, detail } = newsWords(event.news, nameOf(event.app));
      return given(what, detail);
    }
    case "page":
      return pageWords(event.name, event.news, nameOf);
    case "ask.opened":
    case "ask.closed":
      return askWords(event);
    case "session.notice":
      return { what: "Notice", text: event.message };
    case "session.error":
      return { what: `Error ${event.code}`, text: event.message };
    case "done": {
      const { usage } = event;
      const tokens = usage
        ? `${usage.inputTokens} input tokens, ${usage.outputTokens} output tokens`
        : "";
      return { what: `Turn ended: ${event.outcome}`, text: tokens };
    }
    default:
      // A newer server may know more than this page.
      return given(`Event ${(event as EventFrame).type}`, event);
  }
}

function pageWords(
  page: string,
  entry: PageEntry,
  nameOf: (slug: string) => string,
): EventText {
  switch (entry.what) {
    case "opened":
      return { what: `Page ${page} opened`, text: entry.title };
    case "left":
      return { what: `Page ${page} closed`, text: "" };
    case "offered":
      return given(`Page ${page} offers tools`, entry.tools);
    case "called": {
      const caller = speakerOf(entry.by, nameOf);
      return given(`${caller} called ${entry.tool}`, entry.arguments);
    }
    case "returned":
      return entry.error === null
        ? given(`Result from page ${page}`, entry.result)
        : { what: `Call failed on page ${page}`, text: entry.error };
    case "message": {
      const from = entry.by === null ? `Page ${page}` : `Agent ${entry.by}`;
      return given(`${from} sent ${entry.kind}`, entry.payload);
    }
  }
}

function given(what: string, value: unknown): EventText {
  return { what, text: "", value };
}
