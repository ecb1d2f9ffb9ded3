// What a session is called, and under which day it is listed.
import type { Session } from "@gangway/client";

export function titleOf(session: Session | null | undefined): string {
  return session?.title?.trim() || "New chat";
}

export interface Group {
  name: string;
  sessions: Session[];
}

const DAY_MS = 86_400_000;

/** Sessions by how long ago they changed; keeps their order. */
export function byDay(sessions: readonly Session[], now: Date): Group[] {
  const midnight = new Date(now).setHours(0, 0, 0, 0);
  const groups: Group[] = [];
  for (const session of sessions) {
    const name = dayName(midnight - Date.parse(session.updatedAt));
    const last = groups.at(-1);
    if (last?.name === name) last.sessions.push(session);
    else groups.push({ name, sessions: [session] });
  }
  return groups;
}

function dayName(beforeMidnight: number): string {
  if (beforeMidnight <= 0) return "Today";
  if (beforeMidnight <= DAY_MS) return "Yesterday";
  if (beforeMidnight <= 7 * DAY_MS) return "Last 7 days";
  return "Older";
}
