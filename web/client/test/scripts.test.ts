// The scripts as the server hands them out: small, each one file that needs no other.
import { runInNewContext, Script } from "node:vm";
import { expect, test } from "vitest";
import { bundle, SCRIPTS } from "../scripts.js";

type Name = keyof typeof SCRIPTS;

/** Bytes that each of them takes at most, gzipped. */
const LIMITS = {
  "applet.js": 10_000,
  "context.js": 6_000,
  "agent.global.js": 2_000,
  "gangway.js": 12_288,
  "broker.js": 16_000,
  "host.js": 8_000,
} satisfies Partial<Record<Name, number>>;

async function zipped(code: string): Promise<number> {
  const stream = new Blob([code])
    .stream()
    .pipeThrough(new CompressionStream("gzip"));
  return (await new Response(stream).arrayBuffer()).byteLength;
}

test.each(Object.keys(SCRIPTS) as Name[])(
  "%s needs nothing else and keeps to its size",
  async (name) => {
    const { code, imports } = await bundle(name);
    expect(imports).toEqual([]);
    const limits: Partial<Record<Name, number>> = LIMITS;
    expect(await zipped(code)).toBeLessThan(limits[name] ?? 10_000);
    if ("global" in SCRIPTS[name]) {
      const text = name === "context.js" ? `(${code})` : code;
      expect(() => new Script(text)).not.toThrow();
    }
  },
);

test("context.js is one expression that may stand in a page", async () => {
  const { code } = await bundle("context.js");
  expect(code).not.toMatch(/<\/script|<!--/i);
  // As the server writes it: parenthesised, and called with the parameters.
  const made: unknown = runInNewContext(`(${code})`);
  expect(made).toBeTypeOf("function");
});

test("gangway.js has the place for the server's origin once", async () => {
  const { code } = await bundle("gangway.js");
  expect(code.split('"__GANGWAY_ORIGIN__"')).toHaveLength(2);
});

test("agent.js is a module with every function, agent.global.js a plain script with the same", async () => {
  const names = [
    ...["AgentDeniedError", "AgentError", "AgentTimeoutError", "emitToAgent"],
    ...["getAgentConfig", "getAgentContext", "getAgentData"],
    ...["isAgentLaunched", "registerTool"],
    ...["requestAgentAction", "requireAgentContext"],
  ];
  const module = await bundle("agent.js");
  const url = `data:text/javascript,${encodeURIComponent(module.code)}`;
  const imported = (await import(/* @vite-ignore */ url)) as object;
  expect(Object.keys(imported).sort()).toEqual(names);
  const script = await bundle("agent.global.js");
  const found = runInNewContext(`${script.code}; GangwayAgent`) as object;
  expect(Object.keys(found).sort()).toEqual(names);
});

test("applet.js and host.js export what pages call", async () => {
  expect((await bundle("applet.js")).code).toContain("setAppletState");
  expect((await bundle("host.js")).code).toContain("createHost");
});
