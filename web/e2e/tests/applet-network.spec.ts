// An applet that tries every way to the network in Chromium; none of them leads anywhere.
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium, type BrowserContext } from "@playwright/test";
import { chromiumWith } from "../chromium.js";
import {
  CHANNELS,
  inApplets,
  lookedUp,
  unprotected,
  type Attempts,
} from "../exfiltration/attempt.js";
import { expect, logIn, test } from "../fixtures.js";
import type { Tab } from "../context.js";

// Names below it lead to this machine without a name server, but are looked up all the same.
const DOMAIN = "leak.localhost";

/** A browser with a profile: without one it makes no connections ahead of time. Its log has every name that it looked up. */
async function withBrowser(
  work: (context: BrowserContext) => Promise<Attempts>,
): Promise<{ ran: string[]; out: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "gangway-network-"));
  const log = join(folder, "net-log.json");
  const context = await chromium.launchPersistentContext(join(folder, "p"), {
    ...chromiumWith(
      "--allow-loopback-in-peer-connection",
      ...[`--log-net-log=${log}`, "--net-log-capture-mode=IncludeSensitive"],
    ),
    // It would turn connections ahead of time off.
    ignoreDefaultArgs: ["--disable-background-networking"],
  });
  const attempts = await work(context);
  await context.close();
  // Pages of ours name hosts in many events; these are the lookups.
  const text = await readFile(log, "utf8");
  const hosts = [...text.matchAll(/"host":"[^"]*"/g)].join("\n");
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  const names = new Set([...attempts.received, ...lookedUp(attempts, hosts)]);
  return { ran: attempts.ran, out: [...names].sort() };
}

const tabs = (context: BrowserContext) => async (): Promise<Tab> => {
  const page = await context.newPage();
  return {
    goto: (url) => page.goto(url),
    evaluate: (work, arg) => page.evaluate(work as never, arg as never),
    bringToFront: () => page.bringToFront(),
    close: () => page.close(),
  };
};

test("nothing that an applet tries reaches another host", async ({
  server,
}) => {
  test.slow();
  const { ran, out } = await withBrowser(async (context) => {
    await logIn(context, server);
    return inApplets(server, tabs(context), DOMAIN);
  });
  expect(out).toEqual([]);
  const all = CHANNELS.map(({ name }) => name);
  expect(all.filter((name) => !ran.includes(name))).toEqual([]);
});

test("the same code gets out of a page that nothing protects", async () => {
  test.slow();
  const { out } = await withBrowser((context) =>
    unprotected(tabs(context), DOMAIN),
  );
  expect(out.length).toBeGreaterThan(80);
});
