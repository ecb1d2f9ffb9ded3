// Replays as files: one HTML file with everything in it, written from the page that the server has for it, and read as text alone.
import { RecordingError, Slices, VERSION } from "./read.js";
import type { Header, Recorded } from "./read.js";
import type { Source } from "./replay.svelte.js";

/** The page of a replay file, where its recording is to stand. */
export const SHELL = "/replay-file.html";
export const RECORDING_ID = "recording";
const OPENS = `<script type="application/jsonl" id="${RECORDING_ID}">`;
const CLOSES = "</script>";
// A page keeps the whole text, and its events beside it.
const MOST_BYTES = 1 << 29;
const PIECE = 1 << 16;

/** One line of a recording inside a page: no tag can begin in it. */
function lineOf(value: unknown): string {
  return `${JSON.stringify(value).replaceAll("<", "\\u003c")}\n`;
}

/** A replay file, made of the page for it and the events. */
export async function fileOf(
  shell: string,
  told: Pick<Header, "title" | "session">,
  events: readonly Recorded[],
): Promise<Blob> {
  const [before, after, ...more] = shell.split(OPENS + CLOSES);
  if (before === undefined || after === undefined || more.length > 0) {
    throw new RecordingError("This build has no page for replay files.");
  }
  const count = { events: events.length };
  const header: Header = {
    ...{ gangway: "recording", version: VERSION },
    ...told,
    ...count,
  };
  const parts = [before, OPENS, lineOf(header)];
  const slices = new Slices();
  for (const event of events) {
    parts.push(lineOf(event));
    if (slices.over) await slices.pause();
  }
  return new Blob([...parts, CLOSES, after], { type: "text/html" });
}

/** The recording in a file: a replay file, or the JSON Lines of a session. Nothing in it is run. */
export async function sourceOf(file: File): Promise<Source> {
  const named = { title: file.name, session: null };
  if (file.size > MOST_BYTES) {
    throw new RecordingError(
      `The file has ${Math.ceil(file.size / (1 << 20))} MiB; at most ${MOST_BYTES / (1 << 20)} MiB can be opened.`,
    );
  }
  const start = await file.slice(0, 1000).text();
  if (/^\s*\{/.test(start)) {
    return { ...named, pieces: texts(file.stream()) };
  }
  if (!/^\s*</.test(start)) {
    throw new RecordingError(
      `“${file.name.slice(0, 100)}” is neither a replay (.html) nor an export of a session (.jsonl).`,
    );
  }
  return { ...named, pieces: cut(recordingIn(await file.text())) };
}

/** The recording that stands in the text of a page. */
export function recordingIn(html: string): string {
  const at = html.lastIndexOf(OPENS);
  if (at < 0) {
    throw new RecordingError(
      "The file is a web page, but there is no recording in it. Export one from a replay.",
    );
  }
  const from = at + OPENS.length;
  const end = html.indexOf(CLOSES, from);
  // What was cut off is told by its last line, or by the number of its events.
  return end < 0 ? html.slice(from) : html.slice(from, end);
}

/** A text in pieces. */
// eslint-disable-next-line @typescript-eslint/require-await -- pieces of files come later, these are here
export async function* cut(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += PIECE) {
    yield text.slice(at, at + PIECE);
  }
}

/** The text of a stream in pieces, as they come. */
export async function* texts(
  stream: ReadableStream<Uint8Array>,
): AsyncGenerator<string> {
  const reader = stream.getReader();
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read().catch(broken);
      if (done) break;
      yield decoder.decode(value, { stream: true });
    }
    yield decoder.decode();
  } finally {
    await reader.cancel();
  }
}

function broken(error: unknown): never {
  const why = error instanceof Error ? error.message : String(error);
  throw new RecordingError(`Reading stopped: ${why}`);
}
