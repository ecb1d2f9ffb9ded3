// Frames and snapshots for tests, with only the interesting fields spelled out.
import type { FeedFrame, Session, Snapshot } from "../src/generated/wire.js";

export const AT = "2026-01-02T03:04:05Z";

export const session: Session = {
  sessionId: "s1",
  title: null,
  cwd: "/home/ada",
  model: null,
  agent: "demo",
  state: "idle",
  createdAt: AT,
  updatedAt: AT,
};

export function snapshot(fields: Partial<Snapshot> = {}): FeedFrame {
  return {
    type: "snapshot",
    snapshot: {
      session,
      seq: 0,
      entries: [],
      older: false,
      running: null,
      queued: [],
      context: null,
      ...fields,
    },
  };
}

export function user(
  seq: number,
  prompt: string,
  streamId = "t1",
  showInChat = true,
): FeedFrame {
  const source = { kind: "person" } as const;
  const type = "user.message";
  return { type, seq, at: AT, streamId, prompt, source, showInChat };
}

export function turnStart(seq: number, streamId = "t1"): FeedFrame {
  const type = "assistant.turn_start";
  return { type, seq, at: AT, streamId, agent: "demo", model: null };
}

export function delta(seq: number, text: string, messageId = "m1"): FeedFrame {
  const type = "assistant.message_delta";
  return { type, seq, at: AT, streamId: "t1", messageId, delta: text };
}

export function message(seq: number, content: string): FeedFrame {
  return {
    type: "assistant.message",
    seq,
    at: AT,
    streamId: "t1",
    messageId: "m1",
    content,
    partial: false,
    replaces: null,
  };
}

export function done(
  seq: number,
  outcome: "completed" | "stopped" | "failed" | "interrupted" = "completed",
  streamId = "t1",
): FeedFrame {
  const type = "done";
  return { type, seq, at: AT, streamId, outcome, usage: null, idle: true };
}
