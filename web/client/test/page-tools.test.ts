// The tools of a page: registered, announced, called once, and withdrawn.
import { expect, test, vi } from "vitest";
import type { JsonValue, PageTool } from "../src/generated/wire.js";
import { PageTools } from "../src/page-tools.js";

type Said =
  | { offer: PageTool[] }
  | { call: number; result: JsonValue }
  | { call: number; error: string };

function page() {
  const said: Said[] = [];
  const problems: unknown[] = [];
  const tools = new PageTools(
    {
      offer: (offer) => said.push({ offer }),
      answer: (call, result) => said.push({ call, result }),
      fail: (call, error) => said.push({ call, error }),
    },
    (problem) => problems.push(problem),
  );
  const soon = () => new Promise((resolve) => setTimeout(resolve));
  return { said, problems, tools, soon };
}

test("tools are announced together, with a schema, and again when one is withdrawn", async () => {
  const { said, tools, soon } = page();
  const withdraw = tools.register(
    {
      name: "add",
      description: "Adds.",
      parameters: {
        title: { type: "string" },
        type: { type: "any", optional: true },
        at: { type: "object", properties: { x: { type: "number" } } },
      },
    },
    () => 1,
  );
  tools.register(
    { name: "list", readOnly: true, inputSchema: { type: "object" } },
    () => [],
  );
  await soon();
  expect(said).toEqual([
    {
      offer: [
        {
          name: "add",
          description: "Adds.",
          inputSchema: {
            type: "object",
            properties: {
              title: { type: "string" },
              type: {},
              at: {
                type: "object",
                properties: { x: { type: "number" } },
                required: ["x"],
                additionalProperties: false,
              },
            },
            required: ["title", "at"],
            additionalProperties: false,
          },
        },
        {
          name: "list",
          description: "",
          inputSchema: { type: "object" },
          readOnly: true,
        },
      ],
    },
  ]);
  withdraw();
  withdraw();
  await soon();
  expect(said.slice(1)).toMatchObject([{ offer: [{ name: "list" }] }]);
  // A new connection knows nothing of them.
  tools.connected();
  expect(said.slice(2)).toMatchObject([{ offer: [{ name: "list" }] }]);
});

test("a page without tools says nothing", async () => {
  const { said, tools, soon } = page();
  tools.connected();
  await soon();
  expect(said).toEqual([]);
});

test("what is no tool is refused at once, and what the server refuses is reported", () => {
  const { problems, tools } = page();
  const loop: Record<string, unknown> = {};
  loop["loop"] = loop;
  const huge = { type: "object", description: "x".repeat(70_000) };
  const handler = () => 1;
  for (const tool of [
    { name: "" },
    { name: "gangway/read" },
    { name: "x".repeat(129) },
    { name: "a", inputSchema: loop },
    { name: "a", inputSchema: huge },
  ]) {
    expect(() => tools.register(tool, handler)).toThrow(TypeError);
  }
  expect(() => tools.register({ name: "a" }, 7 as never)).toThrow("handler");
  tools.register({ name: "a" }, handler);
  expect(() => tools.register({ name: "a" }, handler)).toThrow("already");
  for (let at = 1; at < 64; at += 1) {
    tools.register({ name: `t${at}` }, handler);
  }
  expect(() => tools.register({ name: "more" }, handler)).toThrow("at most 64");
  tools.offered({ refused: [{ name: "a", message: "its schema is invalid" }] });
  expect(String(problems[0])).toContain("its schema is invalid");
});

test("a call is run once, and its result told again when the call comes again", async () => {
  const { said, tools, soon } = page();
  const run = vi.fn((args: Record<string, unknown>) => ({ got: args }));
  tools.register({ name: "add" }, run);
  await soon();
  said.length = 0;
  tools.call(7, "add", { a: 1 });
  tools.call(7, "add", { a: 1 });
  await soon();
  tools.call(7, "add", { a: 1 });
  await soon();
  expect(run).toHaveBeenCalledTimes(1);
  const told = { call: 7, result: { got: { a: 1 } } };
  expect(said).toEqual([told, told]);
  // An older one was carried out long ago.
  tools.call(3, "add", {});
  await soon();
  expect(run).toHaveBeenCalledTimes(1);
});

test("what a tool throws or cannot say is an error of the call", async () => {
  const { said, tools, soon } = page();
  tools.register({ name: "throws" }, () => {
    throw new Error("out of milk");
  });
  tools.register({ name: "loops" }, () => {
    const loop: Record<string, unknown> = {};
    loop["loop"] = loop;
    return loop;
  });
  tools.register({ name: "large" }, () => "x".repeat(2 << 20));
  tools.register({ name: "nothing" }, () => undefined);
  await soon();
  said.length = 0;
  tools.call(1, "throws", {});
  tools.call(2, "loops", {});
  tools.call(3, "large", {});
  tools.call(4, "nothing", {});
  tools.call(5, "gone", {});
  await soon();
  const sorted = said.toSorted((a, b) =>
    "call" in a && "call" in b ? a.call - b.call : 0,
  );
  expect(sorted).toMatchObject([
    { call: 1, error: "out of milk" },
    { call: 2 },
    { call: 3, error: expect.stringContaining("at most") as unknown },
    { call: 4, result: null },
    { call: 5, error: "There is no tool gone." },
  ]);
});

test("a cancelled call is aborted in the page and not answered", async () => {
  const { said, tools, soon } = page();
  let signal: AbortSignal | undefined;
  tools.register({ name: "slow" }, (_, context) => {
    signal = context.signal;
    return new Promise((resolve) => {
      signal?.addEventListener("abort", () => resolve("late"));
    });
  });
  await soon();
  said.length = 0;
  tools.call(1, "slow", {});
  tools.cancel(1);
  await soon();
  expect(signal?.aborted).toBe(true);
  expect(said).toEqual([]);
  tools.call(2, "slow", {});
  tools.close();
  expect(signal?.aborted).toBe(true);
});
