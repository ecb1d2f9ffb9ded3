// Asks a model directly, without a session, through the server's OpenAI-compatible API.
import { GangwayError, isModelError } from "./errors.js";
import type { Http } from "./http.js";
import { readEvents } from "./sse.js";

export interface ChatMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

export interface ChatRequest {
  /** `provider/model`; without one the default answers. */
  model?: string | undefined;
  messages: readonly ChatMessage[];
  signal?: AbortSignal | undefined;
}

export interface ChatUsage {
  /** Tokens read. */
  input: number;
  /** Tokens written. */
  output: number;
}

export type ChatPart =
  | { type: "text"; text: string }
  /** Something to know about this answer that is no part of it. */
  | { type: "notice"; text: string }
  | { type: "usage"; usage: ChatUsage }
  /** Why the answer ended, e.g. `stop` or `length`. */
  | { type: "end"; reason: string };

const COMPLETIONS = "/v1/chat/completions";

/** Streams an answer; leaving the loop or aborting ends the request. */
export async function* streamChat(
  http: Http,
  { model, messages, signal }: ChatRequest,
): AsyncGenerator<ChatPart, void> {
  const body = {
    ...(model === undefined ? {} : { model }),
    messages,
    stream: true,
    stream_options: { include_usage: true },
  };
  const bytes = await http.stream(COMPLETIONS, { body, signal });
  try {
    for await (const data of readEvents(bytes)) {
      if (data.trim() === "[DONE]") return;
      yield* partsOf(parse(data));
    }
  } catch (cause) {
    if (signal?.aborted || cause instanceof GangwayError) throw cause;
    throw brokeOff(cause);
  }
  throw brokeOff();
}

export interface ChatAnswer {
  text: string;
  notices: string[];
  usage?: ChatUsage;
  reason?: string;
}

/** Asks and waits for the whole answer. */
export async function chatOnce(
  http: Http,
  request: ChatRequest,
): Promise<ChatAnswer> {
  const answer: ChatAnswer = { text: "", notices: [] };
  for await (const part of streamChat(http, request)) {
    if (part.type === "text") answer.text += part.text;
    else if (part.type === "notice") answer.notices.push(part.text);
    else if (part.type === "usage") answer.usage = part.usage;
    else answer.reason = part.reason;
  }
  return answer;
}

/** The parts of a chunk that are used here; servers send more. */
interface Chunk {
  choices?: {
    delta?: { content?: unknown };
    finish_reason?: unknown;
  }[];
  usage?: { prompt_tokens?: unknown; completion_tokens?: unknown } | null;
  gangway?: { notices?: unknown };
}

function* partsOf(chunk: Chunk): Generator<ChatPart> {
  const notices = chunk.gangway?.notices;
  for (const text of Array.isArray(notices) ? notices : []) {
    if (typeof text === "string") yield { type: "notice", text };
  }
  const choice = chunk.choices?.[0];
  const text = choice?.delta?.content;
  if (typeof text === "string" && text !== "") yield { type: "text", text };
  const reason = choice?.finish_reason;
  if (typeof reason === "string") yield { type: "end", reason };
  const { prompt_tokens: input, completion_tokens: output } = chunk.usage ?? {};
  if (typeof input === "number" && typeof output === "number") {
    yield { type: "usage", usage: { input, output } };
  }
}

function parse(data: string): Chunk {
  let chunk: unknown;
  try {
    chunk = JSON.parse(data);
  } catch (cause) {
    throw new GangwayError(
      "bad_answer",
      "The server's answer could not be read.",
      { cause },
    );
  }
  if (isModelError(chunk)) throw GangwayError.fromModel(chunk);
  return chunk ?? {};
}

function brokeOff(cause?: unknown): GangwayError {
  return new GangwayError(
    "broke_off",
    "The connection was lost before the answer was complete.",
    { retryable: true, cause },
  );
}
