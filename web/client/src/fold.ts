// What a conversation looks like after each frame of its feed; pure functions only.
import type {
  ContextUse,
  Entry,
  FeedFrame,
  History,
  Session,
  Snapshot,
} from "./generated/wire.js";

export interface Conversation {
  readonly session: Session;
  /** The number of the last frame that was applied. */
  readonly seq: number;
  readonly entries: readonly Entry[];
  /** Whether the server holds entries before the first one here. */
  readonly older: boolean;
  /** The stream that runs now. */
  readonly running: string | null;
  /** Streams whose turn has not begun. */
  readonly queued: readonly string[];
  /** Context usage, once it was reported. */
  readonly context: ContextUse | null;
}

/** The types of messages on the relay that people read. */
const MESSAGES = ["agent.message", "user.message"];

type Numbered = Extract<FeedFrame, { seq: number }>;
type Assistant = Extract<Entry, { role: "assistant" }>;
type Tool = Extract<Entry, { role: "tool" }>;

/** Applies one frame. Frames before the first snapshot change nothing. */
export function fold(
  conversation: Conversation | null,
  frame: FeedFrame,
): Conversation | null {
  if (frame.type === "snapshot" || frame.type === "resync") {
    return fromSnapshot(frame.snapshot);
  }
  if (!conversation || !("seq" in frame)) return conversation;
  if (frame.seq <= conversation.seq) return conversation;
  return { ...apply(conversation, frame), seq: frame.seq };
}

/** Prepends an older page of history. */
export function prepend(
  conversation: Conversation,
  history: History,
): Conversation {
  const known = new Set(conversation.entries.map(entryKey));
  const fresh = history.entries.filter((entry) => !known.has(entryKey(entry)));
  return {
    ...conversation,
    entries: [...fresh, ...conversation.entries],
    older: history.older,
  };
}

/** A name for an entry that stays the same while the entry grows. */
export function entryKey(entry: Entry): string {
  switch (entry.role) {
    case "assistant":
      return `assistant:${entry.messageId}`;
    case "tool":
      return `tool:${entry.toolCallId}`;
    case "question":
      return `question:${entry.questionId}`;
    case "pageCall":
      return `pageCall:${entry.callId}`;
    default:
      return `${entry.role}:${entry.seq}`;
  }
}

function fromSnapshot(snapshot: Snapshot): Conversation {
  const { session, seq, entries, older, running, queued, context } = snapshot;
  return { session, seq, entries, older, running, queued, context };
}

function apply(at: Conversation, frame: Numbered): Conversation {
  switch (frame.type) {
    case "user.message": {
      const { seq, at: time, streamId, prompt: content, source } = frame;
      const added = add(at, {
        role: "user",
        seq,
        at: time,
        streamId,
        hidden: !frame.showInChat,
        content,
        source,
      });
      return { ...added, queued: [...at.queued, streamId] };
    }
    case "assistant.turn_start":
      return {
        ...at,
        running: frame.streamId,
        queued: without(at.queued, frame.streamId),
      };
    case "assistant.message_delta":
      return change(at, assistant(at, frame), {
        content: (text) => text + frame.delta,
        streaming: true,
        partial: false,
      });
    case "assistant.message":
      return change(at, assistant(at, frame), {
        content: () => frame.content,
        streaming: false,
        partial: frame.partial,
      });
    case "tool.execution_start":
      return add(at, toolEntry(at, frame));
    case "tool.execution_complete":
      return completeTool(at, frame);
    case "session.question": {
      const { type: _, ...question } = frame;
      const hidden = isHidden(at, frame.streamId);
      return add(at, { role: "question", hidden, ...question, answer: null });
    }
    case "session.answer":
      return {
        ...at,
        entries: at.entries.map((entry) =>
          entry.role === "question" && entry.questionId === frame.questionId
            ? { ...entry, answer: frame.answer }
            : entry,
        ),
      };
    case "session.notice": {
      const { type: _, ...notice } = frame;
      const hidden = isHidden(at, frame.streamId);
      return add(at, { role: "notice", hidden, ...notice });
    }
    case "session.context": {
      const { used, window } = frame;
      return { ...at, context: { used, window } };
    }
    case "session.error": {
      const { type: _, ...error } = frame;
      const hidden = isHidden(at, frame.streamId);
      return add(at, { role: "error", hidden, ...error });
    }
    case "app": {
      // Progress is only shown while the call runs.
      if (frame.news.what === "begun") return at;
      const { type: _, ...app } = frame;
      const streamId = `${at.session.sessionId}.${frame.seq}`;
      return add(at, { role: "app", hidden: false, streamId, ...app });
    }
    case "page":
      return pageCall(at, frame);
    // The person is asked separately: a snapshot does not contain it.
    case "session.created":
    case "applet.state":
    case "applet.asks":
    case "applet.leave":
    case "applet.open":
    case "page.reload":
    case "ask.opened":
    case "ask.closed":
      return at;
    case "session.changed": {
      const { title, model, agent, at: updatedAt } = frame;
      const session = { ...at.session, title, model, agent, updatedAt };
      return { ...at, session };
    }
    case "done":
      return finish(at, frame);
    default:
      // A newer server may know more than this page.
      return at;
  }
}

function add(at: Conversation, entry: Entry): Conversation {
  return { ...at, entries: [...at.entries, entry] };
}

