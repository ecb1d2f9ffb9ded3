// One open chat: its conversation, its feed, and what a person can do in it.
import {
  fold,
  GangwayError,
  prepend,
  SessionFeed,
  turnsOf,
  type Applets,
  type Conversation,
  type Entry,
  type FeedFrame,
  type FeedState,
  type Session,
  type Sessions,
  type Turn,
} from "@gangway/client";
import { SvelteMap } from "svelte/reactivity";
import { EventLogState } from "./event-log.svelte.js";
import { SpeakersState } from "./speakers.svelte.js";

/** What a chat tells the rest of the page. */
export interface ChatEvents {
  /** A new chat got its session. */
  created: (session: Session) => void;
  changed: (session: Session) => void;
  deleted: (sessionId: string) => void;
  /** Somebody asked for this page to be loaded anew, or for one applet in it. */
  reload: (applet: string | null) => void;
  /** The agent wants an applet to be seen beside this chat. */
  opened: (applet: string) => void;
  /** The person chose an agent. */
  choseAgent: (agent: string) => void;
}

export type Question = Extract<Entry, { role: "question" }>;

// A page that was loaded just now is as new as it can be: whoever asks for it
// again and again cannot keep it from being used.
const FRESH_MS = 3000;
// A hidden tab draws no frames, but its title and list should still follow.
const HIDDEN_FRAME_MS = 250;
// Pages of history overlap by so many entries: a tool call just before the edge
// of a page has its result just after it.
const OVERLAP = 20;

export class ChatState {
  readonly #sessions: Sessions;
  readonly #events: ChatEvents;
  #feed: SessionFeed | null = null;
  #creating: Promise<string> | null = null;
  #waiting: FeedFrame[] = [];
  #scheduled = false;

  /** Which applets may speak here. */
  readonly speakers: SpeakersState;
  sessionId: string | null = $state(null);
  conversation: Conversation | null = $state.raw(null);
  feedState: FeedState = $state("connecting");
  /** Why this chat cannot be shown at all. */
  failure: GangwayError | null = $state.raw(null);
  /** Why the last action did not work. */
  problem: GangwayError | null = $state.raw(null);
  sending = $state(false);
  loadingOlder = $state(false);
  /** The agent a new chat will be created with. */
  chosenAgent: string | null = $state(null);
  /** Counts what this person sent, so that the view can go to the end. */
  sent = $state(0);
  /** Answers on their way, so that no question is answered twice. */
  readonly #given = new SvelteMap<string, string>();

  constructor(
    sessions: Sessions,
    applets: Applets,
    events: ChatEvents,
    sessionId: string | null = null,
  ) {
    this.#sessions = sessions;
    this.#events = events;
    this.speakers = new SpeakersState(applets);
    if (sessionId) this.#follow(sessionId);
  }

  get running(): boolean {
    return this.conversation?.running != null;
  }

  readonly #all: Turn[] = $derived(turnsOf(this.conversation?.entries ?? []));

