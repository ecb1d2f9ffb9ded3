// One open chat of this page: its session, made when it is needed, its agent and its applets.
import {
  type Applets,
  type Conversation,
  type Entry,
  type FeedFrame,
  type GangwayError,
  type Session,
  type Sessions,
} from "@gangway/client";
import {
  ConversationState,
  sessionSource,
  type Source,
} from "@gangway/kit/chat/conversation.svelte.js";
import { EventLogState } from "../applets/event-log.svelte.js";
import { SpeakersState } from "../applets/speakers.svelte.js";
import { InvitationsState } from "./invitations.svelte.js";

/** Events of a chat for the rest of the page. */
export interface ChatEvents {
  /** A new chat got its session. */
  created: (session: Session) => void;
  changed: (session: Session) => void;
  deleted: (sessionId: string) => void;
  /** A reload of this page, or of one applet in it, was requested. */
  reload: (applet: string | null) => void;
  /** The agent wants an applet to be seen beside this chat. */
  opened: (applet: string) => void;
  /** The person chose an agent. */
  choseAgent: (agent: string) => void;
}

// A page that was just loaded is up to date: a request to reload it
// again and again cannot keep it from being used.
const FRESH_MS = 3000;

export class ChatState extends ConversationState {
  readonly #sessions: Sessions;
  readonly #events: ChatEvents;
  #creating: Promise<Source> | null = null;
  /** The turn of the last prompt from this page. */
  #posted: string | null = $state(null);

  /** The consent of applets in this session. */
  readonly speakers: SpeakersState;
  sessionId: string | null = $state(null);
  /** The agent a new chat will be created with. */
  chosenAgent: string | null = $state(null);

  constructor(
    sessions: Sessions,
    applets: Applets,
    events: ChatEvents,
    sessionId: string | null = null,
  ) {
    super();
    this.#sessions = sessions;
    this.#events = events;
    this.speakers = new SpeakersState(applets);
    if (sessionId) this.#follow(sessionId);
  }

  /** True until there is something to show. */
  get loading(): boolean {
    return this.sessionId !== null && !this.conversation && !this.failure;
  }

  /** True while a prompt has not been answered, from the moment it is sent. */
  get busy(): boolean {
    const {
      running,
      queued = [],
      entries = [],
      older,
    } = this.conversation ?? {};
    const posted = this.#posted;
    // The server accepts a prompt before the feed delivers it; in a long chat it may be on an earlier page.
    const delivered =
      older || entries.some(({ streamId }) => streamId === posted);
    const waiting = posted !== null && !delivered;
    return this.sending || waiting || running != null || queued.length > 0;
  }

  /** Gives a new chat its session before its first message. */
  async begin(): Promise<boolean> {
    return this.attempt(() => this.reach());
  }

  /** Every event of this chat, while the log is open. */
  eventLog(): EventLogState | null {
    const { conversation, sessionId } = this;
    if (!conversation || sessionId === null) return null;
    return new EventLogState(this.#sessions, sessionId, conversation.seq);
  }

  /** The external agents of this chat, while the dialog about them is open. */
  invitations(): InvitationsState | null {
    const { sessionId } = this;
    return sessionId === null
      ? null
      : new InvitationsState(this.#sessions, sessionId);
  }

  /** Uses another agent from the next prompt on. */
  async useAgent(agent: string): Promise<boolean> {
    this.#events.choseAgent(agent);
    const id = this.sessionId;
    if (!id) {
      this.chosenAgent = agent;
      return true;
    }
    return this.attempt(async () => {
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

  override dispose(): void {
    super.dispose();
    this.speakers.dispose();
  }

  /** The session, made now where there is none; two that ask at once get the same. */
  protected override reach(): Promise<Source> {
    if (this.sessionId !== null) return super.reach();
    this.#creating ??= this.#create().finally(() => (this.#creating = null));
    return this.#creating;
  }

  protected override received(frame: FeedFrame): void {
    if (frame.type === "page.reload") {
      const fresh = performance.now() <= FRESH_MS;
      if (frame.applet !== null || !fresh) this.#events.reload(frame.applet);
    }
    if (frame.type === "applet.open") this.#events.opened(frame.applet);
    this.speakers.received(frame);
  }

  protected override changed({ session, running }: Conversation): void {
    const state = running === null ? "idle" : "running";
    this.#events.changed({ ...session, state });
  }

  protected override lost({ status }: GangwayError): void {
    const gone = status === 404 || status === 410;
    if (gone && this.sessionId) this.#events.deleted(this.sessionId);
  }

  async #create(): Promise<Source> {
    const agent = this.chosenAgent;
    const session = await this.#sessions.create(agent ? { agent } : {});
    const source = this.#follow(session.sessionId);
    this.#events.created(session);
    return source;
  }

  #follow(sessionId: string): Source {
    this.sessionId = sessionId;
    this.speakers.of(sessionId);
    const source: Source = {
      ...sessionSource(this.#sessions, sessionId),
      send: async (prompt) => {
        const accepted = await this.#sessions.send(sessionId, { prompt });
        this.#posted = accepted.streamId;
      },
    };
    this.attach(source);
    return source;
  }
}
