// What an applet can ask of its session: state, files, the agent.
import { GangwayError } from "../errors.js";
import type { JsonValue } from "../generated/wire.js";
import {
  PageTools,
  type ToolDescription,
  type ToolHandler,
  type Unregister,
} from "../page-tools.js";
import { concerns, encode, plainPath, type Content } from "./content.js";
import {
  readBytes,
  readText,
  type Ask,
  type AskOptions,
  type BinaryOptions,
  type TextOptions,
} from "./read.js";
import { StateCache, type StateOptions } from "./state.js";
import {
  ends,
  idOf,
  type AppletEvents,
  type ClientMessage,
  type FileChange,
  type FileList,
  type FileStat,
  type Id,
  type Link,
  type LinkEvents,
  type ServerFrame,
  type State,
  type FrameOf,
} from "./wire.js";

export interface InvokeOptions extends AskOptions {
  /** This session, shown or hidden; a new one; or the id of another. */
  session?: "active" | "background" | "new" | (string & {});
  showInChat?: boolean;
  /** With `false` the promise is kept as soon as the agent has the prompt. */
  waitForResult?: boolean;
  /** The same as `session: "background"`. */
  background?: boolean;
  /** Gets the answer in chunks. */
  onDelta?: (delta: string) => void;
}

export type InvokeStarted = Pick<
  FrameOf<"invokeStarted">,
  "streamId" | "sessionId"
>;

/** Ends a subscription; `ready` is kept once the server watches. */
export interface Unsubscribe {
  (): void;
  ready: Promise<void>;
}

interface Question {
  message: ClientMessage;
  resolve: (frame: ServerFrame) => void;
  reject: (error: Error) => void;
  onFrame: ((frame: ServerFrame, bytes?: ArrayBuffer) => void) | undefined;
}

