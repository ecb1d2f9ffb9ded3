// @vitest-environment jsdom
// Tools that a page offers on one stage and not on another, and study sessions that begin the same way again.
import { expect, test } from "vitest";
import { tool, type StudySession } from "../src/host/index.js";
import { freshPage, page, settle, start } from "./driven-page.js";

freshPage();

const add = tool({
  description: "Adds one.",
  parameters: {},
  run: () => void (page.count += 1),
});
const pay = tool({
  description: "Pays.",
  parameters: { how: { type: "string", enum: ["cash", "card"] } },
  when: () => page.count >= 2,
  run: () => "paid",
});
const names = (payload: Record<string, unknown> | undefined) =>
  (payload?.["toolSchema"] as { name: string }[] | undefined)?.map(
    ({ name }) => name,
  );

test("a tool that is not offered at the moment is not in the schema, and calling it is an error", async () => {
  const socket = start({ tools: { add, pay } }).open();
  socket.say("snapshot.get", {}, { id: "q1" });
  socket.call("c1", "pay", { how: 7 });
  await settle();
  expect(names(socket.answer("q1")?.payload)).toEqual(["add"]);
  expect(socket.answer("c1")).toMatchObject({
    type: "error",
    payload: {
      code: "TOOL_EXECUTION_FAILED",
      message: "pay is not available at the moment. Available tools: add",
    },
  });
  page.count = 2;
  socket.say("snapshot.get", {}, { id: "q2" });
  socket.call("c2", "pay", { how: "card" });
  await settle();
  expect(names(socket.answer("q2")?.payload)).toEqual(["add", "pay"]);
  expect(socket.answer("c2")?.payload["result"]).toBe("paid");
});

test("a tool that changes nothing says so, and no other does", async () => {
  const look = tool({ ...add, readOnly: true });
  const socket = start({ tools: { add, look } }).open();
  socket.say("snapshot.get", {}, { id: "q1" });
  await settle();
  const parameters = {};
  const description = "Adds one.";
  expect(socket.answer("q1")?.payload["toolSchema"]).toEqual([
    { name: "add", description, parameters },
    { name: "look", description, parameters, readOnly: true },
  ]);
});

test("an update says which tools there are when they are others than before, and only then", async () => {
  const socket = start({ tools: { add, pay } }).open();
  await settle();
  for (const id of ["c1", "c2", "c3"]) {
    socket.call(id, "add");
    await settle();
  }
  expect(
    socket.of("state.updated").map(({ payload }) => names(payload)),
  ).toEqual([undefined, undefined, ["add", "pay"], undefined]);
});

test("tools can be a function, so that parameters are those of the stage", async () => {
  const tools = () => ({
    choose: tool({
      description: "Chooses.",
      parameters: {
        what: { type: "string", enum: page.count === 0 ? ["a"] : ["b", "c"] },
      },
      run: () => void (page.count += 1),
    }),
    "no name": add,
  });
  const socket = start({ tools }).open();
  await settle();
  socket.call("c1", "choose", { what: "b" });
  socket.call("c2", "choose", { what: "a" });
  socket.call("c3", "choose", { what: "a" });
  socket.call("c4", "nothing");
  await settle();
  const codes = ["c1", "c2", "c3", "c4"].map(
    (id) => socket.answer(id)?.payload["code"],
  );
  expect(codes).toEqual([
    ...["INVALID_PARAMS", undefined, "INVALID_PARAMS", "UNKNOWN_TOOL"],
  ]);
  const told = socket.of("state.updated").map(({ payload }) => payload);
  expect(told.map(names)).toContainEqual(["choose"]);
});

test("a tool that cannot say whether it is offered is not, and takes nothing else with it", async () => {
  const broken = tool({
    description: "Breaks.",
    parameters: {},
    when() {
      throw new Error("out of order");
    },
    run: () => undefined,
  });
  const socket = start({ tools: { add, broken } }).open();
  socket.say("snapshot.get", {}, { id: "q1" });
  socket.call("c1", "broken");
  await settle();
  expect(names(socket.answer("q1")?.payload)).toEqual(["add"]);
  expect(socket.answer("c1")?.payload["code"]).toBe("TOOL_EXECUTION_FAILED");
});

test("what a page began a study session with is in its answer, and given back in a replay", async () => {
  const begun: StudySession[] = [];
  const socket = start({
    onSession: {
      start(session) {
        begun.push(session);
        return session.setup ?? { seed: 3 };
      },
    },
  }).open();
  const ids = { studyId: "pilot", participantId: "P07" };
  socket.say("session.start", { ...ids, sessionId: "s-1" }, { id: "q1" });
  await settle();
  expect(socket.answer("q1")?.payload).toEqual({
    ...{ sessionId: "s-1", setup: { seed: 3 } },
  });
  expect(begun[0]).toEqual({ ...ids, sessionId: "s-1" });
  const again = { ...ids, sessionId: "s-2", setup: { seed: 9 } };
  socket.say("session.start", again, { id: "q2" });
  await settle();
  expect(begun[1]).toEqual(again);
  expect(socket.answer("q2")?.payload["setup"]).toEqual({ seed: 9 });
});
