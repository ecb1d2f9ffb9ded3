// Pages of other sites and the login, which none of their frames has.
import { expect, test } from "../site-fixtures.js";
import { asked, meet, request, valueOf } from "../sites.js";

test("a chat opens inside a page of another site without a login", async ({
  page,
  site,
}) => {
  await page.goto(site.origin);
  await request(page, ["chat:open"], "Allow once");
  expect(await valueOf(page, "agent.chat.open()")).toMatchObject({
    success: true,
  });
  const frame = page.frameLocator('iframe[title="Chat"]');
  const box = frame.getByRole("textbox", { name: "Message" });
  await box.fill("herring");
  await box.press("Enter");
  await expect(frame.getByText("Heard: herring")).toBeVisible();
  await frame.getByRole("button", { name: "Close chat" }).click();
  await expect(page.locator('iframe[title="Chat"]')).toHaveCount(0);
});

test("the first decision about a page is made in its own window, later ones in any tab of Gangway", async ({
  page,
  context,
  site,
  server,
}) => {
  const own = await context.newPage();
  await own.goto(server.url);
  await page.goto(site.origin);
  const banner = own.getByText("requests access to Gangway");
  const permit = await asked(context, () =>
    page.evaluate(() => {
      void window.agent?.requestPermissions({ scopes: ["model:list"] });
    }),
  );
  await expect(banner).toHaveCount(0);
  await permit.getByRole("button", { name: "Allow once" }).click();
  await meet(page);
  await asked(context, () =>
    page.evaluate(() => {
      void window.agent?.requestPermissions({ scopes: ["model:prompt"] });
    }),
  );
  await expect(banner).toBeVisible();
});

test.describe("in a browser that is not logged in", () => {
  test.use({ loggedIn: false });

  test("the window of a request asks to log in, and continues automatically", async ({
    page,
    context,
    site,
    server,
  }) => {
    await page.goto(site.origin);
    const opening = context.waitForEvent("page");
    await page.evaluate(() => {
      const answer = window.agent?.requestPermissions({
        scopes: ["chat:open"],
      });
      Object.assign(window, { answer });
    });
    const permit = await opening;
    await expect(permit.getByText("gangway open")).toBeVisible();
    const own = await context.newPage();
    await own.goto(await server.loginUrl());
    await expect(own.getByText("Welcome aboard")).toBeVisible();
    await permit.bringToFront();
    await permit.getByRole("button", { name: "Allow once" }).click();
    expect(await valueOf(page, "window.answer")).toMatchObject({
      granted: true,
    });
  });
});