export class AppletChannel {
  readonly #link: Link;
  readonly #questions = new Map<Id | undefined, Question>();
  readonly #listeners = new Map<string, Set<(event: never) => void>>();
  readonly #watchers = new Map<string, Set<(change: FileChange) => void>>();
  readonly #state = new StateCache(() => this.getState().then(() => undefined));
  readonly #tools = new PageTools({
    offer: (tools) => {
      this.#ask({ type: "offerTools", tools }).then(
        (answer) => this.#tools.offered(answer),
        () => undefined,
      );
    },
    answer: (call, result) => this.#say({ type: "toolResult", call, result }),
    fail: (call, message) =>
      this.#say({ type: "toolResult", call, error: { message } }),
  });
  #lastId = 0;

  /** `link` makes the way out of the channel, given what comes in. */
  constructor(link: (events: LinkEvents) => Link) {
    this.#link = link({
      onFrame: (frame, bytes) => this.#receive(frame, bytes),
      onClosed: (code, message) => this.#fail(new GangwayError(code, message)),
    });
  }

  /** Merges into the state by top-level key; `null` deletes a key. */
  async setState(
    data: Record<string, unknown>,
    options: AskOptions = {},
  ): Promise<void> {
    const changes = data as Record<string, JsonValue>;
    await this.#ask({ type: "setState", data: changes }, options);
  }

  getState(): Promise<State>;
  getState(key: string): Promise<unknown>;
  async getState(key?: string): Promise<unknown> {
    const answer = await this.#ask({
      type: "getState",
      ...(key !== undefined && { key }),
    });
    return key === undefined ? answer.data : answer.data[key];
  }

  /** Calls back with the whole state, at once if it is known and after each change by anyone else. */
  onState(
    callback: (state: State) => void,
    options?: StateOptions,
  ): () => void {
    return this.#state.listen(callback, options);
  }

  readFile(path: string, options?: TextOptions): Promise<string>;
  readFile(path: string, options: BinaryOptions): Promise<Uint8Array>;
  async readFile(
    path: string,
    options: TextOptions | BinaryOptions = {},
  ): Promise<string | Uint8Array> {
    return options.binary
      ? readBytes(this.#ask, path, options)
      : readText(this.#ask, path, options);
  }

  /** Replaces a file as a whole, or makes it; objects are written as JSON. */
  async writeFile(
    path: string,
    content: Content,
    options: AskOptions = {},
  ): Promise<FileStat> {
    const encoded = await encode(content);
    return this.#ask({ type: "writeFile", path, ...encoded }, options);
  }

  async listFiles(path = "", options: AskOptions = {}): Promise<FileList> {
    return this.#ask({ type: "listFiles", path }, options);
  }

  async stat(path: string, options: AskOptions = {}): Promise<FileStat> {
    return this.#ask({ type: "stat", path }, options);
  }

  /** Calls back when a file, or anything in a folder, changes. */
  subscribe(path: string, callback: (change: FileChange) => void): Unsubscribe {
    const watched = plainPath(path);
    const listener = (change: FileChange) => callback(change);
    const others = this.#watchers.get(watched);
    const watchers = others ?? new Set();
    watchers.add(listener);
    this.#watchers.set(watched, watchers);
    const ready = others
      ? Promise.resolve()
      : this.#ask({ type: "subscribe", path: watched }).then(() => undefined);
    ready.catch((error: unknown) => {
      watchers.delete(listener);
      if (this.#watchers.get(watched) === watchers) {
        this.#watchers.delete(watched);
      }
      console.warn(`Could not watch ${watched}:`, error);
    });
    const stop = () => {
      if (!watchers.delete(listener) || watchers.size > 0) return;
      this.#watchers.delete(watched);
      this.#ask({ type: "unsubscribe", path: watched }).catch(() => undefined);
    };
    return Object.assign(stop, { ready });
  }

  /** Asks the agent and gives back its answer, or only where to find it. */
  invoke(
    prompt: string,
    options: InvokeOptions & { waitForResult: false },
  ): Promise<InvokeStarted>;
  invoke(prompt: string, options?: InvokeOptions): Promise<string>;
  async invoke(
    prompt: string,
    { signal, onDelta, ...options }: InvokeOptions = {},
  ): Promise<string | InvokeStarted> {
    const onFrame = (frame: ServerFrame) => {
      if (frame.type === "stream") onDelta?.(frame.delta);
    };
    const invoke = this.#lastId + 1;
    // Whether it waits for the person, for its turn or for its end.
    const giveUp = () =>
      void this.#ask({ type: "stop", invoke }).catch(() => undefined);
    const message = { type: "invoke", prompt, ...options } as const;
    signal?.addEventListener("abort", giveUp, { once: true });
    try {
      const answer = await this.#ask(message, { signal }, onFrame);
      if (answer.type === "invokeStarted") {
        const { streamId, sessionId } = answer;
        return { streamId, sessionId };
      }
      if (answer.error) throw new GangwayError("turn_failed", answer.error);
      return answer.result;
    } finally {
      signal?.removeEventListener("abort", giveUp);
    }
  }

  /** Stops the agent's turn in this session; says whether one was running. */
  async stop(): Promise<boolean> {
    return (await this.#ask({ type: "stop" })).stopped;
  }

  /** Offers a tool to every agent of the session; gives back how to withdraw it. */
  registerTool(tool: ToolDescription, handler: ToolHandler): Unregister {
    return this.#tools.register(tool, handler);
  }

  async ping(): Promise<void> {
    await this.#ask({ type: "ping" });
  }

  /** Listens to what else happens in the session. */
  on<Name extends keyof AppletEvents>(
    name: Name,
    callback: (event: AppletEvents[Name]) => void,
  ): () => void {
    const listener = (event: AppletEvents[Name]) => callback(event);
    const listeners = this.#listeners.get(name) ?? new Set();
    listeners.add(listener);
    this.#listeners.set(name, listeners);
    return () => void listeners.delete(listener);
  }

  dispose(): void {
    this.#link.dispose();
    this.#tools.close();
    this.#fail(new GangwayError("closed", "This channel is closed."));
    this.#listeners.clear();
    this.#watchers.clear();
  }

  readonly #ask: Ask = (message, { signal } = {}, onFrame) => {
    const id = (this.#lastId += 1);
    return new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      this.#link.send({ ...message, id });
      const giveUp = () => {
        this.#questions.delete(id);
        this.#link.forget(id);
        const reason: unknown = signal?.reason;
        reject(
          reason instanceof Error
            ? reason
            : new GangwayError("aborted", String(reason)),
        );
      };
      signal?.addEventListener("abort", giveUp, { once: true });
      const done = () => signal?.removeEventListener("abort", giveUp);
      this.#questions.set(id, {
        message,
        onFrame,
        // The server answers each question in kind.
        resolve: (frame) => (done(), resolve(frame as never)),
        reject: (error) => (done(), reject(error)),
      });
    });
  };

  /** Says what has no answer. */
  #say(message: ClientMessage): void {
    try {
      this.#link.send(message);
    } catch {
      // Closed: nobody waits for it.
    }
  }

  #receive(frame: ServerFrame, bytes?: ArrayBuffer): void {
    switch (frame.type) {
      case "stateUpdate":
        // With an id it answers a change that was made here.
        this.#state.merge(frame, frame.id !== undefined);
        break;
      case "state":
        this.#gotState(frame);
        break;
      case "ready":
        this.#state.expect(frame.version);
        this.#tools.connected();
        break;
      case "toolCall":
        this.#tools.call(frame.call, frame.name, frame.arguments);
        return;
      case "toolCancel":
        this.#tools.cancel(frame.call);
        return;
      case "resync":
        this.#tools.connected();
        this.#state.reset();
        this.#state.refresh();
        break;
      case "fileChanged":
        this.#changed(frame);
        break;
    }
    const question = this.#questions.get(idOf(frame));
    if (question) this.#answer(question, frame, bytes);
    else this.#tell(frame);
    if (question && frame.type === "consentAsked") this.#tell(frame);
  }

  #answer(question: Question, frame: ServerFrame, bytes?: ArrayBuffer): void {
    question.onFrame?.(frame, bytes);
    if (frame.type !== "error" && !ends(frame, question.message)) return;
    this.#questions.delete(idOf(frame));
    if (frame.type === "error") {
      question.reject(new GangwayError(frame.code, frame.error));
    } else question.resolve(frame);
  }

  #gotState({ id, data, version }: FrameOf<"state">): void {
    const asked = this.#questions.get(id)?.message;
    if (asked && "key" in asked) return;
    this.#state.set(data, version);
  }

  #changed(change: FileChange): void {
    for (const [watched, watchers] of this.#watchers) {
      if (!concerns(change.path, watched)) continue;
      for (const watcher of [...watchers]) call(watcher, change);
    }
  }

  #tell(frame: ServerFrame): void {
    for (const listener of [...(this.#listeners.get(frame.type) ?? [])]) {
      call(listener as (event: unknown) => void, frame);
    }
  }

  #fail(error: GangwayError): void {
    const questions = [...this.#questions.values()];
    this.#questions.clear();
    for (const question of questions) question.reject(error);
  }
}

/** One listener's mistake is not the others'. */
function call<T>(listener: (event: T) => void, event: T): void {
  try {
    listener(event);
  } catch (error) {
    reportError(error);
  }
}
