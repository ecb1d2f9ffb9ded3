// The window that asks: it waits to be seen, and no page can frame it, reach it or answer in its place.
import { expect, test } from "../site-fixtures.js";
import { asked, codeOf, valueOf } from "../sites.js";

const ask = (scopes: string) =>
  `window.answer = agent.requestPermissions({ scopes: ${scopes} })`;

test("the buttons wait until the window was seen for a while, and again after every break", async ({
  page,
  context,
  site,
}) => {
  await page.goto(site.origin);
  const permit = await asked(context, () =>
    page.evaluate((call) => {
      (0, eval)(call);
    }, ask('["chat:open"]')),
  );
  const allow = permit.getByRole("button", { name: "Always allow" });
  for (const event of ["blur", "resize"]) {
    await permit.evaluate(
      (event) => window.dispatchEvent(new Event(event)),
      event,
    );
    await expect(allow).toBeDisabled();
    await expect(allow).toBeEnabled();
  }
  // A click that comes too early is noticed, on a button as well: it makes the wait longer.
  const noticed = permit.evaluate(
    () =>
      new Promise((resolve) => {
        document.hasFocus = () => false;
        addEventListener("pointerdown", resolve, { capture: true });
        window.dispatchEvent(new Event("blur"));
      }),
  );
  await expect(allow).toBeDisabled();
  await allow.click({ force: true });
  await noticed;
  await permit.evaluate(() => {
    Reflect.deleteProperty(document, "hasFocus");
    window.dispatchEvent(new Event("focus"));
  });
  await expect(allow).toBeEnabled();
  // Keyboard users reach every button, also while the buttons are not active yet.
  await permit.evaluate(() => window.dispatchEvent(new Event("blur")));
  await expect(allow).toBeDisabled();
  await allow.focus();
  await expect(allow).toBeFocused();
  await permit.evaluate(() => (document.activeElement as HTMLElement).blur());
  await expect(allow).toBeEnabled();
  // Nothing has the focus, so that Enter decides nothing; nor does a click that no person made.
  expect(await permit.evaluate(() => document.activeElement?.tagName)).toBe(
    "BODY",
  );
  await permit.keyboard.press("Enter");
  await allow.evaluate((button: HTMLButtonElement) => button.click());
  await expect(allow).toBeEnabled();
  await permit.getByRole("button", { name: "Deny" }).click();
  expect(await valueOf(page, "window.answer")).toMatchObject({
    granted: false,
  });
});

test("a page can neither frame the window, nor reach into it, nor answer in its place", async ({
  page,
  context,
  site,
  server,
}) => {
  await page.goto(`${site.origin}/cover`);
  const permit = await asked(context, () =>
    page.evaluate((call) => {
      (0, eval)(call);
    }, ask('["chat:open"]')),
  );
  const url = permit.url();
  // Framed by the page, there is nothing to click through to.
  await page.locator("#permit").evaluate((frame: HTMLIFrameElement, url) => {
    frame.src = url;
    return new Promise((resolve) => (frame.onload = resolve));
  }, url);
  await expect(
    page.frameLocator("#permit").getByRole("button", { name: "Always allow" }),
  ).toHaveCount(0);
  // The window does not know its opener, nor the opener the window, also when the page opens it itself.
  expect(await permit.evaluate(() => window.opener as unknown)).toBeNull();
  const again = await asked(context, () =>
    page.evaluate((url) => {
      Object.assign(window, { opened: window.open(url) });
    }, url),
  );
  expect(await again.evaluate(() => window.opener as unknown)).toBeNull();
  await expect.poll(() => valueOf(page, "opened.closed")).toBe(true);
  const answer = {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: '{"decision":"always"}',
  };
  const id = new URL(url).searchParams.get("ask") ?? "";
  const path = `${server.url}/api/asks/${id}`;
  expect(
    await codeOf(
      page,
      `fetch(${JSON.stringify(path)}, ${JSON.stringify(answer)})`,
    ),
  ).toBe("TypeError");
  await page.evaluate(
    ([path, answer]) =>
      fetch(path, {
        ...answer,
        mode: "no-cors",
        headers: { "content-type": "text/plain" },
      }).then(
        () => undefined,
        () => undefined,
      ),
    [path, answer] as const,
  );
  await permit.getByRole("button", { name: "Deny" }).click();
  expect(await valueOf(page, "window.answer")).toMatchObject({
    granted: false,
  });
});

test("where no window opens, a bar in the page leads to it, and goes when the answer is there", async ({
  page,
  context,
  site,
}) => {
  await page.addInitScript(() => {
    const open = window.open.bind(window);
    let clicked = false;
    addEventListener("click", () => (clicked = true), true);
    window.open = (...args) => (clicked ? open(...args) : null);
  });
  await page.goto(site.origin);
  await page.evaluate((call) => {
    (0, eval)(call);
  }, ask('["chat:open"]'));
  await expect
    .poll(() =>
      page.evaluate(() => document.documentElement.lastElementChild?.tagName),
    )
    .toBe("DIV");
  const opening = context.waitForEvent("page");
  const width = page.viewportSize()?.width ?? 0;
  await page.mouse.click(width / 2 + 160, 22);
  const permit = await opening;
  await permit.getByRole("button", { name: "Allow once" }).click();
  expect(await valueOf(page, "window.answer")).toMatchObject({ granted: true });
  expect(
    await page.evaluate(
      () => document.documentElement.lastElementChild?.tagName,
    ),
  ).not.toBe("DIV");
});

test("a window that is closed early is no answer within two seconds, and the next request is not blocked", async ({
  page,
  context,
  site,
}) => {
  await page.goto(site.origin);
  const permit = await asked(context, () =>
    page.evaluate((call) => {
      (0, eval)(call);
    }, ask('["chat:open"]')),
  );
  await permit.waitForLoadState("domcontentloaded");
  const closed = Date.now();
  await permit.close();
  expect(await valueOf(page, "window.answer")).toMatchObject({
    scopes: { "chat:open": "not-granted" },
  });
  expect(Date.now() - closed).toBeLessThan(2_000);
  const next = await asked(context, () =>
    page.evaluate((call) => {
      (0, eval)(call);
    }, ask('["model:list"]')),
  );
  await next.getByRole("button", { name: "Allow once" }).click();
  expect(await valueOf(page, "window.answer")).toMatchObject({ granted: true });
});

test("the window of a page that was reloaded closes, and the page can ask again", async ({
  page,
  context,
  site,
}) => {
  await page.goto(site.origin);
  const stale = await asked(context, () =>
    page.evaluate((call) => {
      (0, eval)(call);
    }, ask('["chat:open"]')),
  );
  await expect(stale.getByRole("button", { name: "Deny" })).toBeVisible();
  await page.reload();
  await expect.poll(() => stale.isClosed()).toBe(true);
  const permit = await asked(context, () =>
    page.evaluate((call) => {
      (0, eval)(call);
    }, ask('["model:list"]')),
  );
  await permit.getByRole("button", { name: "Allow once" }).click();
  expect(await valueOf(page, "window.answer")).toMatchObject({ granted: true });
});
