// What the Tools page keeps, and when it asks.
import { Http, Tools } from "@gangway/client";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { visitable } from "@gangway/kit/parts/links.js";
import { CatalogState } from "../src/tools/catalog.svelte.js";
import { InstallsState } from "../src/tools/installs.svelte.js";
import { ServerLogState } from "@gangway/kit/tools/server-log.svelte.js";
import { ServersState } from "@gangway/kit/tools/servers.svelte.js";
import { ToolCallState } from "@gangway/kit/tools/tool-call.svelte.js";
import { blocksOf } from "@gangway/kit/tools/result.js";
import { groupTools, suggestName } from "@gangway/kit/tools/words.js";

type Answer = (method: string, path: string, body: unknown) => unknown;

/** A server of one function. */
function tools(answer: Answer): Tools {
  return new Tools(
    new Http({
      fetch: async (input, init = {}) => {
        const { signal } = init;
        const body: unknown = init.body
          ? JSON.parse(init.body as string)
          : undefined;
        const aborted = new Promise<never>((_, reject) => {
          signal?.addEventListener("abort", () => reject(new Error("aborted")));
        });
        const answered = Promise.resolve(
          answer(init.method ?? "GET", input as string, body),
        );
        const result = await Promise.race([answered, aborted]);
        return result instanceof Response ? result : Response.json(result);
      },
    }),
  );
}

function refusal(code: string, status = 409): Response {
  const body = { error_code: code, message: "No.", retryable: false };
  return Response.json(body, { status });
}

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("a search waits for a pause, and only the last one counts", async () => {
  const asked: string[] = [];
  const slow: (() => void)[] = [];
  const catalog = new CatalogState(
    tools(async (_, path) => {
      asked.push(path);
      const words = new URL(path, "http://x").searchParams.get("q");
      if (words === "slow") await new Promise<void>((r) => slow.push(r));
      const refresh = { state: "idle", fetched: 0 };
      const server = { name: words, options: [], installed: [] };
      return { servers: [server], total: 1, refresh, source: "x" };
    }),
  );
  for (const words of ["s", "sl", "slow"]) catalog.search(words);
  await vi.advanceTimersByTimeAsync(300);
  expect(asked).toEqual(["/api/mcp/catalog?q=slow&limit=20"]);
  expect(catalog.searching).toBe(true);
  catalog.search("fast");
  await vi.advanceTimersByTimeAsync(300);
  slow[0]?.();
  await vi.advanceTimersByTimeAsync(0);
  expect(catalog.found.map(({ name }) => name)).toEqual(["fast"]);
  expect(catalog.searching).toBe(false);
});

test("more of the catalog comes behind what is there", async () => {
  const catalog = new CatalogState(
    tools((_, path) => {
      const next = path.includes("cursor=two") ? {} : { nextCursor: "two" };
      const name = next.nextCursor ? "one" : "three";
      const refresh = { state: "idle", fetched: 0 };
      return { servers: [{ name }], total: 2, refresh, source: "x", ...next };
    }),
  );
  await catalog.load();
  expect(catalog.more).toBe(true);
  await catalog.loadMore();
  expect(catalog.found.map(({ name }) => name)).toEqual(["one", "three"]);
  expect(catalog.more).toBe(false);
});

test("the log continues after its last line, and restarts after a gap", async () => {
  const asked: string[] = [];
  let gone = false;
  const log = new ServerLogState(
    tools((_, path) => {
      asked.push(path);
      if (gone) return refusal("server_not_found", 404);
      const after = Number(new URL(path, "http://x").searchParams.get("after"));
      const line = { at: "now", source: "stderr", text: "hi" };
      return { lines: [{ ...line, number: after + 1 }] };
    }),
    "a b",
  );
  await log.load();
  await log.load();
  expect(asked.at(-1)).toBe("/api/mcp/servers/a%20b/logs?after=1");
  expect(log.text).toBe("now stderr hi\nnow stderr hi");
  gone = true;
  await log.load();
  gone = false;
  await log.load();
  expect(asked.at(-1)).toBe("/api/mcp/servers/a%20b/logs?after=0");
  expect(log.lines).toHaveLength(1);
});

test("tools are read again when a server changed, and not otherwise", async () => {
  let state = "starting";
  let lists = 0;
  const servers = new ServersState(
    tools((_, path) => {
      if (path === "/api/tools") return { tools: [], lists: (lists += 1) };
      return { servers: [{ id: "a", state, tools: 0, target: "x" }] };
    }),
  );
  await servers.load();
  await servers.load();
  expect(lists).toBe(1);
  state = "ready";
  await servers.load();
  expect(lists).toBe(2);
});

test("secrets of a new server go their own way and stay nowhere", async () => {
  const sent: unknown[] = [];
  const servers = new ServersState(
    tools((method, path, body) => {
      if (method !== "GET") sent.push([method, path, body]);
      return path === "/api/tools" ? { tools: [] } : { servers: [] };
    }),
  );
  await servers.add({
    servers: { a: { command: "x" } },
    secrets: { a: { KEY: "s3cret" } },
  });
  expect(sent).toEqual([
    ["POST", "/api/mcp/servers", { mcpServers: { a: { command: "x" } } }],
    ["PUT", "/api/mcp/servers/a/secrets", { secrets: { KEY: "s3cret" } }],
  ]);
  const { all, problem, error } = servers;
  expect(JSON.stringify({ all, problem, error })).not.toContain("s3cret");
});

