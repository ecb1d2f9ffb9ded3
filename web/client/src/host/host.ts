// Makes a page driveable: joins the relay as a host, answers agents, and sends them updates.
import { GangwayError } from "../errors.js";
import type { RelayFromHost, RelayJoin } from "../generated/wire.js";
import { LiveSocket, type LiveState } from "../live.js";
import { Line, problemOf, readCall, runCall } from "./calls.js";
import type { HostEvents, HostOptions } from "./options.js";
import { Outbox } from "./outbox.js";
import {
  HISTORY_IN_SNAPSHOTS,
  HISTORY_IN_UPDATES,
  surfacesOf,
  type Snapshot,
} from "./snapshot.js";
import { Toolbox } from "./tools.js";
import {
  BUFFERED_BYTES,
  LARGEST_MESSAGE,
  farewell,
  LONGEST_TEXT,
  textOf,
  readEnvelope,
  relayAddress,
  studyOf,
  ToolError,
  tooLarge,
  writeEnvelope,
  type Envelope,
  type ProblemCode,
  type Source,
} from "./wire.js";

// Less than the timeout of the relay, so that the error comes from here.
const TOOL_SECONDS = 25;
const DRAIN_MS = 100;

export class Host {
  readonly #options: HostOptions;
  readonly #toolbox: Toolbox;
  readonly #line = new Line();
  readonly #outbox = new Outbox();
  readonly #client = crypto.randomUUID();
  readonly #stop = new AbortController();
  readonly #listeners: {
    [K in keyof HostEvents]?: Set<(...news: HostEvents[K]) => void>;
  } = {};
  readonly #answers = new Map([
    ["snapshot.get", (asked: Envelope) => this.#answerSnapshot(asked)],
    ["tool.call", (asked: Envelope) => this.#answerCall(asked)],
    ["session.start", (asked: Envelope) => this.#startSession(asked)],
    ["session.reset", (asked: Envelope) => this.#resetSession(asked)],
    ["session.end", (asked: Envelope) => this.#endSession(asked)],
  ]);
  #live: LiveSocket;
  #joined = false;
  #seq: number | undefined;
  #lastId = 0;
  #agents = 0;
  #study: string | null = null;
  /** The source of a change that was not sent to agents yet. */
  #dirty: Source | null = "stage";
  /** Why the connection is given up. */
  #why: GangwayError | undefined;
  #flushing = false;
  /** Updates during a call are part of its result. */
  #running = false;

  constructor(options: HostOptions) {
    this.#options = options;
    this.#toolbox = new Toolbox(options.tools ?? {}, options.webMcp ?? true);
    this.#toolbox.onChange(() => void this.#tellTools(), this.#stop.signal);
    // In the replay of a session a page joins nothing.
    if (window.__AGENT_CONTEXT__?.replay) this.#stop.abort();
    this.#live = this.#connect();
  }

  get status(): LiveState {
    const { state } = this.#live;
    return state === "live" && !this.#joined ? "connecting" : state;
  }

  /** How many agents are there, as far as it is known. */
  get agents(): number {
    return this.#agents;
  }

  /** The id of the study session that is open. */
  get studySession(): string | null {
    return this.#study;
  }

  /** Calls back at each event; gives back how to stop. */
  on<K extends keyof HostEvents>(
    event: K,
    listener: (...news: HostEvents[K]) => void,
  ): () => void {
    const all = (this.#listeners[event] ??= new Set() as never);
    all.add(listener);
    return () => void all.delete(listener);
  }

  /** Reports a change of the page. Several changes in one task are sent once. */
  update(source?: Source): void {
    // Unless it says that the person did it: their step is not the agent's.
    if (this.#running && source !== "user") return;
    this.#dirty = source ?? "user";
    if (this.#flushing) return;
    this.#flushing = true;
    queueMicrotask(() => {
      this.#flushing = false;
      this.#tellState();
    });
  }

  /** Passes on what the person wrote. */
  userMessage(text: string, stage?: string): void {
    const where = stage === undefined ? {} : { stage };
    this.#send("user.message", { text: text.slice(0, LONGEST_TEXT), ...where });
  }

  /** Tries at once instead of waiting; after another page took this one's place, takes it back. */
  reconnect(): void {
    if (this.#stop.signal.aborted) return;
    if (this.#live.state === "closed") this.#live = this.#connect();
    else this.#live.reconnect();
  }

  close(): void {
    this.#stop.abort();
  }

  #connect(): LiveSocket {
    const { url, key, WebSocket, random } = this.#options;
    const live: LiveSocket = new LiveSocket({
      url: () => relayAddress(url),
      onOpen: () => this.#join(live),
      onMessage: (data) => this.#receive(data),
      onState: (state, error) => {
        // Between open and joined the visible status is the same.
        if (state === "live") return;
        this.#joined = false;
        this.#emit("status", state, error ?? this.#why);
        this.#setAgents(0);
      },
      key,
      WebSocket,
      random,
      signal: this.#stop.signal,
    });
    return live;
  }

  #join(live: LiveSocket): void {
    const { session, token, gangwaySession } = this.#options;
    this.#joined = false;
    this.#why = undefined;
    const payload: RelayJoin = {
      ...{ role: "host", sessionId: session, clientId: this.#client },
      ...{ presence: true },
      ...(this.#seq !== undefined && { since: this.#seq }),
      ...(token !== undefined && { token }),
      ...(gangwaySession !== undefined && { gangwaySession }),
    };
    live.send(writeEnvelope({ type: "relay.join", id: "join", payload }));
  }

  #receive(data: unknown): void {
    const message = readEnvelope(data);
    if (!message) return;
    if (message.seq !== undefined) {
      this.#seq = Math.max(this.#seq ?? 0, message.seq);
    }
    const { type, payload } = message;
    if (type === "relay.joined") this.#onJoined(payload);
    else if (type === "relay.presence") this.#setAgents(payload["agents"]);
    else if (type === "error") this.#onProblem(message);
    else if (type === "agent.message") this.#onAgentMessage(message);
    else if (type === "agent.status")
      this.#emit("agentStatus", textOf(payload["status"]).slice(0, 200));
    else {
      const answer = this.#answers.get(type);
      if (answer) this.#queue(message, () => answer(message));
    }
    // Whatever else the relay may say one day does not concern this page.
  }

  #onJoined(payload: Record<string, unknown>): void {
    this.#joined = true;
    const { studySession, agents, seq, resync } = payload;
    const begun = typeof seq === "number" && seq < (this.#seq ?? 0);
    const restarted = begun || resync === true;
    // Resume from here if the connection is lost before the first message.
    if (typeof seq === "number" && (restarted || this.#seq === undefined)) {
      this.#seq = seq;
    }
    // A relay that restarted gives its old names to new requests.
    if (restarted) this.#outbox.forgetAnswers();
    this.#study = typeof studySession === "string" ? studySession : null;
    for (const text of this.#outbox.take()) this.#live.send(text);
    this.#emit("status", "live");
    this.#setAgents(agents);
    // Agents may have missed updates of the last connection.
    this.#dirty ??= "stage";
    this.#tellState();
  }

  #setAgents(agents: unknown): void {
    if (typeof agents !== "number" || agents === this.#agents) return;
    this.#agents = agents;
    this.#emit("presence", agents);
  }

  #onProblem(message: Envelope): void {
    const why = farewell(message);
    if (why) {
      this.#why = why;
      this.#live.dispose();
      return;
    }
    const { replyTo, payload } = message;
    this.#emit("problem", textOf(payload["code"]), textOf(payload["message"]));
    if (replyTo === "join") this.#live.renew();
  }

  #onAgentMessage(message: Envelope): void {
    const { text } = message.payload;
    if (typeof text === "string" && text.trim() !== "") {
      this.#emit("message", text.slice(0, LONGEST_TEXT));
    } else {
      const problem = new ToolError("INVALID_MESSAGE", "text is missing.");
      this.#refuse(message, problem);
    }
  }

  /** Does one thing at a time, and never the same request twice. */
  #queue(message: Envelope, work: () => Promise<void>): void {
    const { id } = message;
    const known = id === undefined ? null : this.#outbox.answered(id);
    if (known !== null) {
      if (known !== "") this.#sendText(known);
      return;
    }
    if (id !== undefined) this.#outbox.begin(id);
    try {
      this.#line.add(async () => {
        try {
          await work();
        } catch (error) {
          this.#refuse(message, problemOf(error));
        }
      });
    } catch (error) {
      this.#refuse(message, problemOf(error));
    }
  }

  async #answerSnapshot(message: Envelope): Promise<void> {
    const toolSchema = await this.#toolbox.list();
    this.#reply(message, "snapshot.state", {
      sessionId: this.#study,
      ...surfacesOf(this.#snapshot(), HISTORY_IN_SNAPSHOTS),
      toolSchema,
    });
  }

  async #answerCall(message: Envelope): Promise<void> {
    const call = readCall(message.payload);
    if (!this.#snapshot().uiSpec) {
      throw new ToolError(
        "NO_ACTIVE_SPEC",
        "The page has no state yet. Wait for state.updated and try again.",
      );
    }
    const { toolSeconds = TOOL_SECONDS } = this.#options;
    const signal = AbortSignal.any([
      this.#stop.signal,
      AbortSignal.timeout(toolSeconds * 1000),
    ]);
    this.#running = true;
    try {
      const result = await runCall(this.#toolbox, call, signal);
      this.#emit("call", { ...call, ok: true });
      this.#reply(message, "tool.result", {
        ...{ ok: true, toolName: call.toolName },
        ...surfacesOf(this.#snapshot(), HISTORY_IN_UPDATES),
        ...(result !== undefined && { result }),
      });
    } catch (error) {
      const { code, message } = problemOf(error);
      this.#emit("call", { ...call, ok: false, code, message });
      throw error;
    } finally {
      this.#running = false;
      // A call that failed may have changed something too, such as seats that are gone.
      this.update("agent");
    }
  }

  async #startSession(message: Envelope): Promise<void> {
    const session = studyOf(message.payload);
    const { sessionId } = session;
    let setup: unknown;
    // A repeated start continues the session: the participant's progress stays.
    if (sessionId !== this.#study) {
      setup = await this.#options.onSession?.start?.(session);
      this.#study = sessionId;
      this.#emit("session", session);
    }
    const kept = setup === undefined ? {} : { setup };
    this.#reply(message, "session.started", { sessionId, ...kept });
    this.update("stage");
  }

  async #resetSession(message: Envelope): Promise<void> {
    const { onSession = {} } = this.#options;
    const reset = onSession.reset ?? onSession.end;
    await reset?.(textOf(message.payload["reason"]));
    await this.#answerSnapshot(message);
    this.update("stage");
  }

  async #endSession(message: Envelope): Promise<void> {
    const { reason } = message.payload;
    await this.#options.onSession?.end?.(textOf(reason));
    const sessionId = this.#study;
    this.#study = null;
    this.#emit("session", null);
    this.#reply(message, "session.ended", { sessionId, stateReset: true });
    this.update("stage");
  }

  #snapshot(): Snapshot {
    const { snapshot } = this.#options;
    return snapshot ? snapshot() : { uiSpec: { title: document.title } };
  }

  #tellState(): void {
    const source = this.#dirty;
    if (source === null || !this.#joined || this.#stop.signal.aborted) return;
    if (this.#live.buffered > BUFFERED_BYTES) {
      setTimeout(() => this.#tellState(), DRAIN_MS);
      return;
    }
    const snapshot = this.#snapshot();
    if (!snapshot.uiSpec) return;
    this.#dirty = null;
    const state = surfacesOf(snapshot, HISTORY_IN_UPDATES);
    const news = this.#toolbox.news();
    this.#send("state.updated", { source, ...state, ...news });
  }

  async #tellTools(): Promise<void> {
    await this.#toolbox.renew();
    this.#dirty ??= "stage";
    this.#tellState();
  }

  #refuse(
    message: Envelope,
    { code, message: words }: { code: ProblemCode; message: string },
  ): void {
    this.#reply(message, "error", { code, message: words });
  }

  #reply(
    { id }: Envelope,
    type: RelayFromHost,
    payload: Record<string, unknown>,
  ): void {
    if (id === undefined) {
      this.#send(type, payload);
      return;
    }
    let text = writeEnvelope({ type, replyTo: id, payload });
    if (text.length > LARGEST_MESSAGE) text = tooLarge(id, text.length);
    this.#outbox.answer(id, text);
    this.#sendText(text);
  }

  #send(type: RelayFromHost, payload: Record<string, unknown>): void {
    const id = `h-${(this.#lastId += 1)}`;
    const text = writeEnvelope({ type, id, payload });
    if (text.length <= LARGEST_MESSAGE) return this.#sendText(text);
    const words = `A ${type} of ${text.length} characters was not sent.`;
    this.#emit("problem", "too_large", words);
  }

  #sendText(text: string): void {
    if (this.#stop.signal.aborted) return;
    if (!this.#joined || !this.#live.send(text)) this.#outbox.put(text);
  }

  #emit<K extends keyof HostEvents>(event: K, ...news: HostEvents[K]): void {
    for (const listener of this.#listeners[event] ?? []) listener(...news);
  }
}

/** Declares what agents may see and do on this page, and joins the relay. */
export function createHost(options: HostOptions): Host {
  return new Host(options);
}
