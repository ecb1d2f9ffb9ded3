// Options and events of a driveable page.
import type { GangwayError } from "../errors.js";
import type { ApiKey } from "../key.js";
import type { LiveState } from "../live.js";
import type { DoneCall } from "./calls.js";
import type { Snapshot } from "./snapshot.js";
import type { ToolSource } from "./tools.js";

/** A study session, as its agent opened it. */
export interface StudySession {
  sessionId: string;
  studyId: string;
  participantId: string;
  /** In a replay, what `onSession.start` gave back when the session was recorded. */
  setup?: unknown;
}

export interface HostOptions {
  /** The name under which agents join. */
  session: string;
  /** Where the server is, e.g. `https://gangway.example`; the page's own origin without it. */
  url?: string;
  /** What agents may do; a function is asked each time. Tools with a `when` that is false are not offered. */
  tools?: ToolSource;
  /** What agents may read; without it, the page's title. */
  snapshot?: () => Snapshot;
  /** Reset the page; agents are notified afterwards. */
  onSession?: {
    /** What it gives back is kept in the log, and given again as `setup` when the session is replayed. */
    start?: (session: StudySession) => unknown;
    end?: (reason: string) => unknown;
    /** An agent wants to begin again within the same study session; `end` does it unless this is given. */
    reset?: (reason: string) => unknown;
  };
  /** Offers what the page registered on `document.modelContext` too; true unless it says false. */
  webMcp?: boolean;
  /** The relay session's token for its host; a page that an agent launched needs none. */
  token?: string;
  /** An API key with the scope `relay`, or the token of a login. */
  key?: ApiKey;
  /** The Gangway session whose agents may use the page too. */
  gangwaySession?: string;
  /** How long one tool may take. */
  toolSeconds?: number;
  WebSocket?: typeof WebSocket;
  random?: () => number;
}

export interface HostEvents {
  /** The connection; `error` is the reason if it is closed. */
  status: [status: LiveState, error?: GangwayError];
  /** How many agents are there. */
  presence: [agents: number];
  /** What an agent says. */
  message: [text: string];
  /** What an agent is doing, such as "thinking"; empty when it is done. */
  agentStatus: [status: string];
  /** What an agent did, or could not do. */
  call: [call: DoneCall];
  /** The study session that began, or nothing when it ended. */
  session: [session: StudySession | null];
  /** What the relay did not like. */
  problem: [code: string, message: string];
}
