// Pages that click, fill in and picture themselves by way of the extension, and those that try to do more.
import type { Page } from "@playwright/test";
import type {
  BrowserElement,
  PermissionScope,
} from "@gangway/client/web-agent";
import { expect, test } from "../extension.js";
import type { Server } from "../server.js";
import { asked, codeOf, request, valueOf } from "../sites.js";

const TAB = "agent.browser.activeTab";
const READ: PermissionScope = "browser:activeTab.read";
const CLICK: PermissionScope = "browser:activeTab.click";
const FILL: PermissionScope = "browser:activeTab.fill";
const SHOT: PermissionScope = "browser:activeTab.screenshot";

test("a page lists, fills in and clicks its elements, each with a permission of its own", async ({
  page,
  site,
}) => {
  await page.goto(`${site.origin}/form`);
  const calls = {
    list: `${TAB}.getElements()`,
    click: `${TAB}.click("#buy")`,
    fill: `${TAB}.fill("#name", "Ahab")`,
    shot: `${TAB}.screenshot()`,
  };
  const codes = async () =>
    Promise.all(Object.values(calls).map((call) => codeOf(page, call)));
  const missing = "ERR_SCOPE_REQUIRED";
  expect(await codes()).toEqual([missing, missing, missing, missing]);
  // Permission to read does not include clicking.
  await request(page, [READ], "Allow once");
  expect(await codes()).toEqual(["kept", missing, missing, missing]);
  await request(page, [CLICK], "Allow once");
  expect(await codes()).toEqual(["kept", "kept", missing, missing]);
  await request(page, [FILL], "Deny");
  expect((await codes())[2]).toBe("ERR_PERMISSION_DENIED");
  expect(await valueOf(page, "bought")).toBe(2);
  await expect(page.locator("#name")).toHaveValue("");
});

test("elements are named by selectors and references; what a person could not use is refused with a code", async ({
  page,
  site,
}) => {
  await page.goto(`${site.origin}/form`);
  await request(page, [READ, CLICK, FILL], "Allow once");
  const found = await valueOf<BrowserElement[]>(page, `${TAB}.getElements()`);
  expect(found.map(({ role, text }) => `${role} ${text}`)).toEqual([
    ...["textbox Name", "textbox Code", "button Buy", "button Off"],
    "button Under",
  ]);
  expect(JSON.stringify(found)).not.toContain("kept secret");
  const refOf = (text: string) =>
    found.find((element) => element.text === text)?.ref ?? "";
  await valueOf(page, `${TAB}.fill("${refOf("Name")}", "Ahab")`);
  await expect(page.locator("#name")).toHaveValue("Ahab");
  await valueOf(page, `${TAB}.click("${refOf("Buy")}")`);
  expect(await valueOf(page, "bought")).toBe(1);
  const codes: Record<string, string> = {};
  for (const target of [
    ...["#gone", "#off", "#under", "#missing", "button", "body:has("],
    "@e99",
  ]) {
    codes[target] = await codeOf(page, `${TAB}.click("${target}")`);
  }
  expect(codes).toEqual({
    "#gone": "ERR_ELEMENT_HIDDEN",
    "#off": "ERR_ELEMENT_DISABLED",
    "#under": "ERR_ELEMENT_HIDDEN",
    "#missing": "ERR_ELEMENT_NOT_FOUND",
    button: "ERR_ELEMENT_AMBIGUOUS",
    "body:has(": "ERR_INVALID_ARGUMENT",
    "@e99": "ERR_ELEMENT_NOT_FOUND",
  });
  const password = await codeOf(page, `${TAB}.fill("#secret", "guess")`);
  expect(password).toBe("ERR_ELEMENT_PROTECTED");
  await expect(page.locator("#secret")).toHaveValue("kept secret");
});

test("the question names each of them with its risk", async ({
  page,
  site,
}) => {
  await page.goto(`${site.origin}/form`);
  const permit = await asked(page.context(), () =>
    page.evaluate(
      (scopes) => {
        void window.agent?.requestPermissions({ scopes });
      },
      [CLICK, FILL, SHOT],
    ),
  );
  for (const words of [
    ...["Click on this page", "Fill in fields on this page"],
    "Take screenshots of this page",
  ]) {
    await expect(permit.getByText(words)).toBeVisible();
  }
  await expect(permit.getByText("High risk", { exact: true })).toHaveCount(3);
  await expect(permit.getByText("3 high-risk")).toBeVisible();
});

interface Shot {
  width: number;
  height: number;
  length: number;
  type: string;
  /** Some pixels, as red, green and blue. */
  pixels: number[][];
}

/** Takes a picture on the page, and looks at some of its points, given in parts of its size. */
async function shotOf(
  page: Page,
  points: [number, number][],
  options: object = {},
): Promise<Shot> {
  return valueOf<Shot>(
    page,
    `${TAB}.screenshot(${JSON.stringify(options)}).then(async ({ dataUrl, width, height }) => {
      const image = new Image();
      image.src = dataUrl;
      await image.decode();
      const canvas = document.createElement("canvas");
      [canvas.width, canvas.height] = [width, height];
      const context = canvas.getContext("2d");
      context.drawImage(image, 0, 0);
      const pixels = ${JSON.stringify(points)}.map(([x, y]) =>
        [...context.getImageData(x, y, 1, 1).data].slice(0, 3));
      const type = dataUrl.slice(0, dataUrl.indexOf(";"));
      return { width, height, length: dataUrl.length, type, pixels };
    })`,
  );
}

const GREEN = [0, 128, 0];

