// How requests are sent and how error answers become errors.
import { expect, test, vi } from "vitest";
import { GangwayError } from "../src/errors.js";
import { Http } from "../src/http.js";
import { Sessions } from "../src/sessions.js";

function answering(status: number, body?: unknown) {
  const text = body === undefined ? null : JSON.stringify(body);
  return vi.fn<typeof fetch>(() =>
    Promise.resolve(new Response(text, { status })),
  );
}

test("a request carries its path, query, key and JSON body", async () => {
  const fetch = answering(202, { streamId: "t1", sessionId: "a/b" });
  const http = new Http({ baseUrl: "http://host/", apiKey: "k", fetch });
  const sessions = new Sessions(http);

  await sessions.send("a/b", { prompt: "Hi" });
  await sessions.list({ limit: 5, before: undefined });

  expect(fetch.mock.calls).toEqual([
    [
      "http://host/api/sessions/a%2Fb/messages",
      {
        method: "POST",
        headers: {
          accept: "application/json",
          authorization: "Bearer k",
          "content-type": "application/json",
        },
        body: '{"prompt":"Hi"}',
      },
    ],
    [
      "http://host/api/sessions?limit=5",
      {
        method: "GET",
        headers: { accept: "application/json", authorization: "Bearer k" },
      },
    ],
  ]);
});

test("the error envelope becomes an error with its code", async () => {
  const fetch = answering(429, {
    status: 429,
    error_code: "too_many_sessions",
    message: "Close one first.",
    retryable: true,
    retry_after_seconds: 3,
  });
  await expect(new Http({ fetch }).get("/x")).rejects.toMatchObject({
    name: "GangwayError",
    code: "too_many_sessions",
    status: 429,
    message: "Close one first.",
    retryable: true,
    retryAfterSeconds: 3,
  });
});

test("an error answer that is not ours still becomes an error", async () => {
  const fetch = vi.fn<typeof globalThis.fetch>(() =>
    Promise.resolve(new Response("<h1>Bad gateway</h1>", { status: 502 })),
  );
  await expect(new Http({ fetch }).get("/x")).rejects.toMatchObject({
    code: "http_502",
    status: 502,
    retryable: true,
  });
});

test("an answer without a body is fine", async () => {
  const http = new Http({ fetch: answering(204) });
  await expect(new Sessions(http).delete("s1")).resolves.toBeUndefined();
});

test("no answer at all is an error that may be tried again", async () => {
  const fetch = () => Promise.reject(new TypeError("Failed to fetch"));
  const failure = new Http({ fetch }).get("/x");
  await expect(failure).rejects.toBeInstanceOf(GangwayError);
  await expect(failure).rejects.toMatchObject({
    code: "unreachable",
    status: 0,
    retryable: true,
  });
});

test("an aborted request keeps its own error", async () => {
  const stop = new AbortController();
  stop.abort();
  const fetch = () => Promise.reject(stop.signal.reason as Error);
  const failure = new Http({ fetch }).get("/x", { signal: stop.signal });
  await expect(failure).rejects.toBe(stop.signal.reason);
});
