// One conversation with an agent: what was said, whether it is followed, and what a person can do in it.
import {
  fold,
  GangwayError,
  prepend,
  SessionFeed,
  turnsOf,
  type Conversation,
  type Entry,
  type FeedFrame,
  type FeedState,
  type History,
  type Sessions,
  type Turn,
} from "@gangway/client";
import { SvelteMap } from "svelte/reactivity";

export type Question = Extract<Entry, { role: "question" }>;

/** Follows a session until it is disposed. */
interface Feed {
  reconnect(): void;
  dispose(): void;
}

/** The source of a conversation, and where its messages are sent. */
export interface Source {
  send(prompt: string): Promise<unknown>;
  stop(): Promise<unknown>;
  answer(questionId: string, answer: string): Promise<unknown>;
  history(page: { before: number }): Promise<History>;
  follow(options: {
    onFrame: (frame: FeedFrame) => void;
    onState: (state: FeedState, error?: GangwayError) => void;
  }): Feed;
}

/** A session of this server. */
export function sessionSource(sessions: Sessions, id: string): Source {
  return {
    send: (prompt) => sessions.send(id, { prompt }),
    stop: () => sessions.stop(id),
    answer: (questionId, answer) => sessions.answer(id, questionId, answer),
    history: (page) => sessions.history(id, page),
    follow: (options) => new SessionFeed(id, { sessions, ...options }),
  };
}

// A hidden tab draws no frames, but its title and list should still follow.
const HIDDEN_FRAME_MS = 250;
// Pages of history overlap by this many entries: a tool call just before the edge
// of a page has its result just after it.
const OVERLAP = 20;

export class ConversationState {
  #source: Source | null = null;
  #feed: Feed | null = null;
  #waiting: FeedFrame[] = [];
  #scheduled = false;

  conversation: Conversation | null = $state.raw(null);
  feedState: FeedState = $state("connecting");
  /** Why this conversation cannot be shown at all. */
  failure: GangwayError | null = $state.raw(null);
  /** Why the last action did not work. */
  problem: GangwayError | null = $state.raw(null);
  sending = $state(false);
  loadingOlder = $state(false);
  /** Counts what this person sent, so that the view can go to the end. */
  sent = $state(0);
  /** Answers on their way, so that no question is answered twice. */
  readonly #given = new SvelteMap<string, string>();

  get running(): boolean {
    return this.conversation?.running != null;
  }

  readonly #all: Turn[] = $derived(turnsOf(this.conversation?.entries ?? []));

