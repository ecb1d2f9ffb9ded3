// Logging a browser in and out.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Browser, Page } from "@playwright/test";
import { answers, expect, panel, say, settled, test } from "../fixtures.js";
import { direct, probe } from "../context.js";
import { AUDIT, look } from "../looks.js";
import type { Server } from "../server.js";

const login = (page: Page) =>
  page.getByRole("heading", { name: "Log in to Gangway" });

/** A page of a browser that is not logged in. */
async function stranger(browser: Browser): Promise<Page> {
  return (await browser.newContext()).newPage();
}

async function open(page: Page, server: Server): Promise<void> {
  await page.goto(server.url);
  await expect(page.getByText("Welcome aboard")).toBeVisible();
}

test.describe("a browser that is not logged in", () => {
  test.use({ loggedIn: false, settings: { withKey: true } });

  test("shows the command, accepts an API key too, and stays logged in without a cookie", async ({
    page,
    server,
    context,
  }) => {
    await page.goto(server.url);
    await expect(login(page)).toBeVisible();
    await expect(page.getByText("gangway open")).toBeVisible();
    const key = page.getByLabel("API key");
    await key.fill("not the key");
    await page.getByRole("button", { name: "Log in" }).click();
    await expect(page.getByRole("alert")).toContainText(
      "Invalid code or API key",
    );

    await key.fill(server.key);
    await key.press("Enter");
    await expect(page.getByText("Welcome aboard")).toBeVisible();
    await say(page, "Hello");
    await settled(page);
    await expect(answers(page)).not.toHaveText("");
    await page.reload();
    await expect(answers(page)).toHaveCount(1);
    expect(await context.cookies()).toEqual([]);
  });

  test("logs in with the link of gangway open, and a waiting page continues automatically", async ({
    page,
    server,
    browser,
    context,
  }) => {
    await page.goto(`${server.url}/permissions`);
    await expect(login(page)).toBeVisible();
    const link = await server.loginUrl();
    expect(link).toContain("#login=");
    const other = await context.newPage();
    await other.goto(link);
    await expect(other.getByText("Welcome aboard")).toBeVisible();
    expect(other.url()).not.toContain("login");
    await expect(panel(page, "Sites")).toBeVisible();
    await expect(login(page)).toBeHidden();

    const again = await stranger(browser);
    await again.goto(link);
    await expect(again.getByRole("alert")).toContainText("already used");
    await again.goto(await server.loginUrl());
    await expect(again.getByText("Welcome aboard")).toBeVisible();
  });

  test("is let in by a link to any page", async ({ page, server }) => {
    const { hash } = new URL(await server.loginUrl());
    await page.goto(`${server.url}/study${hash}`);
    await expect(page.getByRole("heading", { name: "Studies" })).toBeVisible();
    await expect(page.getByRole("main")).toContainText("No sessions yet");
    await expect(login(page)).toBeHidden();
  });

  test(
    "is asked in a way that everybody can use",
    AUDIT,
    async ({ page, server }) => {
      await page.goto(server.url);
      await expect(login(page)).toBeVisible();
      await look(page, "login");
    },
  );
});

test("logging out closes what the other tabs have open, and they ask to log in", async ({
  page,
  context,
  server,
}) => {
  await open(page, server);
  const other = await context.newPage();
  const closed = new Promise<void>((resolve) => {
    other.on("websocket", (socket) => socket.on("close", () => resolve()));
  });
  await open(other, server);
  await page.getByRole("button", { name: "Log out" }).click();
  await expect(login(page)).toBeVisible();
  await expect(login(other)).toBeVisible();
  await closed;
  await other.reload();
  await expect(login(other)).toBeVisible();
});

test(
  "the browsers that are logged in are good to look at",
  AUDIT,
  async ({ page, server }) => {
    await server.logIn();
    await page.goto(`${server.url}/permissions`);
    const list = panel(page, "Logged-in browsers").getByRole("listitem");
    await expect(list).toHaveCount(2);
    await look(page, "logins");
  },
);