test("a server whose secrets cannot be kept is taken back", async () => {
  const sent: string[] = [];
  const servers = new ServersState(
    tools((method, path) => {
      if (method !== "GET") sent.push(`${method} ${path}`);
      if (method === "PUT") return refusal("storage_failed", 500);
      if (method === "DELETE") return new Response(null, { status: 204 });
      return { servers: [], tools: [] };
    }),
  );
  await expect(
    servers.add({ servers: { a: {} }, secrets: { a: { K: "v" } } }),
  ).rejects.toMatchObject({ code: "storage_failed" });
  expect(sent.at(-1)).toBe("DELETE /api/mcp/servers/a");
});

test("a rejection is shown at its server", async () => {
  const servers = new ServersState(
    tools((method) =>
      method === "POST" ? refusal("nope") : { servers: [], tools: [] },
    ),
  );
  await servers.stop("a");
  expect(servers.problem).toMatchObject({ id: "a", error: { code: "nope" } });
  expect(servers.busy.size).toBe(0);
});

test("a completed install is announced once, a failed one can be retried", async () => {
  const changed = vi.fn();
  const sent: unknown[] = [];
  let states = { in_1: "fetching", in_2: "fetching" };
  let count = 0;
  const all = () =>
    Object.entries(states).map(([install, state]) => ({
      install,
      id: "a",
      state,
    }));
  const installs = new InstallsState(
    tools((method, path, body) => {
      if (method === "GET") return { installs: all() };
      sent.push([method, path]);
      if (method === "DELETE") return new Response(null, { status: 204 });
      expect(body).toMatchObject({ inputs: { KEY: "s3cret" } });
      count += 1;
      return { install: `in_${count}`, id: "a", state: "fetching" };
    }),
    changed,
  );
  const wish = { id: "a", server: "x/y", inputs: { KEY: "s3cret" } };
  await installs.start(wish);
  await installs.start(wish);
  states = { in_1: "done", in_2: "failed" };
  await installs.load();
  await installs.load();
  expect(changed).toHaveBeenCalledTimes(1);
  expect(installs.arrived).toBe("a is installed.");
  const failed = installs.shown[0];
  expect(failed?.install).toBe("in_2");
  expect(JSON.stringify(installs.all)).not.toContain("s3cret");
  if (failed) await installs.retry(failed);
  expect(sent.slice(-2)).toEqual([
    ["POST", "/api/mcp/installs"],
    ["DELETE", "/api/mcp/installs/in_2"],
  ]);
});

test("a call that is stopped is no failure", async () => {
  const call = new ToolCallState(tools(() => new Promise(() => undefined)));
  const running = call.run("a/b", {});
  expect(call.running).toBe(true);
  call.stop();
  await running;
  expect(call).toMatchObject({ running: false, stopped: true, error: null });
});

test("only addresses of pages can be visited", () => {
  expect(visitable("https://a.example/x")?.host).toBe("a.example");
  for (const text of [
    "javascript:alert(1)",
    "data:text/html,x",
    "/x",
    "",
    undefined,
  ]) {
    expect(visitable(text)).toBeNull();
  }
});

test("results are shown as what they are", () => {
  expect(blocksOf("plain")).toEqual([{ kind: "text", text: "plain" }]);
  expect(blocksOf({ n: 1 })).toEqual([
    { kind: "json", text: '{\n  "n": 1\n}' },
  ]);
  expect(
    blocksOf([
      { type: "text", text: "<b>hi</b>" },
      { type: "image", mimeType: "image/png", data: "AAAA" },
      { type: "image", mimeType: "image/svg+xml", data: "AAAA" },
      { type: "resource_link", uri: "javascript:alert(1)" },
      { type: "resource_link", uri: "https://a.example/", name: "A" },
      { type: "resource", resource: { uri: "n:1", text: "inside" } },
      { type: "audio", mimeType: "audio/wav", data: "AAAA" },
      { type: "audio", mimeType: 'audio/wav" onerror="', data: "AAAA" },
      { type: "strange" },
    ]),
  ).toEqual([
    { kind: "text", text: "<b>hi</b>" },
    {
      kind: "image",
      source: "data:image/png;base64,AAAA",
      text: "image/png, 3 bytes",
    },
    { kind: "note", text: "image/svg+xml, 3 bytes" },
    { kind: "link", href: null, text: "javascript:alert(1)" },
    { kind: "link", href: "https://a.example/", text: "A" },
    { kind: "text", text: "n:1\ninside" },
    {
      kind: "audio",
      source: "data:audio/wav;base64,AAAA",
      text: "audio/wav, 3 bytes",
    },
    { kind: "note", text: 'audio/wav" onerror=", 3 bytes' },
    { kind: "json", text: '{\n  "type": "strange"\n}' },
  ]);
  expect(
    blocksOf({ truncated: true, text: "ab", totalBytes: 4000, nextOffset: 2 }),
  ).toEqual([
    { kind: "text", text: "ab" },
    { kind: "note", text: "Truncated: showing the first 2 bytes of 4.0 kB." },
  ]);
});

test("tools are found by all of the words, in their own server", () => {
  const list = ["a/read", "a/write", "b/read"].map((name) => ({
    name,
    description: `to ${name.slice(2)} files`,
    inputSchema: {},
    serverId: name.slice(0, 1),
  }));
  const names = (words: string) =>
    groupTools(list, words).map(({ server, tools: own }) => [
      server,
      own.length,
    ]);
  expect(names("")).toEqual([
    ["a", 2],
    ["b", 1],
  ]);
  expect(names("FILES read")).toEqual([
    ["a", 1],
    ["b", 1],
  ]);
  expect(names("nothing")).toEqual([]);
});

test("a name for here is made of the name there", () => {
  expect(suggestName("io.github.x/mcp-server-Files!", [])).toBe("files");
  expect(suggestName("x/files", ["files", "files-2"])).toBe("files-3");
  expect(suggestName("x/…", [])).toBe("server");
});
