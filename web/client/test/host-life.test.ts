// @vitest-environment jsdom
// A page over time: lost sockets, study sessions, other pages, and tools that come and go.
import { expect, test, vi } from "vitest";
import { createHost } from "../src/host/index.js";
import { freshPage, page, settle, start, tools } from "./driven-page.js";
import { RelaySocket } from "./relay-socket.js";

freshPage();

test("it comes back after a lost socket and says what was not sent", async () => {
  const first = start().open();
  await settle();
  first.drop();
  expect(page.host.status).toBe("reconnecting");
  page.host.userMessage("Are you there?", "time");
  for (let at = 0; at < 100; at += 1) page.host.userMessage(`more ${at}`);
  page.host.update();
  await vi.advanceTimersByTimeAsync(300);
  const second = RelaySocket.last();
  expect(second).not.toBe(first);
  second.open();
  await settle();
  expect(second.sent[0]?.payload).toMatchObject({ role: "host", since: 0 });
  expect(second.sent[0]?.payload["clientId"]).toBe(
    first.sent[0]?.payload["clientId"],
  );
  const said = second.of("user.message").map(({ payload }) => payload["text"]);
  // The oldest make room for the newest.
  expect(said).toHaveLength(64);
  expect(said.at(-1)).toBe("more 99");
  expect(second.of("state.updated")).toHaveLength(1);
});

test("a request that comes again after a reconnect is answered, not done, again", async () => {
  const first = start().open();
  first.call("c1", "add", { by: 1 });
  await settle();
  first.drop();
  await vi.advanceTimersByTimeAsync(300);
  const second = RelaySocket.last().open();
  second.call("c1", "add", { by: 1 });
  await settle();
  expect(page.count).toBe(1);
  expect(second.answer("c1")?.payload["ok"]).toBe(true);
});

test("a restarted relay reuses request ids", async () => {
  const first = start().open({ seq: 900 });
  first.call("c1", "add", { by: 1 }, "first");
  await settle();
  first.drop();
  await vi.advanceTimersByTimeAsync(300);
  const second = RelaySocket.last().open({ seq: 2 });
  expect(second.sent[0]?.payload).toMatchObject({ since: 901 });
  second.call("c1", "add", { by: 1 }, "another");
  await settle();
  expect(page.count).toBe(2);
  second.drop();
  await vi.advanceTimersByTimeAsync(600);
  const third = RelaySocket.last().open({ seq: 5 });
  expect(third.sent[0]?.payload).toMatchObject({ since: 3 });
});

test("a page whose place was taken does not fight for it, and can take it back", async () => {
  const socket = start().open();
  const news: unknown[] = [];
  page.host.on("status", (status, error) => news.push([status, error?.code]));
  const code = "SESSION_NOT_ACTIVE";
  const replaced = true;
  socket.say("error", { code, message: "another has joined", replaced });
  socket.drop();
  await vi.advanceTimersByTimeAsync(60_000);
  expect(news).toEqual([["closed", "replaced"]]);
  expect(RelaySocket.all).toHaveLength(1);
  page.host.reconnect();
  RelaySocket.last().open();
  expect(page.host.status).toBe("live");
});

test("a server that stops is waited for, and so is a place that may come free", async () => {
  const socket = start().open();
  const code = "SESSION_NOT_ACTIVE";
  socket.say("error", { code, message: "The server is stopping." });
  socket.drop();
  await vi.advanceTimersByTimeAsync(2_000);
  const second = RelaySocket.last();
  expect(second).not.toBe(socket);
  second.onopen?.();
  const problems: unknown[] = [];
  page.host.on("problem", (...problem) => problems.push(problem));
  const payload = { code, message: "there are too many; try again later" };
  second.say("error", payload, { replyTo: "join" });
  expect(problems).toEqual([[code, payload.message]]);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(RelaySocket.last()).not.toBe(second);
  RelaySocket.last().open();
  expect(page.host.status).toBe("live");
});

test("losing the connection before the first message loses nothing", async () => {
  const socket = start().open({ seq: 41 });
  socket.drop();
  await vi.advanceTimersByTimeAsync(2_000);
  const second = RelaySocket.last().open({ seq: 43 });
  expect(second.sent[0]?.payload).toMatchObject({ since: 41 });
});

test("a restarted study session continues", async () => {
  const done: unknown[] = [];
  const onSession = { start: () => done.push("start") };
  const socket = start({ onSession }).open();
  const payload = { sessionId: "s-20260213-001", studyId: "a" };
  socket.say("session.start", payload, { id: "r1" });
  socket.say("session.start", payload, { id: "r2" });
  await settle();
  expect(done).toEqual(["start"]);
  expect(socket.answer("r2")?.type).toBe("session.started");
});

test("a refused join is final and says why", () => {
  const socket = start();
  const news: unknown[] = [];
  page.host.on("status", (status, error) =>
    news.push([status, error?.message]),
  );
  socket.onopen?.();
  const payload = { code: "INVALID_MESSAGE", message: "a token is needed" };
  socket.say("error", payload, { replyTo: "join" });
  expect(news).toEqual([["closed", "a token is needed"]]);
});