test("a picture shows the page and none of its frames, wherever they are, and is bounded", async ({
  page,
  site,
}) => {
  await page.goto(`${site.origin}/red-frames`);
  await request(page, [SHOT], "Allow once");
  await page.bringToFront();
  const png = { format: "png" };
  const points: [number, number][] = [
    ...([
      [100, 100],
      [100, 300],
      [600, 100],
    ] as [number, number][]),
  ];
  const { pixels, width, height, length, type } = await shotOf(
    ...[page, points, png],
  );
  expect(pixels).toEqual([GREEN, GREEN, GREEN]);
  expect(Math.max(width, height)).toBeLessThanOrEqual(1_280);
  expect(length).toBeLessThan(700_000);
  expect(type).toBe("data:image/png");
  // The frames are there again for the person.
  const own = await page.screenshot();
  expect(own.length).toBeGreaterThan(0);
  await expect(page.locator("#open")).toHaveCSS("visibility", "visible");
});

test("only the active tab can be captured, not one behind another tab", async ({
  page,
  site,
  context,
}) => {
  await page.goto(`${site.origin}/form`);
  await request(page, [SHOT], "Allow once");
  const front = await context.newPage();
  await front.goto(`${site.other}/red`);
  await front.bringToFront();
  const code = await codeOf(page, `${TAB}.screenshot()`);
  expect(code).toBe("ERR_TAB_NOT_VISIBLE");
});

test("a frame acts on itself alone, and with what its own origin was granted", async ({
  page,
  site,
}) => {
  await page.goto(`${site.origin}/form-frames`);
  await request(page, [CLICK, SHOT], "Allow once");
  await page.bringToFront();
  const inFrame = async (name: string, call: string) =>
    page
      .frame(name)
      ?.evaluate(
        (call) =>
          (0, eval)(`${call}.then(() => "kept", ({ code }) => code)`) as string,
        call,
      );
  const [click, outside] = [`${TAB}.click("#buy")`, `${TAB}.click("#outside")`];
  expect(await inFrame("other", click)).toBe("ERR_SCOPE_REQUIRED");
  expect(await inFrame("same", outside)).toBe("ERR_ELEMENT_NOT_FOUND");
  expect(await inFrame("same", click)).toBe("kept");
  expect(await inFrame("same", `${TAB}.screenshot()`)).toBe(
    "ERR_NOT_SUPPORTED",
  );
  // Nor does the page reach into its frames.
  expect(await codeOf(page, click)).toBe("ERR_ELEMENT_NOT_FOUND");
  const bought = (name: string) =>
    page.frame(name)?.evaluate(() => Reflect.get(window, "bought") as unknown);
  expect(await bought("same")).toBe(1);
  expect(await bought("other")).toBeUndefined();
  expect(await valueOf(page, "window.bought")).toBeUndefined();
});

/** How often a page was let do this. */
async function uses(server: Server, what: string): Promise<number> {
  const answer = await server.fetch("/api/permissions/audit");
  const { entries } = (await answer.json()) as { entries: { what: string }[] };
  return entries.filter((entry) => entry.what === what).length;
}

test("a click that was allowed to one page is not made on the page that took its place", async ({
  page,
  site,
  server,
}) => {
  await page.goto(`${site.origin}/form`);
  await request(page, [CLICK, FILL], "Allow once");
  // The next page comes while the calls are under way.
  const other = `${site.other}/form`;
  await page.evaluate(
    ([other]) => {
      for (let n = 0; n < 20; n += 1) {
        void window.agent?.browser.activeTab.click("#buy").catch(() => 0);
      }
      location.href = other ?? "";
    },
    [other],
  );
  await page.waitForURL(other);
  await expect.poll(() => uses(server, "tab.click")).toBeGreaterThan(0);
  expect(await codeOf(page, `${TAB}.click("#buy")`)).toBe("ERR_SCOPE_REQUIRED");
  expect(await valueOf(page, "window.bought")).toBeUndefined();
});

test("what was taken back is refused at the next call, and a page cannot forge an allowance", async ({
  page,
  site,
  server,
}) => {
  await page.goto(`${site.origin}/form`);
  await request(page, [CLICK], "Always allow");
  expect(await codeOf(page, `${TAB}.click("#buy")`)).toBe("kept");
  const scopes = { [CLICK]: "not-granted" };
  const body = JSON.stringify({ origin: site.origin, scopes });
  const answer = await server.fetch("/api/permissions", {
    ...{ method: "PATCH", body },
    headers: { "content-type": "application/json" },
  });
  expect(answer.status).toBe(200);
  // What the page can reach of the way to the extension.
  await page.evaluate(() => {
    const { port1, port2 } = new MessageChannel();
    const forged = { type: "result", id: 1, result: null };
    port1.postMessage(forged);
    const event = new MessageEvent("gangway:port", { ports: [port2] });
    document.dispatchEvent(event);
    window.postMessage(forged, "*");
    window.postMessage({ type: "act", action: { type: "click" } }, "*");
  });
  const code = await codeOf(page, `${TAB}.click("#buy")`);
  expect(code).toBe("ERR_SCOPE_REQUIRED");
  expect(await valueOf(page, "bought")).toBe(1);
});

test("a page with only the script gets an error that the extension is needed", async ({
  page,
  site,
}) => {
  // A page of this machine that has the script uses it, extension or not.
  await page.goto(`${site.origin}/`);
  expect(await codeOf(page, `${TAB}.click("body")`)).toBe("ERR_NOT_SUPPORTED");
  expect(await codeOf(page, `${TAB}.screenshot()`)).toBe("ERR_NOT_SUPPORTED");
});
