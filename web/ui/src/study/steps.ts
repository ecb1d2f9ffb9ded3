// The log of a study session as steps: who did what, why, and what was shown afterwards.
import type { StudyEvent } from "@gangway/client";
import { fineClock } from "../replay/clock.js";
import type { Row } from "../replay/words.js";
import { fields, list, readSpec, text, type Spec } from "./spec.js";

export type Who = "agent" | "user" | "page" | "relay";

export interface Step {
  /** The number of the event in the log. */
  index: number;
  /** Milliseconds since the first event. */
  at: number;
  who: Who;
  what: string;
  why: string | null;
  /** What went wrong. */
  problem: string | null;
  /** What was shown after it. */
  spec: Spec | null;
}

interface Waiting {
  answer: string;
  id: string | undefined;
  step: Step | null;
}

/** Steps in the order in which they began; an answer is part of the step that asked. */
export function stepsOf(events: readonly StudyEvent[]): Step[] {
  const steps: Step[] = [];
  // Open calls; null for calls that are not steps.
  const waiting: Waiting[] = [];
  // By name, where the log has names; a page answers one question after the other.
  const answered = ({ type, replyTo }: StudyEvent): Step | null => {
    const fits = ({ answer, id }: Waiting) =>
      replyTo !== undefined && id !== undefined
        ? id === replyTo
        : type === "error" || answer === type;
    const at = waiting.findIndex(fits);
    return at < 0 ? null : (waiting.splice(at, 1)[0]?.step ?? null);
  };
  const [first] = events;
  const start = first ? momentOf(first.timestamp) : 0;
  let spec: Spec | null = null;
  const add = (event: StudyEvent, who: Who, what: string): Step => {
    const at = momentOf(event.timestamp) - start;
    const { eventIndex: index } = event;
    const step = { index, at, who, what, why: null, problem: null, spec };
    steps.push(step);
    return step;
  };
  for (const event of events) {
    const { type, payload, id } = event;
    const shown = readSpec(payload["uiSpec"]);
    const stage = spec?.stage;
    if (shown) spec = shown;
    switch (type) {
      case "tool.call": {
        const step = add(event, "agent", callWords(payload));
        step.why = text(payload["reason"]) || null;
        waiting.push({ answer: "tool.result", id, step });
        break;
      }
      case "tool.result": {
        const step = answered(event);
        if (step) step.spec = spec;
        break;
      }
      case "error": {
        const who = event.direction === "internal" ? "relay" : "page";
        const problem = `Rejected by the ${who}: ${text(payload["code"])}: ${text(payload["message"])}`;
        const of = text(payload["of"]);
        // A call rejected by the relay answers no request to the page.
        const asked = of === "" ? answered(event) : null;
        const step =
          asked ??
          add(event, "relay", of === "" ? "Rejected" : `Rejected ${of}`);
        step.problem = problem;
        break;
      }
      case "state.updated": {
        const source = text(payload["source"]);
        const did = lastOf(payload);
        if (source === "user" && did) add(event, "user", did);
        else if (source !== "agent" && spec && spec.stage !== stage) {
          add(event, "page", `Shows: ${spec.title || spec.stage}`);
        } else {
          // What a failed call left behind belongs to that call.
          const last = steps.at(-1);
          if (source === "agent" && last) last.spec = spec;
        }
        break;
      }
      case "user.message":
        add(event, "user", `“${text(payload["text"])}”`);
        break;
      case "agent.message":
        add(event, "agent", `“${text(payload["text"])}”`);
        break;
      case "agent.status":
        add(event, "agent", `Status: ${text(payload["status"])}`);
        break;
      case "session.reset": {
        const step = add(event, "agent", "Reset the page");
        waiting.push({ answer: "snapshot.state", id, step });
        break;
      }
      case "snapshot.get": {
        const step = add(event, "agent", "Requested a snapshot");
        waiting.push({ answer: "snapshot.state", id, step });
        break;
      }
      case "session.start": {
        const step = add(event, "relay", "Session started");
        waiting.push({ answer: "session.started", id, step });
        break;
      }
      case "session.end":
        waiting.push({ answer: "session.ended", id, step: null });
        break;
      case "session.ended":
        answered(event);
        add(event, "relay", "Session ended");
        break;
      case "snapshot.state":
      case "session.started":
        answered(event);
        break;
      default:
        add(event, event.direction === "internal" ? "relay" : "page", type);
    }
  }
  return steps;
}

/** The user's last action, from the page's history; messages have their own entries. */
function lastOf(payload: Record<string, unknown>): string | null {
  const entry = fields(list(payload["messageHistory"]).at(-1));
  if (!entry) return "State changed";
  if (entry["type"] !== "user") return "State changed";
  return entry["tool"] === undefined ? null : text(entry["text"]);
}

function callWords(payload: Record<string, unknown>): string {
  const params = fields(payload["params"]) ?? {};
  const given = Object.entries(params).map(([name, value]) => {
    const plain = typeof value === "string" ? value : JSON.stringify(value);
    return `${name}: ${plain.slice(0, 80)}`;
  });
  const name = text(payload["toolName"]);
  return given.length === 0 ? name : `${name} (${given.join(", ")})`;
}

/** A moment as text, or as milliseconds since 1970. */
export function momentOf(value: string | number): number {
  const moment = typeof value === "number" ? value : Date.parse(value);
  return Number.isFinite(moment) ? moment : 0;
}

const WHO = { agent: "Agent", user: "Person", page: "Page", relay: "Relay" };

/** A step as the timeline shows it. */
export function rowOf(step: Step | undefined): Row {
  const { who = "relay", at = 0, what = "", why, problem } = step ?? {};
  return {
    // The colors of the session's plot.
    ...{ who: WHO[who], tone: who === "page" ? "relay" : who },
    ...{ time: fineClock(at), what },
    ...{ more: why ?? "", problem: problem ?? "" },
  };
}