function without(list: readonly string[], item: string): readonly string[] {
  return list.includes(item) ? list.filter((other) => other !== item) : list;
}

/** Only the message that began a turn says whether the chat shows it. */
function isHidden(at: Conversation, streamId: string): boolean {
  return at.entries.some(
    (entry) => entry.streamId === streamId && entry.hidden,
  );
}

type MessageFrame = Extract<
  Numbered,
  { type: "assistant.message_delta" | "assistant.message" }
>;

function assistant(at: Conversation, frame: MessageFrame): Assistant {
  const found = at.entries.findLast(
    (entry): entry is Assistant =>
      entry.role === "assistant" && entry.messageId === frame.messageId,
  );
  return (
    found ?? {
      role: "assistant",
      seq: frame.seq,
      at: frame.at,
      streamId: frame.streamId,
      hidden: isHidden(at, frame.streamId),
      messageId: frame.messageId,
      content: "",
      partial: false,
      streaming: true,
    }
  );
}

function change(
  at: Conversation,
  entry: Assistant,
  to: {
    content: (text: string) => string;
    streaming: boolean;
    partial: boolean;
  },
): Conversation {
  const next = {
    ...entry,
    content: to.content(entry.content),
    streaming: to.streaming,
    partial: to.partial,
  };
  const index = at.entries.lastIndexOf(entry);
  if (index < 0) return add(at, next);
  return { ...at, entries: at.entries.with(index, next) };
}

function toolEntry(
  at: Conversation,
  frame: Extract<
    Numbered,
    { type: "tool.execution_start" | "tool.execution_complete" }
  >,
): Tool {
  return {
    role: "tool",
    seq: frame.seq,
    at: frame.at,
    streamId: frame.streamId,
    hidden: isHidden(at, frame.streamId),
    toolCallId: frame.toolCallId,
    tool: frame.tool,
    arguments: "arguments" in frame ? frame.arguments : null,
    state: "running",
    result: null,
    error: null,
  };
}

function completeTool(
  at: Conversation,
  frame: Extract<Numbered, { type: "tool.execution_complete" }>,
): Conversation {
  const index = at.entries.findLastIndex(
    (entry) => entry.role === "tool" && entry.toolCallId === frame.toolCallId,
  );
  const started = at.entries[index];
  const next: Tool = {
    ...(started?.role === "tool" ? started : toolEntry(at, frame)),
    state: frame.success ? "done" : "failed",
    result: frame.result,
    error: frame.error,
  };
  if (!started) return add(at, next);
  return { ...at, entries: at.entries.with(index, next) };
}

/** Calls of a page's tools by others than the agent of the chat; who opened and left is not part of a conversation. */
function pageCall(
  at: Conversation,
  frame: Extract<Numbered, { type: "page" }>,
): Conversation {
  const { seq, at: time, pageId, news } = frame;
  if (news.what === "called") {
    const { callId, tool, arguments: given, by } = news;
    return add(at, {
      ...{ role: "pageCall", seq, at: time, hidden: false },
      streamId: `${at.session.sessionId}.${seq}`,
      ...{ pageId, callId, tool, arguments: given, by },
      ...{ state: "running", result: null, error: null },
    });
  }
  if (news.what === "message") return pageMessage(at, frame);
  if (news.what !== "returned") return at;
  const { callId, result, error } = news;
  const state = error === null ? "done" : "failed";
  const entries = at.entries.map((entry): Entry =>
    entry.role === "pageCall" && entry.callId === callId
      ? { ...entry, state, result, error }
      : entry,
  );
  return { ...at, entries };
}

/** Messages of external agents, and of the person at a page on the relay. */
function pageMessage(
  at: Conversation,
  { seq, at: time, pageId, news }: Extract<Numbered, { type: "page" }>,
): Conversation {
  if (news.what !== "message" || !MESSAGES.includes(news.kind)) return at;
  const { payload, by } = news;
  const { text } = (payload ?? {}) as { text?: unknown };
  if (typeof text !== "string" || text === "") return at;
  return add(at, {
    ...{ role: "pageMessage", seq, at: time, hidden: false },
    streamId: `${at.session.sessionId}.${seq}`,
    ...{ pageId, content: text, by },
  });
}

function finish(
  at: Conversation,
  frame: Extract<Numbered, { type: "done" }>,
): Conversation {
  const { seq, at: time, streamId, outcome } = frame;
  // A turn that ended can leave nothing in motion, whatever frames it skipped.
  const entries = at.entries.map((entry): Entry => {
    if (entry.streamId !== streamId) return entry;
    if (entry.role === "assistant" && entry.streaming) {
      return { ...entry, streaming: false, partial: outcome !== "completed" };
    }
    if (entry.role === "tool" && entry.state === "running") {
      return { ...entry, state: "failed", error: "The turn ended first." };
    }
    return entry;
  });
  const explained = entries.some(
    (entry) => entry.role === "error" && entry.streamId === streamId,
  );
  if (outcome !== "completed" && !explained) {
    const hidden = isHidden(at, streamId);
    entries.push({ role: "end", seq, at: time, streamId, hidden, outcome });
  }
  return {
    ...at,
    session: { ...at.session, updatedAt: time },
    entries,
    running: at.running === streamId ? null : at.running,
    queued: without(at.queued, streamId),
  };
}
