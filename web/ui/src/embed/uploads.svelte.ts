// Files that go with the next message.
import {
  GangwayError,
  type RemoteAgent,
  type UploadRules,
} from "@gangway/client";
import { refusal, typeOf } from "./files.js";

/** More than users attach to one message. */
const MAX_FILES = 20;

export class Upload {
  readonly #stop = new AbortController();
  readonly file: File;
  /** The part that was sent, from 0 to 1. */
  part = $state(0);
  /** Where the agent finds it. */
  path: string | null = $state(null);
  /** Why it was not sent. */
  problem: string | null = $state(null);
  /** Kept once it was sent, refused or cancelled. */
  done: Promise<void> = Promise.resolve();

  constructor(file: File) {
    this.file = file;
  }

  get sending(): boolean {
    return this.path === null && this.problem === null;
  }

  async send(agent: RemoteAgent): Promise<void> {
    const { signal } = this.#stop;
    const cancelled = () => signal.aborted;
    if (cancelled()) return;
    try {
      const { path } = await agent.upload(this.file, {
        onProgress: (part) => (this.part = part),
        signal,
      });
      this.path = path;
    } catch (error) {
      if (cancelled()) return;
      if (!(error instanceof GangwayError)) throw error;
      this.problem = error.message;
    }
  }

  cancel(): void {
    this.#stop.abort();
  }
}

export class UploadsState {
  readonly #agent: RemoteAgent;
  readonly limits: UploadRules;
  all: Upload[] = $state.raw([]);
  /** One file after the other: a slow line is not made slower. */
  #queue: Promise<void> = Promise.resolve();

  constructor(agent: RemoteAgent, limits: UploadRules) {
    this.#agent = agent;
    this.limits = limits;
  }

  get sending(): boolean {
    return this.all.some(({ sending }) => sending);
  }

  get paths(): string[] {
    return this.all.flatMap(({ path }) => path ?? []);
  }

  /** Sends what may be sent; what may not says why. */
  add(files: Iterable<File>): Upload[] {
    const room = MAX_FILES - this.all.length;
    const added = Array.from(files)
      .slice(0, Math.max(0, room))
      .map((file) => new Upload(withType(file)));
    this.all = [...this.all, ...added];
    for (const upload of added) {
      upload.problem = refusal(upload.file, this.limits);
      if (upload.problem !== null) continue;
      this.#queue = this.#queue.then(() => upload.send(this.#agent));
      upload.done = this.#queue;
    }
    return added;
  }

  remove(upload: Upload): void {
    upload.cancel();
    this.all = this.all.filter((other) => other !== upload);
  }

  /** Forgets what went with a message, and what could not. */
  sent(paths: readonly string[]): void {
    this.all = this.all.filter(
      ({ path, sending }) =>
        sending || (path !== null && !paths.includes(path)),
    );
  }
}

function withType(file: File): File {
  const type = typeOf(file);
  return type === file.type ? file : new File([file], file.name, { type });
}
