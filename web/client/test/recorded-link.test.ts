// What answers an applet in a replay: its state at one step, and nothing else.
import { expect, test } from "vitest";
import { RecordedLink } from "../src/applet/recorded-link.js";
import type { ServerFrame } from "../src/applet/wire.js";

const recorded = {
  ...{ session: "s", applet: "board", frame: "/applets/board/k/frame" },
  state: { table: 4, note: "window" },
};

async function begun() {
  const received: ServerFrame[] = [];
  const link = new RecordedLink(recorded, {
    onFrame: (frame) => received.push(frame),
    onClosed: () => received.push({ type: "reload" }),
  });
  await Promise.resolve();
  return { link, received };
}

test("the frame is told where it is and what the state was", async () => {
  const { link, received } = await begun();
  link.send({ type: "getState", id: 1 });
  link.send({ type: "getState", id: 2, key: "note" });
  expect(received).toMatchObject([
    { type: "ready", frame: recorded.frame, version: 1 },
    { type: "state", id: 1, data: recorded.state, version: 1 },
    { type: "state", id: 2, data: { note: "window" } },
  ]);
});

test("another step is a patch with a higher version, back as well", async () => {
  const { link, received } = await begun();
  link.show({ table: 5 });
  link.show({ table: 5 });
  link.show(recorded.state);
  expect(received.slice(1)).toMatchObject([
    { type: "stateUpdate", version: 2, data: { table: 5, note: null } },
    { type: "stateUpdate", version: 3, data: recorded.state },
  ]);
});

test("nothing can be changed, read or asked through it", async () => {
  const { link, received } = await begun();
  link.send({ type: "setState", data: { table: 9 }, id: "a" });
  link.send({ type: "setState", data: { table: 9 } });
  link.send({ type: "invoke", prompt: "Do it again", id: "b" });
  link.send({ type: "readFile", path: "x", id: "c" });
  expect(received.slice(1)).toMatchObject(
    ["a", "b", "c"].map((id) => ({ type: "error", id, code: "replay" })),
  );
  link.send({ type: "getState", id: 1 });
  expect(received.at(-1)).toMatchObject({ data: recorded.state });
});
