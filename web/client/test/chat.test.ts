// What comes of an answer in OpenAI's form, good or bad.
import { expect, test, vi } from "vitest";
import { chatOnce, streamChat, type ChatPart } from "../src/chat.js";
import { Http } from "../src/http.js";
import { streamOf } from "./streams.js";

const messages = [{ role: "user", content: "Hi" }] as const;

function event(value: unknown): string {
  return `data: ${JSON.stringify(value)}\n\n`;
}

function text(content: string): string {
  return event({ choices: [{ index: 0, delta: { content } }] });
}

const END =
  event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }) +
  event({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2 } }) +
  "data: [DONE]\n\n";

function answering(status: number, ...pieces: string[]) {
  return vi.fn<typeof fetch>(() =>
    Promise.resolve(new Response(streamOf(...pieces), { status })),
  );
}

test("a chat asks for a stream and puts its parts together", async () => {
  const notice = event({ choices: [], gangway: { notices: ["Cut short."] } });
  const fetch = answering(200, notice, text("Hel"), text("lo"), END);
  const http = new Http({ baseUrl: "http://host", fetch });
  expect(await chatOnce(http, { model: "a/b", messages })).toEqual({
    text: "Hello",
    notices: ["Cut short."],
    usage: { input: 3, output: 2 },
    reason: "stop",
  });
  const [url, init] = fetch.mock.calls[0] ?? [];
  expect(url).toBe("http://host/v1/chat/completions");
  expect(JSON.parse(init?.body as string)).toEqual({
    model: "a/b",
    messages,
    stream: true,
    stream_options: { include_usage: true },
  });
});

test("without a model the default is asked", async () => {
  const fetch = answering(200, END);
  await chatOnce(new Http({ fetch }), { messages });
  const body = JSON.parse(fetch.mock.calls[0]?.[1]?.body as string) as object;
  expect(body).not.toHaveProperty("model");
});

test("an error response contains the provider's message", async () => {
  const error = {
    message: "The model answered 401.",
    type: "server_error",
    param: null,
    code: "ERR_MODEL_FAILED",
    details: "Incorrect API key",
  };
  const fetch = answering(502, JSON.stringify({ error }));
  await expect(
    chatOnce(new Http({ fetch }), { messages }),
  ).rejects.toMatchObject({
    code: "ERR_MODEL_FAILED",
    status: 502,
    retryable: true,
    message: "The model answered 401.",
    details: "Incorrect API key",
  });
});

test("an error in the middle comes after what was said before it", async () => {
  const error = { message: "It stopped.", code: null, details: "oom" };
  const fetch = answering(200, text("Half"), event({ error }));
  const parts: ChatPart[] = [];
  const reading = async () => {
    for await (const part of streamChat(new Http({ fetch }), { messages })) {
      parts.push(part);
    }
  };
  await expect(reading()).rejects.toMatchObject({
    code: "model_failed",
    message: "It stopped.",
    details: "oom",
  });
  expect(parts).toEqual([{ type: "text", text: "Half" }]);
});

test("a stream that ends too early is an error", async () => {
  const fetch = answering(200, text("Half"));
  await expect(
    chatOnce(new Http({ fetch }), { messages }),
  ).rejects.toMatchObject({ code: "broke_off", retryable: true });
});

test("a stream that breaks is an error that may be tried again", async () => {
  const broken = new ReadableStream<Uint8Array>({
    pull: (control) => control.error(new TypeError("network error")),
  });
  const fetch = () => Promise.resolve(new Response(broken));
  await expect(
    chatOnce(new Http({ fetch }), { messages }),
  ).rejects.toMatchObject({ code: "broke_off", retryable: true });
});

test("an event that is no JSON is an answer that cannot be read", async () => {
  const fetch = answering(200, "data: <html>\n\n");
  await expect(
    chatOnce(new Http({ fetch }), { messages }),
  ).rejects.toMatchObject({ code: "bad_answer" });
});

test("an aborted stream keeps its own error", async () => {
  const stop = new AbortController();
  const hanging = new ReadableStream<Uint8Array>({
    start: (control) =>
      stop.signal.addEventListener("abort", () =>
        control.error(stop.signal.reason),
      ),
  });
  const fetch = () => Promise.resolve(new Response(hanging));
  const { signal } = stop;
  const asking = chatOnce(new Http({ fetch }), { messages, signal });
  stop.abort();
  await expect(asking).rejects.toBe(signal.reason);
});
