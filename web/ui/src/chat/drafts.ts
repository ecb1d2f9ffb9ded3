// Unsent text of each session, so that a reload loses nothing.
import { read, write } from "../storage.js";

function key(sessionId: string | null): string {
  return `draft.${sessionId ?? "new"}`;
}

export function readDraft(sessionId: string | null): string {
  return read(key(sessionId)) ?? "";
}

export function writeDraft(sessionId: string | null, text: string): void {
  write(key(sessionId), text);
}
