// A recording in figures: how long calls and turns took, and how many tokens turns used.
import { fields, words } from "./actors.js";
import type { Recording } from "./recording.js";

export const WIDTH = 600;
export const HEIGHT = 120;
const BARS = 60;
// Room for half a dot at each edge.
const EDGE = 4;

export type Timed = "tool" | "turn" | "ask";

export interface Dot {
  x: number;
  y: number;
  kind: Timed;
  bad: boolean;
}

export interface Bar {
  x: number;
  input: number;
  output: number;
}

/** What one tool took, over all of its calls. */
export interface Tally {
  name: string;
  calls: number;
  failed: number;
  /** In milliseconds. */
  median: number;
  longest: number;
  /** The index of the longest call's result. */
  slowest: number;
}

export interface Figures {
  dots: Dot[];
  /** The duration at the upper edge, in milliseconds. */
  top: number;
  bars: Bar[];
  /** The tokens at the upper edge. */
  most: number;
  input: number;
  output: number;
  tallies: Tally[];
}

const TIMED: Partial<Record<string, Timed>> = {
  "tool.execution_complete": "tool",
  done: "turn",
  "session.answer": "ask",
  "applet.leave": "ask",
  "ask.closed": "ask",
  app: "ask",
};

export function figuresOf(recording: Recording): Figures {
  const { events, times, bad } = recording;
  const end = Math.max(1, times.at(-1) ?? 1);
  const timed: { at: number; took: number; kind: Timed; bad: boolean }[] = [];
  const tools = new Map<string, { took: number; index: number }[]>();
  const failed = new Map<string, number>();
  const bars: Bar[] = [];
  let [input, output] = [0, 0];
  for (const [index, event] of events.entries()) {
    const took = recording.duration(index);
    if (took !== null) {
      const [at, wrong] = [times[index] ?? 0, bad[index] === true];
      // What is not known here is a call of some kind.
      const kind = TIMED[event.type] ?? "tool";
      timed.push({ at, took, kind, bad: wrong });
      const name = kind === "turn" ? "Turns" : nameOf(recording, index);
      if (name !== "") {
        const known = tools.get(name);
        if (known) known.push({ took, index });
        else tools.set(name, [{ took, index }]);
        if (wrong) failed.set(name, (failed.get(name) ?? 0) + 1);
      }
    }
    if (event.type !== "done") continue;
    const usage = fields(event["usage"]);
    const used = [usage["inputTokens"], usage["outputTokens"]].map((value) =>
      typeof value === "number" && value > 0 ? value : 0,
    );
    const [more = 0, less = 0] = used;
    if (more + less === 0) continue;
    input += more;
    output += less;
    const column = Math.min(
      BARS - 1,
      Math.floor(((times[index] ?? 0) / end) * BARS),
    );
    const x = (column * WIDTH) / BARS;
    const bar = bars.at(-1)?.x === x ? bars.at(-1) : undefined;
    if (bar) {
      bar.input += more;
      bar.output += less;
    } else bars.push({ x, input: more, output: less });
  }
  const top = timed.reduce((most, { took }) => Math.max(most, took), 10);
  return {
    dots: dotsOf(timed, end, top),
    top,
    bars,
    most: bars.reduce((sum, bar) => Math.max(sum, bar.input + bar.output), 1),
    ...{ input, output },
    tallies: [...tools]
      .map(([name, calls]) => tally(name, calls, failed.get(name) ?? 0))
      .sort((a, b) => b.longest - a.longest),
  };
}

/** Where a time is from left to right. */
export function xOf(time: number, end: number): number {
  return round(EDGE + (time / Math.max(1, end)) * (WIDTH - 2 * EDGE));
}

/** A dot for each, from a millisecond at the bottom to the longest at the top; those in the same place are one. */
function dotsOf(
  timed: readonly { at: number; took: number; kind: Timed; bad: boolean }[],
  end: number,
  top: number,
): Dot[] {
  const dots = new Map<string, Dot>();
  for (const { at, took, kind, bad } of timed) {
    const x = Math.round(xOf(at, end));
    const share = Math.log(1 + took) / Math.log(1 + top);
    const y = Math.round(HEIGHT - EDGE - share * (HEIGHT - 2 * EDGE));
    const key = `${x >> 1} ${y >> 1} ${kind} ${bad}`;
    if (!dots.has(key)) dots.set(key, { x, y, kind, bad });
  }
  return [...dots.values()];
}

function nameOf(recording: Recording, index: number): string {
  const event = recording.events[index];
  const begun = recording.events[recording.partner(index) ?? -1];
  switch (event?.type) {
    case "tool.execution_complete":
      return words(event["tool"]);
    case "session.answer":
      return "Questions";
    case "applet.leave":
      return "Consents";
    case "ask.closed":
      return "Permissions";
    case "app":
      return `${words(event["app"])}: ${words(fields(begun?.["news"])["action"])}`;
    default:
      return words(begun?.["tool"]) || (begun?.type ?? "");
  }
}

function tally(
  name: string,
  calls: { took: number; index: number }[],
  failed: number,
): Tally {
  const sorted = calls.toSorted((a, b) => a.took - b.took);
  const [middle, last] = [sorted[(sorted.length - 1) >> 1], sorted.at(-1)];
  return {
    ...{ name, failed, calls: calls.length },
    median: middle?.took ?? 0,
    longest: last?.took ?? 0,
    slowest: last?.index ?? 0,
  };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