test("a browser that is logged out in the list is out at once", async ({
  page,
  browser,
  server,
}) => {
  const other = await stranger(browser);
  await other.goto(await server.loginUrl());
  await expect(other.getByText("Welcome aboard")).toBeVisible();
  await page.goto(`${server.url}/permissions`);
  const list = panel(page, "Logged-in browsers").getByRole("listitem");
  await expect(list).toHaveCount(2);
  await expect(list.filter({ hasText: "this browser" })).toHaveCount(1);
  const row = list.filter({ hasNotText: "this browser" });
  await expect(row).toContainText("Chrome on Linux");
  await expect(row).toContainText("127.0.0.1");
  await row.getByRole("button", { name: "Log out" }).click();
  const sure = page.getByRole("dialog");
  await sure.getByRole("button", { name: "Log out" }).click();
  await expect(list).toHaveCount(1);
  await expect(login(other)).toBeVisible();
  await expect(panel(page, "Sites")).toBeVisible();
});

test("all browsers are logged out at once", async ({
  page,
  browser,
  server,
}) => {
  const other = await stranger(browser);
  await other.goto(await server.loginUrl());
  await expect(other.getByText("Welcome aboard")).toBeVisible();
  await page.goto(`${server.url}/permissions`);
  const logins = panel(page, "Logged-in browsers");
  await logins
    .getByRole("button", { name: "Log out all", exact: true })
    .click();
  const sure = page.getByRole("dialog", { name: "Log out all browsers?" });
  await sure.getByRole("button", { name: "Log out" }).click();
  await expect(login(page)).toBeVisible();
  await expect(login(other)).toBeVisible();
});

test("a page at another port of the same host cannot use the login", async ({
  page,
  context,
  server,
  strangers,
}) => {
  await open(page, server);
  const token = await page.evaluate(
    () => localStorage["gangway.login"] as string,
  );
  expect(token).toMatch(/^gwl_/);
  const site = createServer((_, response) => response.end("<p>Elsewhere</p>"));
  await new Promise<void>((done) => site.listen(0, "127.0.0.1", done));
  const origin = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const other = await context.newPage();
  await other.goto(origin);
  const [stored, cookie, answered] = await other.evaluate(async (url) => {
    const got = await fetch(url, { credentials: "include" }).catch(() => null);
    return [localStorage.length, document.cookie, got !== null];
  }, `${server.url}/api/sessions`);
  expect([stored, cookie, answered]).toEqual([0, "", false]);
  const statusFrom = async (origin: string) => {
    const headers = { origin, authorization: `Bearer ${token}` };
    return (await fetch(`${server.url}/api/sessions`, { headers })).status;
  };
  expect(await statusFrom(server.url)).toBe(200);
  expect(await statusFrom(origin)).toBe(403);
  // The server's own pages under another name are no pages that logged in.
  const named = server.url.replace("127.0.0.1", "localhost");
  expect(await statusFrom(named)).toBe(401);
  site.close();
  // This test visited the other site on purpose.
  strangers.length = 0;
});

test.describe("with an app", () => {
  test.use({ settings: { apps: { probe: probe() } } });

  test("the address of an app opens in a browser that is logged in, and asks for a login in another", async ({
    page,
    browser,
    server,
  }) => {
    const address = `${direct(server, "probe")}?shelf=2`;
    await page.goto(address);
    await expect(page.getByRole("heading", { name: "Probe" })).toBeVisible();
    expect(page.url()).toBe(address);

    const other = await stranger(browser);
    await other.goto(address);
    await expect(login(other)).toBeVisible();
    const link = await other.context().newPage();
    await link.goto(await server.loginUrl());
    await expect(other.getByRole("heading", { name: "Probe" })).toBeVisible();
    expect(other.url()).toBe(address);
  });
});
