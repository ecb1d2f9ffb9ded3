// How entries are put together by turn.
import { expect, test } from "vitest";
import { fold, type Conversation } from "../src/fold.js";
import { turnsOf } from "../src/turns.js";
import { delta, done, snapshot, turnStart, user } from "./frames.js";

test("a prompt that waits stays behind the turn that runs", () => {
  const conversation = [
    snapshot(),
    user(1, "one", "t1"),
    turnStart(2, "t1"),
    delta(3, "a", "m1"),
    user(4, "two", "t2"),
    delta(5, "b", "m2"),
    done(6, "stopped", "t1"),
  ].reduce<Conversation | null>(fold, null);
  const turns = turnsOf(conversation?.entries ?? []);
  expect(
    turns.map(({ streamId, entries }) => [
      streamId,
      entries.map((entry) => entry.seq),
    ]),
  ).toEqual([
    ["t1", [1, 3, 5, 6]],
    ["t2", [4]],
  ]);
});

test("a turn is hidden as a whole, also where a page of history begins inside it", () => {
  const conversation = [
    snapshot(),
    user(1, "one", "t1", false),
    turnStart(2, "t1"),
    delta(3, "a", "m1"),
    user(4, "two", "t2"),
  ].reduce<Conversation | null>(fold, null);
  const hidden = (from: number) =>
    turnsOf(conversation?.entries.slice(from) ?? []).map((turn) => turn.hidden);
  expect(hidden(0)).toEqual([true, false]);
  expect(hidden(1)).toEqual([true, false]);
});
