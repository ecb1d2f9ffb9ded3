// The scripts of the web agent API as the server hands them out.
import { Script } from "node:vm";
import { expect, test } from "vitest";
import { built } from "./web-agent-page.js";

async function zipped(code: string): Promise<number> {
  const stream = new Blob([code])
    .stream()
    .pipeThrough(new CompressionStream("gzip"));
  return (await new Response(stream).arrayBuffer()).byteLength;
}

test("gangway.js is one classic script of less than 12 KiB gzipped, broker.js of less than 16 kB", async () => {
  const page = await built("page");
  expect(page).toContain('"http://localhost:3000"');
  expect(() => new Script(page)).not.toThrow();
  expect(await zipped(page)).toBeLessThan(12_288);
  expect(await zipped(await built("broker"))).toBeLessThan(16_000);
});
