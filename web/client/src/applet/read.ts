// Reads a file in windows: the next one is only asked for when the last was taken, so nothing piles up.
import { GangwayError } from "../errors.js";
import { join } from "./content.js";
import type { AppletClientMessage } from "../generated/wire.js";
import type { Answers, FileStat, ServerFrame } from "./wire.js";

export interface AskOptions {
  signal?: AbortSignal | undefined;
}

export interface Progress {
  /** Bytes so far. */
  loaded: number;
  /** Bytes of the whole file, if known. */
  size: number | undefined;
}

interface PartOptions extends AskOptions {
  offset?: number;
  length?: number;
}

export interface TextOptions extends PartOptions {
  binary?: false;
  /** Gets each chunk, which is not collected then; what it returns is waited for. */
  onChunk?: (chunk: string, progress: Progress) => unknown;
}

export interface BinaryOptions extends PartOptions {
  binary: true;
  /** Gets each chunk, which is not collected then; what it returns is waited for. */
  onChunk?: (chunk: Uint8Array, progress: Progress) => unknown;
}

/** Sends a question and gives back the last frame of its answer. */
export type Ask = <Kind extends AppletClientMessage["type"]>(
  message: AppletClientMessage & { type: Kind },
  options?: AskOptions,
  onFrame?: (frame: ServerFrame, bytes?: ArrayBuffer) => void,
) => Promise<Answers[Kind]>;

// Small enough to be given up soon, large enough that asking costs nothing.
const WINDOW = 4 * 1024 * 1024;

export async function readBytes(
  ask: Ask,
  path: string,
  options: BinaryOptions,
): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  await read(ask, path, options, async (bytes, progress) => {
    if (options.onChunk) await options.onChunk(bytes, progress);
    else chunks.push(bytes);
  });
  return join(chunks);
}

export async function readText(
  ask: Ask,
  path: string,
  options: TextOptions,
): Promise<string> {
  const decoder = new TextDecoder();
  const chunks: string[] = [];
  const take = async (text: string, progress: Progress) => {
    if (!options.onChunk) chunks.push(text);
    else if (text !== "") await options.onChunk(text, progress);
  };
  const end = await read(ask, path, options, (bytes, progress) =>
    take(decoder.decode(bytes, { stream: true }), progress),
  );
  await take(decoder.decode(), end);
  return chunks.join("");
}

async function read(
  ask: Ask,
  path: string,
  { signal, offset = 0, length = Infinity }: PartOptions,
  take: (bytes: Uint8Array, progress: Progress) => Promise<void>,
): Promise<Progress> {
  const stat = () => ask({ type: "stat", path }, { signal });
  let progress: Progress = { loaded: 0, size: undefined };
  let before: FileStat | undefined;
  for (;;) {
    const at = progress.loaded;
    const wanted = Math.min(WINDOW, length - at);
    const part = { path, offset: offset + at, length: wanted };
    const [bytes, size] = await readWindow(ask, part, signal);
    const loaded = at + bytes.length;
    const last = bytes.length < wanted || loaded >= length;
    // A file that takes more than one request must stay the same file.
    if (!last) before ??= await stat();
    progress = { loaded, size: size ?? before?.size };
    await take(bytes, progress);
    signal?.throwIfAborted();
    if (last) break;
  }
  if (before) {
    const after = await stat();
    if (after.size !== before.size || after.modified !== before.modified) {
      throw new GangwayError(
        "file_changed",
        `${path} changed while it was read. Read it again.`,
        { retryable: true },
      );
    }
  }
  return progress;
}

async function readWindow(
  ask: Ask,
  part: { path: string; offset: number; length: number },
  signal: AbortSignal | undefined,
): Promise<[Uint8Array, number | undefined]> {
  const chunks: Uint8Array[] = [];
  let size: number | undefined;
  await ask(
    { type: "readFile", ...part, binary: true },
    { signal },
    (frame, bytes) => {
      if (frame.type !== "fileContent") return;
      size = frame.size;
      if (bytes) chunks.push(new Uint8Array(bytes));
    },
  );
  return [chunks.length === 1 && chunks[0] ? chunks[0] : join(chunks), size];
}
