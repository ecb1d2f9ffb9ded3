// What a page has to load to be driveable is small and needs nothing else.
import { expect, test } from "vitest";
import { build } from "vite";

test("host.js is one module of less than 8 kB gzipped, without a dependency", async () => {
  const built = await build({
    configFile: new URL("../host.config.ts", import.meta.url).pathname,
    root: new URL("..", import.meta.url).pathname,
    logLevel: "silent",
    mode: "module",
    build: { write: false },
  });
  const result = Array.isArray(built) ? built[0] : built;
  if (!result || !("output" in result)) throw new Error("nothing was built");
  expect(result.output).toHaveLength(1);
  const { code, imports } = result.output[0];
  expect(imports).toEqual([]);
  const zipped = new Blob([code])
    .stream()
    .pipeThrough(new CompressionStream("gzip"));
  const { byteLength } = await new Response(zipped).arrayBuffer();
  expect(byteLength).toBeLessThan(8_000);
  expect(code).toContain("createHost");
});
