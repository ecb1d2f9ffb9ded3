// The connection is cut in the middle, and the applet does not notice.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Page } from "@playwright/test";
import { openApp } from "../apps.js";
import { expect, test } from "../fixtures.js";
import { COUNTED } from "../scripts.js";

test.use({
  settings: {
    defaultAgent: "counter",
    scripts: {
      counter: {
        description: "Counts.",
        turns: [{ steps: [{ say: COUNTED, every_ms: 15 }] }],
      },
    },
  },
});

/** Cuts each of the first connections after so many messages that `counts` says yes to. */
async function cut(
  page: Page,
  counts: (message: string | Buffer) => boolean,
  after: number[],
): Promise<{ connections: number }> {
  const seen = { connections: 0 };
  await page.routeWebSocket(/\/ws\/applet\?.*client=/, (socket) => {
    const limit = after[seen.connections] ?? Infinity;
    seen.connections += 1;
    let received = 0;
    const upstream = socket.connectToServer();
    upstream.onMessage((message) => {
      if (received >= limit) return;
      if (counts(message)) received += 1;
      if (received < limit) socket.send(message);
      else void socket.close({ code: 3001, reason: "cut" });
    });
  });
  return seen;
}

test("an answer resumes without lost or duplicated text", async ({
  page,
  server,
}) => {
  const isPiece = (message: string | Buffer) =>
    typeof message === "string" && message.includes('"stream"');
  const seen = await cut(page, isPiece, [10, 20]);
  const { frame } = await openApp(page, server, "calculator");
  await frame.getByRole("textbox", { name: "Expression" }).fill("1 + 1");
  await frame.getByRole("button", { name: "Explain this result" }).click();
  await page
    .getByRole("group", { name: /wants to send/ })
    .getByRole("button", { name: "Always" })
    .click();
  const answer = frame.locator("#answer");
  const inOrder = async () => {
    const words = (await answer.textContent()) ?? "";
    expect(COUNTED.startsWith(words), words).toBe(true);
    return words;
  };
  await expect.poll(inOrder, { intervals: [50] }).toBe(COUNTED);
  expect(seen.connections).toBe(3);
  await expect(page.locator(".message.user.applet-invoked")).toHaveCount(1);
});

test("a file that is being read arrives whole", async ({ page, server }) => {
  const isBytes = (message: string | Buffer) => typeof message !== "string";
  const seen = await cut(page, isBytes, [3, 17, 40]);
  const { frame, folder, setState } = await openApp(
    page,
    server,
    "csv-explorer",
  );
  let text = "id,words\n";
  for (let at = 0; at < 400_000; at += 1) text += `${at},row number ${at}\n`;
  await writeFile(join(folder, "long.csv"), text);
  await setState({ file: "long.csv" });
  await expect(frame.locator("#status")).toHaveText("400,000 rows", {
    timeout: 60_000,
  });
  expect(seen.connections).toBeGreaterThanOrEqual(4);
  await frame.getByRole("table", { name: "Rows" }).press("End");
  await expect(
    frame.getByRole("cell", { name: "row number 399999", exact: true }),
  ).toBeVisible();
});
