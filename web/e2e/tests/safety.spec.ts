// Answers that attack the page, and the policy the page is served with.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { answers, expect, say, settled, test } from "../fixtures.js";
import { always, hostile } from "../scripts.js";

// Port 9 discards: any request there fails, and is noticed before it fails.
const ELSEWHERE = "http://127.0.0.1:9";

test.describe("with a hostile agent", () => {
  test.use({
    settings: {
      defaultAgent: "hostile",
      scripts: { hostile: always({ say: hostile(ELSEWHERE), every_ms: 5 }) },
    },
  });

  test("hostile Markdown does nothing", async ({ page, server, strangers }) => {
    await page.goto(server.url);
    await say(page, "Hello");
    await settled(page);
    const answer = answers(page);
    await expect(answer).toContainText("The end.");
    for (const link of await answer.getByRole("link").all()) {
      expect(await link.getAttribute("href")).toMatch(/^https?:/);
      expect(await link.getAttribute("rel")).toBe("noopener noreferrer");
      expect(await link.getAttribute("target")).toBe("_blank");
    }
    const forbidden = "script, img, svg, iframe, form, input, style";
    await expect(answer.locator(forbidden)).toHaveCount(0);
    await answer.getByText("click me").click();
    await answer.getByText("raw link").click();
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
    expect(strangers).toEqual([]);
  });
});

test("no request leaves the origin", async ({ page, server, strangers }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(server.url);
  await say(page, "Hello");
  await settled(page);
  await page.getByRole("button", { name: /Theme/ }).click();
  await page.getByRole("button", { name: "Help and shortcuts" }).click();
  expect(asked.length).toBeGreaterThan(3);
  expect(strangers).toEqual([]);
});

test("the page has nothing inline and a strict policy", async ({
  page,
  server,
}) => {
  const response = await page.goto(server.url);
  const policy = response?.headers()["content-security-policy"] ?? "";
  expect(policy).toContain("default-src 'none'");
  expect(policy).not.toContain("unsafe");
  const html = (await response?.text()) ?? "";
  expect(html).not.toMatch(/<style|style=|<script(?![^>]*src=)/);
});

test("another site cannot follow a session", async ({
  page,
  server,
  context,
  strangers,
}) => {
  await page.goto(server.url);
  await say(page, "Hello");
  await settled(page);
  const feed = `${page.url().replace("http", "ws").replace("/sessions", "/api/sessions")}/events`;
  const site = createServer((_, response) => response.end("<p>Elsewhere</p>"));
  await new Promise<void>((done) => site.listen(0, "127.0.0.1", done));
  const other = await context.newPage();
  await other.goto(`http://127.0.0.1:${(site.address() as AddressInfo).port}`);
  const opened = await other.evaluate(
    (url) =>
      new Promise<boolean>((done) => {
        const socket = new WebSocket(url);
        socket.onopen = () => done(true);
        socket.onerror = () => done(false);
      }),
    feed,
  );
  expect(opened).toBe(false);
  site.close();
  // This test visited the other site on purpose.
  strangers.length = 0;
});