  /** What the chat shows: of a hidden turn, only a question that nobody else could answer. */
  readonly turns: Turn[] = $derived(
    this.#all.flatMap((turn) => {
      if (!turn.hidden) return [turn];
      const { question } = this;
      const entries = turn.entries.filter((entry) => entry === question);
      return entries.length > 0 ? [{ ...turn, entries }] : [];
    }),
  );

  /** True while a turn runs that the chat does not show. */
  readonly background: boolean = $derived(
    this.#all.some(
      ({ streamId, hidden }) =>
        hidden && streamId === this.conversation?.running,
    ),
  );

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

  /** True until there is something to show. */
  get loading(): boolean {
    return this.sessionId !== null && !this.conversation && !this.failure;
  }

  async send(prompt: string): Promise<boolean> {
    this.sending = true;
    const accepted = await this.#try(async () => {
      const id = await this.#session();
      await this.#sessions.send(id, { prompt });
      this.sent += 1;
    });
    this.sending = false;
    return accepted;
  }

  /** Gives a new chat its session before its first message. */
  async begin(): Promise<boolean> {
    return this.#try(() => this.#session());
  }

  /** Every event of this chat, for as long as somebody looks at it. */
  eventLog(): EventLogState | null {
    const { conversation, sessionId } = this;
    if (!conversation || sessionId === null) return null;
    return new EventLogState(this.#sessions, sessionId, conversation.seq);
  }

  async stop(): Promise<void> {
    const id = this.sessionId;
    if (id && this.running) await this.#try(() => this.#sessions.stop(id));
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
    if (this.answerTo(question) !== null) return false;
    const [id, { questionId }] = [this.sessionId ?? "", question];
    this.#given.set(questionId, answer);
    // A second Enter must not send the same words as a prompt.
    this.sending = true;
    const accepted = await this.#try(() =>
      this.#sessions.answer(id, questionId, answer),
    );
    this.sending = false;
    if (accepted) this.sent += 1;
    else this.#given.delete(questionId);
    return accepted;
  }

  /** Uses another agent from the next prompt on. */
  async useAgent(agent: string): Promise<boolean> {
    this.#events.choseAgent(agent);
    const id = this.sessionId;
    if (!id) {
      this.chosenAgent = agent;
      return true;
    }
    return this.#try(async () => {
      const session = await this.#sessions.update(id, { agent });
      if (this.conversation) {
        this.conversation = { ...this.conversation, session };
      }
      this.#events.changed(session);
    });
  }

  /** Switches to the demo agent and repeats a prompt that found no model. */
  async tryDemo(): Promise<void> {
    const last = this.conversation?.entries.findLast(
      (entry): entry is Extract<Entry, { role: "error" }> =>
        entry.role === "error",
    );
    const latest = this.conversation?.entries.at(-1)?.streamId;
    const failed = last?.code === "no_model" && last.streamId === latest;
    if ((await this.useAgent("demo")) && failed) {
      await this.retry(last.streamId);
    }
  }

  async older(): Promise<void> {
    const entries = this.conversation?.entries ?? [];
    const edge = entries[OVERLAP] ?? entries.at(-1);
    const id = this.sessionId;
    if (!id || !edge || this.loadingOlder) return;
    this.loadingOlder = true;
    await this.#try(async () => {
      const page = await this.#sessions.history(id, { before: edge.seq });
      if (this.conversation)
        this.conversation = prepend(this.conversation, page);
    });
    this.loadingOlder = false;
  }

  reconnect(): void {
    this.#feed?.reconnect();
  }

  dispose(): void {
    this.#feed?.dispose();
    this.speakers.dispose();
  }

  /** The session, made now where there is none; two that ask at once get the same. */
  #session(): Promise<string> {
    if (this.sessionId !== null) return Promise.resolve(this.sessionId);
    this.#creating ??= this.#create().finally(() => (this.#creating = null));
    return this.#creating;
  }

  async #create(): Promise<string> {
    const agent = this.chosenAgent;
    const session = await this.#sessions.create(agent ? { agent } : {});
    this.#follow(session.sessionId);
    this.#events.created(session);
    return session.sessionId;
  }

  #follow(sessionId: string): void {
    this.sessionId = sessionId;
    this.speakers.of(sessionId);
    this.#feed = new SessionFeed(sessionId, {
      sessions: this.#sessions,
      onFrame: (frame) => this.#enqueue(frame),
      onState: (state, error) => {
        this.feedState = state;
        // The feed is the proof that the server can be reached again.
        if (state === "live" && this.problem?.code === "unreachable") {
          this.problem = null;
        }
        if (!error) return;
        this.failure = error;
        if (error.status === 404 || error.status === 410) {
          this.#events.deleted(sessionId);
        }
      },
    });
  }

  /** Frames are applied together once per painted frame, however many arrive. */
  #enqueue(frame: FeedFrame): void {
    if (frame.type === "page.reload") {
      const fresh = performance.now() <= FRESH_MS;
      if (frame.applet !== null || !fresh) this.#events.reload(frame.applet);
    }
    if (frame.type === "applet.open") this.#events.opened(frame.applet);
    this.speakers.heard(frame);
    this.#waiting.push(frame);
    if (this.#scheduled) return;
    this.#scheduled = true;
    if (document.visibilityState === "visible") {
      requestAnimationFrame(() => this.#flush());
    } else setTimeout(() => this.#flush(), HIDDEN_FRAME_MS);
  }

  #flush(): void {
    this.#scheduled = false;
    const before = this.conversation;
    this.conversation = this.#waiting.reduce(fold, before);
    this.#waiting = [];
    const now = this.conversation;
    if (!now) return;
    if (now.session !== before?.session || now.running !== before.running) {
      const state = now.running === null ? "idle" : "running";
      this.#events.changed({ ...now.session, state });
    }
  }

  async #try(action: () => Promise<unknown>): Promise<boolean> {
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
}
