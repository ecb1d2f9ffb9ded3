// ai.languageModel: Chrome's Prompt API over text sessions.
import type {
  AI,
  LanguageModelSession,
  PromptMessage,
  StreamToken,
  TextAvailability,
  TextSession,
} from "./api.js";
import * as take from "./arguments.js";
import type { Builtins } from "./builtins.js";

/** The part of a conversation for the system prompt of the one that continues it. */
const MAX_TRANSCRIPT = 80_000;
const ROLES = ["system", "user", "assistant"];
const STATES = {
  readily: "available",
  "after-download": "downloadable",
  no: "unavailable",
} as const;

/** A conversation as text, its end where it is long. */
export function transcript(messages: readonly PromptMessage[]): string {
  let text = "";
  for (const { role, content } of messages) {
    text += `${role === "user" ? "User" : "Assistant"}: ${content}\n\n`;
  }
  return text.slice(-MAX_TRANSCRIPT).trimEnd();
}

export interface Begin {
  fields: Record<string, unknown>;
  systemPrompt: string | undefined;
  history: PromptMessage[];
}

export function makeLanguageModel(
  built: Builtins,
  begin: (request: Begin) => Promise<TextSession>,
  canCreate: (given?: unknown) => Promise<TextAvailability>,
): AI["languageModel"] {
  const { freeze } = built;

  async function create(given?: unknown): Promise<LanguageModelSession> {
    const fields = take.options(given, "languageModel.create");
    const initial = messagesOf(fields["initialPrompts"] ?? []);
    const system = initial.filter(({ role }) => role === "system");
    const named = take.optionalText(fields["systemPrompt"], "systemPrompt");
    const all = [named, ...system.map(({ content }) => content)];
    const systemPrompt = all.filter(Boolean).join("\n\n") || undefined;
    const history = initial.filter(({ role }) => role !== "system");
    return wrap(await begin({ fields, systemPrompt, history }));
  }

  function wrap(session: TextSession): LanguageModelSession {
    return freeze({
      prompt: freeze((input, options) =>
        session.prompt(inputOf(input), options),
      ),
      promptStreaming: freeze((input, options) =>
        streamOf(session, inputOf(input), options),
      ),
      clone: freeze(async (options) => wrap(await session.clone(options))),
      destroy: freeze(() => {
        session.destroy().catch(() => undefined);
      }),
    } satisfies LanguageModelSession);
  }

  return freeze({
    availability: freeze(
      async (given?: unknown) => STATES[await canCreate(given)],
    ),
    create: freeze(create),
  });
}

function streamOf(
  session: TextSession,
  input: string,
  options: Parameters<TextSession["promptStreaming"]>[1],
): ReadableStream<string> {
  const events = session.promptStreaming(input, options);
  return new ReadableStream<string>({
    async pull(to) {
      const next = await events.next();
      const value = next.value as StreamToken;
      if (next.done === true || value.type === "done") to.close();
      else if (value.type === "error") to.error(value.error);
      else to.enqueue(value.token ?? "");
    },
    async cancel() {
      await events.return?.();
    },
  });
}

function messagesOf(given: unknown): PromptMessage[] {
  if (!Array.isArray(given)) throw take.invalid("Prompts must be an array");
  return given.map((one: unknown) => {
    const { role, content } = take.options(one, "A prompt");
    if (typeof role !== "string" || !ROLES.includes(role)) {
      throw take.invalid(`role must be one of ${ROLES.join(", ")}`);
    }
    const text = take.text(content, "content");
    return { role: role as PromptMessage["role"], content: text };
  });
}

/** A prompt as one text. */
function inputOf(given: unknown): string {
  if (typeof given === "string") return take.text(given, "The prompt");
  const messages = messagesOf(given);
  const plain = messages.every(({ role }) => role === "user");
  const text = plain
    ? messages.map(({ content }) => content).join("\n\n")
    : transcript(messages);
  return take.text(text, "The prompt");
}
