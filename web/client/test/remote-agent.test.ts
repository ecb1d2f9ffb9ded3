// @vitest-environment jsdom
// The calls of a remote agent, by a server of the test's own.
import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { RemoteAgent } from "../src/embed/agent.js";
import { Http } from "../src/http.js";
import { RemoteAgents } from "../src/remote-agents.js";

interface Asked {
  line: string;
  headers: IncomingMessage["headers"];
  body: string;
}

let server: Server;
let base: string;
let asked: Asked[];
let answer: { status: number; body: unknown };
/** When set, answers wait for it. */
let held: Promise<void> | null;

beforeAll(async () => {
  server = createServer((request, response) => {
    const cors = {
      "access-control-allow-origin": "*",
      "access-control-allow-headers":
        "authorization, content-type, idempotency-key",
      "content-type": "application/json",
    };
    if (request.method === "OPTIONS") {
      response.writeHead(204, cors).end();
      return;
    }
    void (async () => {
      let body = "";
      for await (const chunk of request) body += String(chunk);
      const line = `${request.method} ${request.url}`;
      asked.push({ line, headers: request.headers, body });
      await held;
      response.writeHead(answer.status, cors);
      response.end(JSON.stringify(answer.body));
    })();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});

afterAll(() => {
  server.closeAllConnections();
  server.close();
});

beforeEach(() => {
  asked = [];
  held = null;
  answer = { status: 200, body: {} };
});

const agent = () => new RemoteAgent("ab/c", "tok", { baseUrl: base });
const ROOT = "/api/remote_agents/ab%2Fc";

test("each call goes to its own address, with the token in a header alone", async () => {
  await agent().exchange({ feature_flags: { voice_mic: true } });
  await agent().send({ text: "Hi", attachments: ["in/a.txt"] }, "m1");
  await agent().answer("q1", "Yes");
  await agent().stop();
  await agent().history({ before: 7, limit: 3 });
  expect(asked.map(({ line, body }) => [line, body])).toEqual([
    [`POST ${ROOT}/exchange`, '{"feature_flags":{"voice_mic":true}}'],
    [`POST ${ROOT}/messages`, '{"text":"Hi","attachments":["in/a.txt"]}'],
    [`POST ${ROOT}/answer`, '{"question_id":"q1","answer":"Yes"}'],
    [`POST ${ROOT}/stop`, ""],
    [`GET ${ROOT}/history?before=7&limit=3`, ""],
  ]);
  expect(asked[1]?.headers["idempotency-key"]).toBe("m1");
  for (const { headers, line } of asked) {
    expect(headers.authorization).toBe("Bearer tok");
    expect(line).not.toContain("tok");
  }
});

test("a recording goes as it is", async () => {
  answer.body = { text: "ahoy" };
  const audio = new Blob(["OggS"], { type: "audio/ogg;codecs=opus" });
  expect(await agent().transcribe(audio)).toEqual({ text: "ahoy" });
  expect(asked[0]?.line).toBe(`POST ${ROOT}/transcribe`);
  expect(asked[0]?.headers["content-type"]).toContain("audio/ogg");
});

test("an upload has its name and its type", async () => {
  answer = {
    status: 201,
    body: { path: "in/ä b.txt", name: "ä b.txt", size: 3, type: "text/plain" },
  };
  const file = new File(["abc"], "ä b.txt", { type: "text/plain" });
  const done = await agent().upload(file);
  expect(done.path).toBe("in/ä b.txt");
  expect(asked[0]?.line).toBe(`POST ${ROOT}/uploads?name=%C3%A4%20b.txt`);
  expect(asked[0]?.headers).toMatchObject({
    authorization: "Bearer tok",
    "content-type": "text/plain",
  });
  expect(asked[0]?.body).toBe("abc");
});

test("a refused upload says why", async () => {
  const message = "Files may have 25 MB at most.";
  answer = {
    status: 413,
    body: { status: 413, error_code: "upload_too_large", message },
  };
  const file = new File(["abc"], "a.bin");
  await expect(agent().upload(file)).rejects.toMatchObject({
    code: "upload_too_large",
    message,
  });
  expect(asked[0]?.headers["content-type"]).toBe("application/octet-stream");
});

test("an answer that is none is no upload", async () => {
  answer = { status: 201, body: { fine: true } };
  await expect(agent().upload(new File(["a"], "a"))).rejects.toMatchObject({
    code: "http_201",
  });
});

test("an upload can be cancelled, before it begins and on its way", async () => {
  const file = new File(["abc"], "a.txt");
  const signal = AbortSignal.abort();
  await expect(agent().upload(file, { signal })).rejects.toThrow();
  expect(asked).toEqual([]);
  const gate = new EventTarget();
  held = new Promise((resolve) => {
    gate.addEventListener("open", () => resolve());
  });
  const stop = new AbortController();
  const running = agent().upload(file, { signal: stop.signal });
  await expect.poll(() => asked.length).toBe(1);
  stop.abort();
  await expect(running).rejects.toThrow();
  gate.dispatchEvent(new Event("open"));
});

test("an unreachable server is reported", async () => {
  const nobody = new RemoteAgent("a", "t", { baseUrl: "http://127.0.0.1:1" });
  const sending = nobody.upload(new File(["a"], "a"));
  await expect(sending).rejects.toMatchObject({ code: "unreachable" });
});

test("operators create once, end, and keep projects and personas", async () => {
  const agents = new RemoteAgents(new Http({ baseUrl: base }));
  const wish = {
    project_name: "shop",
    persona_slug: "kind",
    initial_prompt: "Hello",
  };
  await agents.create(wish, "key-1");
  await agents.list();
  await agents.stop("a/1");
  await agents.putProject("shop", { folder: "/srv/shop" });
  await agents.removePersona("kind");
  expect(asked[0]?.headers["idempotency-key"]).toBe("key-1");
  expect(JSON.parse(asked[0]?.body ?? "")).toEqual(wish);
  expect(asked.map(({ line }) => line)).toEqual([
    "POST /api/remote_agents/create",
    "GET /api/remote_agents",
    "DELETE /api/remote_agents/a%2F1",
    "PUT /api/projects/shop",
    "DELETE /api/personas/kind",
  ]);
});