test("study sessions begin and end with the page at its beginning", async () => {
  const done: unknown[] = [];
  const socket = start({
    onSession: {
      start: ({ sessionId }) => done.push(sessionId),
      end: async (reason) => {
        await Promise.resolve();
        done.push(reason);
        page.count = 0;
      },
    },
  }).open();
  const sessionId = "s-20260213-001";
  const ids = { studyId: "pilot-01", participantId: "P07" };
  socket.say("session.start", { ...ids, sessionId }, { id: "r1" });
  socket.call("c1", "add", { by: 1 });
  socket.say("session.end", { reason: "study-complete" }, { id: "r2" });
  await settle();
  expect(done).toEqual([sessionId, "study-complete"]);
  expect(socket.answer("r1")).toMatchObject({
    type: "session.started",
    payload: { sessionId },
  });
  expect(socket.answer("r2")).toMatchObject({
    type: "session.ended",
    payload: { sessionId, stateReset: true },
  });
  expect(page.host.studySession).toBeNull();
  expect(socket.of("state.updated").at(-1)?.payload["uiSpec"]).toMatchObject({
    count: 0,
  });
});

test("a reset brings the page to its beginning within its study session", async () => {
  const done: unknown[] = [];
  const onSession = {
    end: () => done.push("end"),
    reset: (reason: string) => {
      done.push(reason);
      page.count = 0;
    },
  };
  const studySession = "s-20260213-001";
  const socket = start({ onSession }).open({ studySession });
  socket.call("c1", "add", { by: 3 });
  socket.say("session.reset", { reason: "a new try" }, { id: "r1" });
  await settle();
  expect(done).toEqual(["a new try"]);
  expect(socket.answer("r1")).toMatchObject({
    type: "snapshot.state",
    payload: { sessionId: studySession, uiSpec: { count: 0 } },
  });
  expect(page.host.studySession).toBe(studySession);
});

test("the status of an agent is passed on to the page", () => {
  const socket = start().open();
  const received: string[] = [];
  page.host.on("agentStatus", (status) => received.push(status));
  socket.say("agent.status", { status: "thinking" });
  socket.say("agent.status", {});
  expect(received).toEqual(["thinking", ""]);
});

test("messages of agents are received; invalid ones are ignored", async () => {
  const socket = start().open();
  const received: string[] = [];
  page.host.on("message", (text) => received.push(text));
  for (const raw of [
    "",
    "[]",
    "null",
    "{",
    '{"v":"mvp-0.1","type":"tool.call","payload":{}}',
    '{"v":"mvp-0.2","type":"tool.call","payload":[]}',
    '{"v":"mvp-0.2","type":7,"payload":{}}',
    '{"v":"mvp-0.2","type":"__proto__","payload":{}}',
  ]) {
    socket.raw(raw);
  }
  socket.say("agent.message", { text: "Hello" });
  socket.say("agent.message", { text: 7 }, { id: "m2" });
  await settle();
  expect(received).toEqual(["Hello"]);
  expect(socket.answer("m2")?.payload["code"]).toBe("INVALID_MESSAGE");
  expect(page.host.status).toBe("live");
});

test("a message that is too large is reported", async () => {
  page.shown = { uiSpec: { all: "x".repeat(2 << 20) } };
  const problems: string[] = [];
  const socket = start();
  page.host.on("problem", (code) => problems.push(code));
  socket.open();
  socket.say("snapshot.get", {}, { id: "q1" });
  await settle();
  expect(problems).toContain("too_large");
  expect(socket.answer("q1")?.payload["code"]).toBe("TOOL_EXECUTION_FAILED");
});

test("tools of the browser's own kind are offered and run too", async () => {
  const ran: unknown[] = [];
  const context = Object.assign(new EventTarget(), {
    getTools: () =>
      Promise.resolve([
        {
          name: "look",
          description: "Looks.",
          inputSchema: {
            type: "object",
            properties: { at: { type: "string" }, often: {} },
            required: ["at"],
          },
        },
        { name: "add", description: "Is there already." },
      ]),
    // Bound functions have the source text of native ones.
    executeTool: (({ name }: { name: string }, input: object) => {
      ran.push([name, input]);
      return Promise.resolve('{"seen":true}');
    }).bind(null),
  });
  vi.stubGlobal("document", document);
  Object.defineProperty(document, "modelContext", {
    value: context,
    configurable: true,
  });
  const socket = start().open();
  socket.say("snapshot.get", {}, { id: "q1" });
  socket.call("c1", "look", { at: "sky" });
  socket.call("c2", "look", { often: 2 });
  await settle();
  const schema = socket.answer("q1")?.payload["toolSchema"];
  const names = (schema as { name: string }[]).map(({ name }) => name);
  expect(names).toEqual(["add", "fail", "refuse", "hang", "look"]);
  expect((schema as unknown[]).at(-1)).toEqual({
    name: "look",
    description: "Looks.",
    parameters: {
      at: { type: "string" },
      often: { type: "any", optional: true },
    },
  });
  expect(socket.answer("c1")?.payload["result"]).toEqual({ seen: true });
  expect(socket.answer("c2")?.payload["code"]).toBe("INVALID_PARAMS");
  expect(ran).toEqual([["look", { at: "sky" }]]);
  context.dispatchEvent(new Event("toolchange"));
  await settle();
  expect(socket.of("state.updated").at(-1)?.payload).toHaveProperty(
    "toolSchema",
  );
  Reflect.deleteProperty(document, "modelContext");
});

test("a name that is no tool's is refused at once", () => {
  const wrong = { "my tool": tools.fail };
  expect(() => createHost({ session: "x", tools: wrong })).toThrow("my tool");
});
