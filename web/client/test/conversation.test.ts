// The fold of a real conversation matches the server's.
import { expect, test } from "vitest";
import { fold, type Conversation } from "../src/fold.js";
import type { Entry, FeedFrame } from "../src/generated/wire.js";
import real from "./conversation.json" with { type: "json" };
import { snapshot } from "./frames.js";

/** A whole message is known by its last event to the server, by its first here. */
function comparable(entries: readonly Entry[]): unknown[] {
  return entries.map((entry) =>
    entry.role === "assistant" ? { ...entry, seq: 0 } : entry,
  );
}

test("the fold agrees with the server on a real conversation", () => {
  const frames = real.frames as FeedFrame[];
  const folded = frames.reduce<Conversation | null>(
    fold,
    fold(null, snapshot()),
  );
  expect(comparable(folded?.entries ?? [])).toEqual(
    comparable(real.entries as Entry[]),
  );
  expect(folded?.running).toBeNull();
  expect(folded?.queued).toEqual([]);
});
