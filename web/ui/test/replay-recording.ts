// Recordings for the tests of replays.
import type { Recorded } from "../src/replay/read.js";
import { Recording } from "../src/replay/recording.js";

const START = Date.parse("2026-03-01T10:00:00.000Z");

export type Given = { type: string; after?: number } & Record<string, unknown>;

/** Events, each a second after the one before unless it says otherwise. */
export function events(...given: Given[]): Recorded[] {
  let at = START;
  return given.map(({ after = 1_000, ...rest }, index) => {
    if (index > 0) at += after;
    return { seq: index + 1, at: new Date(at).toISOString(), ...rest };
  });
}

export function recordingOf(...given: Given[]): Recording {
  const recording = new Recording();
  for (const event of events(...given)) recording.add(event);
  return recording;
}

const person = { kind: "person" } as const;
const [t1, t2] = ["s.2", "s.9"];

/** A chat in which most things happen once. */
export const CHAT: Given[] = [
  ...[
    { type: "session.created", title: "Tables", agent: "builtin", model: "m" },
    {
      type: "user.message",
      streamId: t1,
      prompt: "Book <b>it</b>",
      source: person,
      showInChat: true,
    },
    {
      type: "assistant.turn_start",
      streamId: t1,
      agent: "builtin",
      model: "m",
    },
    {
      type: "tool.execution_start",
      streamId: t1,
      toolCallId: "c1",
      tool: "tables/search",
      arguments: { people: 2 },
    },
    {
      type: "tool.execution_complete",
      after: 250,
      streamId: t1,
      toolCallId: "c1",
      tool: "tables/search",
      success: true,
      result: [{ at: "18:30" }],
      error: null,
    },
    {
      type: "applet.state",
      applet: "board",
      version: 1,
      patch: { table: 4, note: "window" },
      source: { kind: "applet", slug: "board" },
    },
    {
      type: "assistant.message",
      streamId: t1,
      messageId: "m1",
      content: "Done.",
      partial: false,
      replaces: null,
    },
    {
      type: "done",
      streamId: t1,
      outcome: "completed",
      usage: { inputTokens: 100, outputTokens: 20 },
      idle: true,
    },
    {
      type: "user.message",
      streamId: t2,
      prompt: "Quietly",
      source: { kind: "agent", name: "ada" },
      showInChat: false,
    },
    {
      type: "assistant.turn_start",
      streamId: t2,
      agent: "builtin",
      model: "m",
    },
    {
      type: "tool.execution_start",
      streamId: t2,
      toolCallId: "c2",
      tool: "calendar/read",
      arguments: {},
    },
    {
      type: "tool.execution_complete",
      after: 3_000,
      streamId: t2,
      toolCallId: "c2",
      tool: "calendar/read",
      success: false,
      result: null,
      error: "The calendar is locked.",
    },
    {
      type: "applet.state",
      applet: "board",
      version: 2,
      patch: { note: null, table: 5 },
      source: { kind: "agent", name: "ada" },
    },
    { type: "page.opened", page: "p1", origin: "https://shop.example" },
    { type: "done", streamId: t2, outcome: "failed", usage: null, idle: true },
  ],
];

/** A text in one piece. */
// eslint-disable-next-line @typescript-eslint/require-await -- as streams give it
export async function* pieces(...texts: string[]): AsyncGenerator<string> {
  yield* texts;
}

export function linesOf(list: readonly unknown[]): string {
  return list.map((one) => `${JSON.stringify(one)}\n`).join("");
}
