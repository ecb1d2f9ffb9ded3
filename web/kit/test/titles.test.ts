// Under which day a session is listed.
import type { Session } from "@gangway/client";
import { expect, test } from "vitest";
import { byDay, titleOf } from "../src/chat/titles.js";

function session(updatedAt: Date): Session {
  return {
    sessionId: updatedAt.toISOString(),
    title: null,
    cwd: "/",
    model: null,
    agent: "demo",
    state: "idle",
    createdAt: updatedAt.toISOString(),
    updatedAt: updatedAt.toISOString(),
  };
}

test("sessions are grouped by how long ago they changed", () => {
  const now = new Date(2026, 3, 15, 10);
  const list = [
    session(new Date(2026, 3, 15, 0, 1)),
    session(new Date(2026, 3, 14, 23, 59)),
    session(new Date(2026, 3, 14, 1)),
    session(new Date(2026, 3, 10)),
    session(new Date(2026, 1, 1)),
  ];
  expect(
    byDay(list, now).map(({ name, sessions }) => [name, sessions.length]),
  ).toEqual([
    ["Today", 1],
    ["Yesterday", 2],
    ["Last 7 days", 1],
    ["Older", 1],
  ]);
});

test("a session without a title still has a name", () => {
  expect(titleOf(session(new Date(0)))).toBe("New chat");
  expect(titleOf({ ...session(new Date(0)), title: " Trip " })).toBe("Trip");
});
