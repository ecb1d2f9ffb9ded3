// Follows a session whose events so far were read: later ones are appended as they come.
import { SessionFeed, type Sessions } from "@gangway/client";
import { texts } from "./file.js";
import { MOST_EVENTS, RecordingReader, type Recorded } from "./read.js";
import type { ReplayState } from "./replay.svelte.js";

// Events that come together are drawn together.
const TOGETHER_MS = 100;

/** Appends what happens from now on, until the signal; a recording that could not be read to its end is not followed. */
export function follow(
  replay: ReplayState,
  sessions: Sessions,
  sessionId: string,
  signal: AbortSignal,
): void {
  if (replay.failure || signal.aborted) return;
  let waiting: Recorded[] = [];
  let timer: ReturnType<typeof setTimeout> | undefined;

  function put(): void {
    timer = undefined;
    const events = waiting;
    waiting = [];
    if (signal.aborted) return;
    replay.append(events);
    if (replay.loaded < MOST_EVENTS) return;
    feed.dispose();
    stopped(`A replay has at most ${MOST_EVENTS} events.`);
  }

  function stopped(message: string): void {
    const title = "This replay does not follow the chat any more";
    replay.failure = { title, message };
  }

  /** The server no longer sends what was missed one by one. */
  async function readAgain(): Promise<void> {
    try {
      const stream = await sessions.export(sessionId, signal);
      for await (const batch of new RecordingReader().read(texts(stream))) {
        if (signal.aborted) return;
        replay.append(batch);
      }
    } catch (error) {
      if (!signal.aborted) stopped((error as Error).message);
    }
  }

  let reading = Promise.resolve();
  const feed = new SessionFeed(sessionId, {
    sessions,
    signal,
    since: replay.recording.events.at(-1)?.seq ?? 0,
    onFrame: (frame) => {
      if (frame.type === "resync") reading = readAgain();
      if (!("seq" in frame)) return;
      waiting.push(frame);
      // In order: what is read again comes before what came after it.
      timer ??= setTimeout(() => void reading.then(put), TOGETHER_MS);
    },
    onState: (state, error) => {
      replay.live = state;
      if (error) stopped(error.message);
    },
  });
  signal.addEventListener("abort", () => clearTimeout(timer));
}
