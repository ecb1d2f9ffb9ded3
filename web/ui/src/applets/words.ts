// How what applets are and do is told to people.
import type { AppFrame, EventFrame, Source, Speak } from "@gangway/client";
import { newsWords } from "../apps/lines.js";

export const ORIGINS: Record<string, string> = {
  builtin: "comes with Gangway",
  apps: "from your apps folder",
  data: "your own",
};

export const SPEAKS: Record<Speak, string> = {
  once: "may say this once",
  allowed: "may speak",
  denied: "may not speak",
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

export interface Told {
  what: string;
  /** What was said or changed, as it was. */
  text: string;
  /** True for text that is meant for programs. */
  code?: boolean;
}

/** One event in plain words. */
export function tell(
  event: EventFrame | AppFrame,
  nameOf: (slug: string) => string,
): Told {
  switch (event.type) {
    case "session.created":
      return {
        what: "The chat was made",
        text: `${event.agent}, ${event.cwd}`,
      };
    case "session.changed": {
      const { title, agent, model } = event;
      const now = [title, agent, model].filter(Boolean).join(", ");
      return { what: "The chat was changed", text: now };
    }
    case "user.message": {
      const who = speakerOf(event.source, nameOf);
      const what = event.showInChat
        ? `${who} said`
        : `${who} said in the background`;
      return { what, text: event.prompt };
    }
    case "assistant.turn_start":
      return { what: `${event.agent} begins`, text: event.model ?? "" };
    case "assistant.message_delta":
      return { what: "The agent goes on", text: event.delta };
    case "assistant.message": {
      const what = event.partial ? "The agent began to say" : "The agent said";
      return { what, text: event.content };
    }
    case "tool.execution_start":
      return coded(`${event.tool} is called`, event.arguments);
    case "tool.execution_complete":
      return event.success
        ? coded(`${event.tool} answered`, event.result)
        : { what: `${event.tool} failed`, text: event.error ?? "" };
    case "session.question":
      return { what: "The agent asks", text: event.question };
    case "session.answer":
      return { what: "It was answered", text: event.answer };
    case "applet.state": {
      const by = speakerOf(event.source, nameOf);
      const name = nameOf(event.applet);
      const what = `State of ${name}, version ${event.version}, by ${by}`;
      return coded(what, event.patch);
    }
    case "applet.asks":
      return {
        what: `${nameOf(event.applet)} asks to say`,
        text: event.prompt,
      };
    case "applet.leave": {
      const may = SPEAKS[event.speak];
      return { what: `${nameOf(event.applet)} ${may}`, text: "" };
    }
    case "applet.open":
      return { what: `${nameOf(event.applet)} was opened`, text: "" };
    case "page.reload": {
      const which = event.applet === null ? "Pages" : nameOf(event.applet);
      return { what: `${which} asked to load anew`, text: "" };
    }
    case "app": {
      const { what, detail } = newsWords(event.news, nameOf(event.app));
      return coded(what, detail);
    }
    case "session.notice":
      return { what: "Notice", text: event.message };
    case "session.error":
      return { what: `Error ${event.code}`, text: event.message };
    case "done": {
      const { usage } = event;
      const tokens = usage
        ? `${usage.inputTokens} tokens read, ${usage.outputTokens} written`
        : "";
      return { what: `The turn ended: ${event.outcome}`, text: tokens };
    }
    default:
      // A newer server may know more than this page.
      return coded("Something else happened", event);
  }
}

function coded(what: string, value: unknown): Told {
  // Nothing at all has no JSON.
  const text = value === undefined ? "" : JSON.stringify(value, null, 1);
  return { what, text, code: true };
}
