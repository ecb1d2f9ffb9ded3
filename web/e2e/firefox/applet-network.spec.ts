// An applet that tries every way to the network in Firefox; none of them leads anywhere.
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser } from "puppeteer-core";
import {
  CHANNELS,
  inApplets,
  lookedUp,
  unprotected,
  type Attempts,
} from "../exfiltration/attempt.js";
import { startFirefox, tabOf } from "./browser.js";
import { expect, test } from "./fixtures.js";

const DOMAIN = "leak.test";

const PREFS = {
  // Every name leads to this machine.
  "network.dns.native-is-localhost": true,
  "media.peerconnection.ice.loopback": true,
};

/** A browser of its own: its log has every name that it looked up. */
async function withBrowser(
  work: (firefox: Browser) => Promise<Attempts>,
): Promise<{ ran: string[]; out: string[] }> {
  const folder = await mkdtemp(join(tmpdir(), "gangway-network-"));
  const env = {
    MOZ_LOG: "nsHostResolver:5",
    MOZ_LOG_FILE: join(folder, "dns"),
  };
  const firefox = await startFirefox({ prefs: PREFS, env });
  const attempts = await work(firefox);
  await firefox.close();
  let log = "";
  for (const file of await readdir(folder)) {
    log += await readFile(join(folder, file), "latin1");
  }
  await rm(folder, { recursive: true, force: true, maxRetries: 5 });
  const names = new Set([...attempts.received, ...lookedUp(attempts, log)]);
  return { ran: attempts.ran, out: [...names].sort() };
}

const tabs = (firefox: Browser) => async () => tabOf(await firefox.newPage());

test("nothing that an applet tries reaches another host", async ({
  server,
}) => {
  test.slow();
  const { ran, out } = await withBrowser((firefox) =>
    inApplets(server, tabs(firefox), DOMAIN),
  );
  expect(out).toEqual([]);
  const all = CHANNELS.map(({ name }) => name);
  expect(all.filter((name) => !ran.includes(name))).toEqual([]);
});

test("the same code gets out of a page that nothing protects", async () => {
  test.slow();
  const { out } = await withBrowser((firefox) =>
    unprotected(tabs(firefox), DOMAIN),
  );
  expect(out.length).toBeGreaterThan(60);
});
