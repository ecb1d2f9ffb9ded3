// Entries of a conversation put together by the turn they belong to.
import type { Entry } from "./generated/wire.js";

export interface Turn {
  readonly streamId: string;
  readonly entries: readonly Entry[];
  /** True for a turn that the chat does not show. */
  readonly hidden: boolean;
}

/** Turns in the order they were asked for; a prompt that waits never splits the turn before it. */
export function turnsOf(entries: readonly Entry[]): Turn[] {
  const turns = new Map<string, Entry[]>();
  for (const entry of entries) {
    const turn = turns.get(entry.streamId);
    if (turn) turn.push(entry);
    else turns.set(entry.streamId, [entry]);
  }
  return [...turns].map(([streamId, own]) => ({
    streamId,
    entries: own,
    // A page of history that begins in the middle of a turn has not seen what began it.
    hidden: own.some(({ hidden }) => hidden),
  }));
}
