// The scripts of launched apps as the server hands them out.
import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { build } from "vite";

async function built(mode: string): Promise<string> {
  const result = await build({
    configFile: new URL("../context.config.ts", import.meta.url).pathname,
    root: new URL("..", import.meta.url).pathname,
    logLevel: "silent",
    mode,
    build: { write: false },
  });
  const bundle = Array.isArray(result) ? result[0] : result;
  if (!bundle || !("output" in bundle)) throw new Error("nothing was built");
  expect(bundle.output).toHaveLength(1);
  return bundle.output[0].code;
}

async function zipped(code: string): Promise<number> {
  const stream = new Blob([code])
    .stream()
    .pipeThrough(new CompressionStream("gzip"));
  return (await new Response(stream).arrayBuffer()).byteLength;
}

test("context.js is one expression of less than 5 kB gzipped that may stand in a page", async () => {
  const code = await built("context");
  expect(code).not.toMatch(/<\/script|<!--/i);
  // As the server writes it: parenthesised, and called with what it tells the page.
  const made: unknown = runInNewContext(`(${code})`);
  expect(made).toBeTypeOf("function");
  expect(await zipped(code)).toBeLessThan(5_000);
});

test("agent.js is a module with every function, agent.global.js a plain script with the same", async () => {
  const names = [
    ...["AgentDeniedError", "AgentError", "AgentTimeoutError", "emitToAgent"],
    ...["getAgentConfig", "getAgentContext", "getAgentData"],
    ...["isAgentLaunched", "requestAgentAction", "requireAgentContext"],
  ];
  const module = await built("module");
  const url = `data:text/javascript,${encodeURIComponent(module)}`;
  const imported = (await import(/* @vite-ignore */ url)) as object;
  expect(Object.keys(imported).sort()).toEqual(names);
  const script = await built("global");
  const found = runInNewContext(`${script}; GangwayAgent`) as object;
  expect(Object.keys(found).sort()).toEqual(names);
  expect(await zipped(script)).toBeLessThan(2_000);
});
