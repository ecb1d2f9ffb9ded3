// What agents may read of a page, and no more of its history than fits.
import { isRecord } from "./wire.js";

/** One line of what happened, as agents read it. */
export interface HistoryEntry {
  id: string;
  type: "system" | "user" | "agent";
  timestamp: string;
  text: string;
  [more: string]: unknown;
}

export interface Snapshot {
  /** What the person sees; nothing before there is anything. */
  uiSpec: object | null;
  /** Oldest first. It may be a part; `historyTotal` says of how many. */
  messageHistory?: readonly HistoryEntry[];
  historyTotal?: number;
}

/** What is sent of a snapshot. */
export interface Surfaces {
  uiSpec: object | null;
  messageHistory: HistoryEntry[];
  meta: { historyTotal: number };
}

// A long conversation would make every update longer; clients that need more request a snapshot.
export const HISTORY_IN_UPDATES = 10;
export const HISTORY_IN_SNAPSHOTS = 50;
const LONGEST_ENTRY = 500;

/** The newest `most` entries, each of bounded length and without what is no text or number. */
export function surfacesOf(snapshot: Snapshot, most: number): Surfaces {
  const { uiSpec, messageHistory = [], historyTotal } = snapshot;
  return {
    uiSpec,
    messageHistory: messageHistory.slice(-most).map(plain),
    meta: { historyTotal: historyTotal ?? messageHistory.length },
  };
}

/** A spec inside an entry would be repeated by every update after it. */
function plain(entry: HistoryEntry): HistoryEntry {
  const fields = Object.entries(entry).flatMap(([name, value]) => {
    if (typeof value === "string") return [[name, cut(value)]];
    return isRecord(value) || Array.isArray(value) ? [] : [[name, value]];
  });
  return Object.fromEntries(fields) as HistoryEntry;
}

function cut(text: string): string {
  return text.length > LONGEST_ENTRY
    ? `${text.slice(0, LONGEST_ENTRY)}…`
    : text;
}