  /** The visible items: of a hidden turn, only its open question. */
  readonly turns: Turn[] = $derived(
    this.#all.flatMap((turn) => {
      if (!turn.hidden) return [turn];
      const { question } = this;
      const entries = turn.entries.filter((entry) => entry === question);
      return entries.length > 0 ? [{ ...turn, entries }] : [];
    }),
  );

  /** True while a turn runs that is not shown. */
  readonly background: boolean = $derived(
    this.#all.some(
      ({ streamId, hidden }) =>
        hidden && streamId === this.conversation?.running,
    ),
  );

  /** True while the agent works and nothing on the page shows it. */
  readonly thinking: boolean = $derived.by(() => {
    const { running, entries = [] } = this.conversation ?? {};
    const last = entries.findLast((entry) => entry.streamId === running);
    return (
      running != null &&
      !(last?.role === "assistant" && last.streaming && last.content) &&
      !(last?.role === "tool" && last.state === "running") &&
      !(last?.role === "question" && last.answer === null)
    );
  });

  /** The question that the running turn waits for. */
  get question(): Question | null {
    const { running, entries = [] } = this.conversation ?? {};
    const open = entries.find(
      (entry): entry is Question =>
        entry.role === "question" &&
        entry.streamId === running &&
        this.answerTo(entry) === null,
    );
    return open ?? null;
  }

  answerTo({ answer, questionId }: Question): string | null {
    return answer ?? this.#given.get(questionId) ?? null;
  }

  /** Whether a prompt waits for the turn that runs. */
  isQueued(streamId: string): boolean {
    const { running, queued = [] } = this.conversation ?? {};
    return running != null && running !== streamId && queued.includes(streamId);
  }

  async send(prompt: string): Promise<boolean> {
    this.sending = true;
    const accepted = await this.attempt(async () => {
      const source = await this.reach();
      await source.send(prompt);
      this.sent += 1;
    });
    this.sending = false;
    return accepted;
  }

  /** Answers the question that waits, or begins a turn: a prompt would wait behind the question for ever. */
  async say(words: string): Promise<boolean> {
    // A question that has come but is not painted yet is answered too.
    this.#flush();
    const { question } = this;
    return question ? this.answer(question, words) : this.send(words);
  }

  async stop(): Promise<void> {
    this.#flush();
    const source = this.#source;
    if (source && this.running) await this.attempt(() => source.stop());
  }

  /** Sends the prompt of an earlier turn again. */
  async retry(streamId: string): Promise<void> {
    const prompt = this.prompt(streamId);
    if (prompt !== null) await this.send(prompt);
  }

  prompt(streamId: string): string | null {
    const entry = this.conversation?.entries.find(
      (each) => each.role === "user" && each.streamId === streamId,
    );
    return entry?.role === "user" ? entry.content : null;
  }

  async answer(question: Question, answer: string): Promise<boolean> {
    const source = this.#source;
    if (!source || this.answerTo(question) !== null) return false;
    const { questionId } = question;
    this.#given.set(questionId, answer);
    // A second Enter must not send the same text as a prompt.
    this.sending = true;
    const accepted = await this.attempt(() =>
      source.answer(questionId, answer),
    );
    this.sending = false;
    if (accepted) this.sent += 1;
    else this.#given.delete(questionId);
    return accepted;
  }

  async older(): Promise<void> {
    const entries = this.conversation?.entries ?? [];
    const edge = entries[OVERLAP] ?? entries.at(-1);
    const source = this.#source;
    if (!source || !edge || this.loadingOlder) return;
    this.loadingOlder = true;
    await this.attempt(async () => {
      const page = await source.history({ before: edge.seq });
      if (this.conversation)
        this.conversation = prepend(this.conversation, page);
    });
    this.loadingOlder = false;
  }

  /** Takes the conversation from here on. */
  attach(source: Source): void {
    this.#source = source;
    this.#feed = source.follow({
      onFrame: (frame) => this.#enqueue(frame),
      onState: (state, error) => {
        this.feedState = state;
        // The feed is the proof that the server can be reached again.
        if (state === "live" && this.problem?.code === "unreachable") {
          this.problem = null;
        }
        if (!error) return;
        this.failure = error;
        this.lost(error);
      },
    });
  }

  reconnect(): void {
    this.#feed?.reconnect();
  }

  dispose(): void {
    this.#feed?.dispose();
  }

  /** Where a prompt goes. */
  protected reach(): Promise<Source> {
    if (this.#source) return Promise.resolve(this.#source);
    return Promise.reject(
      new GangwayError("no_session", "There is no conversation here yet."),
    );
  }

  /** Called with a frame before it is shown. */
  protected received(_frame: FeedFrame): void {}

  /** Called when the session changed, or a turn began or ended. */
  protected changed(_now: Conversation): void {}

  /** Called with the reason when the feed has ended. */
  protected lost(_error: GangwayError): void {}

  /** Keeps what went wrong as the problem. */
  protected async attempt(action: () => Promise<unknown>): Promise<boolean> {
    this.problem = null;
    try {
      await action();
      return true;
    } catch (error) {
      if (!(error instanceof GangwayError)) throw error;
      this.problem = error;
      return false;
    }
  }

  /** Frames are applied together once per painted frame, however many arrive. */
  #enqueue(frame: FeedFrame): void {
    this.received(frame);
    this.#waiting.push(frame);
    if (this.#scheduled) return;
    this.#scheduled = true;
    if (document.visibilityState === "visible") {
      requestAnimationFrame(() => this.#flush());
    } else setTimeout(() => this.#flush(), HIDDEN_FRAME_MS);
  }

  #flush(): void {
    this.#scheduled = false;
    if (this.#waiting.length === 0) return;
    const before = this.conversation;
    this.conversation = this.#waiting.reduce(fold, before);
    this.#waiting = [];
    const now = this.conversation;
    if (!now) return;
    if (now.session !== before?.session || now.running !== before.running) {
      this.changed(now);
    }
  }
}
