// Launches that are over: their pages stop, and what waits in them is refused at once.
import type { Page } from "@playwright/test";
import { call, openProbe, probe } from "../context.js";
import { expect, test } from "../fixtures.js";
import type { Server } from "../server.js";

test.use({ settings: { apps: { probe: probe() } } });

async function remove(server: Server, sessionId: string): Promise<void> {
  const path = `/api/sessions/${sessionId}`;
  const { status } = await server.fetch(path, { method: "DELETE" });
  expect(status).toBe(204);
}

/** Counts the channels that the page opens. */
function channels(page: Page): () => number {
  let count = 0;
  page.on("websocket", () => (count += 1));
  return () => count;
}

test("a page whose launch is deleted with its session refuses what waits, and does not come back", async ({
  page,
  server,
}) => {
  await page.clock.install();
  const opened = channels(page);
  const { sessionId } = await openProbe(page, server);
  await expect.poll(opened).toBe(1);
  const emitted = call(page, "emit", "user-action", {});
  const asked = call(page, "request", "send-email", {});
  await page.evaluate(() => undefined);
  const began = Date.now();
  await remove(server, sessionId);
  const message = "This launch no longer exists";
  const details = { reason: "closed" };
  expect(await emitted).toMatchObject({ code: "E-AGT-003", message, details });
  expect(await asked).toMatchObject({ code: "E-AGT-005", message, details });
  expect(Date.now() - began).toBeLessThan(5_000);
  expect(await call(page, "emit", "later", {})).toMatchObject({ message });
  // The first attempts of one that comes back are within a second.
  await page.clock.runFor(60_000);
  await page.evaluate(() => undefined);
  expect(opened()).toBe(1);
});
