// The steps of a recording in words: a row of the timeline each, short however long the event is.
import type { EventFrame } from "@gangway/client";
import { tell, type EventText } from "../applets/words.js";
import { ACTORS } from "./actors.js";
import { fineClock, lasted } from "./clock.js";
import type { Recorded } from "./read.js";
import type { Recording } from "./recording.js";

/** A step as the timeline shows it. */
export interface Row {
  /** Who acted. */
  who: string;
  /** The color of who acted. */
  tone: string;
  time: string;
  what: string;
  /** What was said or given, or why. */
  more: string;
  /** What went wrong. */
  problem: string;
}

const ROW_LENGTH = 160;

/** An event in words. One that is not as its kind has it is shown as it was written. */
export function toldOf(event: Recorded): EventText {
  const plain = { what: `Event ${event.type}`, text: "", value: event };
  try {
    const told = tell(event as unknown as EventFrame, (name) => name);
    return typeof (told.text as unknown) === "string" ? told : plain;
  } catch {
    return plain;
  }
}

export function rowOf(recording: Recording, index: number): Row {
  const event = recording.events[index];
  const actor = recording.actors[index] ?? "gangway";
  const took = recording.duration(index);
  const { what, text, value } = event
    ? toldOf(event)
    : { what: "", text: "", value: undefined };
  const more =
    event?.type === "ask.closed"
      ? [askedIn(recording, index), text].filter(Boolean).join(", ")
      : value === undefined
        ? text
        : brief(value);
  const time = fineClock(recording.times[index] ?? 0);
  const bad = recording.bad[index] === true;
  return {
    who: ACTORS[actor],
    tone: actor,
    time: took === null ? time : `${lasted(took)} · ${time}`,
    what: what.slice(0, ROW_LENGTH),
    more: bad ? "" : more.slice(0, ROW_LENGTH),
    problem: bad ? more.slice(0, ROW_LENGTH) || "Failed" : "",
  };
}

/** What was decided. */
function askedIn(recording: Recording, index: number): string {
  const asked = recording.events[recording.partner(index) ?? -1];
  if (!asked) return "";
  const { what, text } = toldOf(asked);
  return text ? `${what}: ${text}` : what;
}

/** The beginning of a value as JSON, without writing all of it. */
export function brief(value: unknown, room = ROW_LENGTH): string {
  if (typeof value === "string") return JSON.stringify(value.slice(0, room));
  if (typeof value !== "object" || value === null) return String(value);
  if (room <= 0) return "…";
  const list = Array.isArray(value);
  let text = list ? "[" : "{";
  // Not all of its keys: there may be a hundred thousand.
  for (const key in value) {
    if (text.length > 1) text += ", ";
    if (text.length >= room) return `${text}…`;
    if (!list) text += `${key.slice(0, room)}: `;
    text += brief((value as Record<string, unknown>)[key], room - text.length);
  }
  return text + (list ? "]" : "}");
}

/** Whether a word stands anywhere in an event; `needle` is in small letters. */
export function contains(value: unknown, needle: string): boolean {
  if (typeof value === "string") return value.toLowerCase().includes(needle);
  if (typeof value === "number") return String(value).includes(needle);
  if (typeof value !== "object" || value === null) return false;
  return Object.values(value).some((inner) => contains(inner, needle));
}
