// The catalog on the Tools page: a registry of the test's own, real packages, real servers.
import { expect, panel, serverRow, test as base } from "../fixtures.js";
import { FakeRegistry } from "../registry.js";
import { EVERYTHING } from "../server.js";

const test = base.extend<{ registry: FakeRegistry }>({
  // eslint-disable-next-line no-empty-pattern
  registry: async ({}, use) => {
    const registry = await new FakeRegistry().start();
    await use(registry);
    await registry.stop();
  },

  settings: async ({ registry }, use) => {
    await use({ catalog: registry.url });
  },
});

test.slow();

test("a server is found, shown with what would run, installed and removed", async ({
  page,
  server,
}) => {
  test.setTimeout(180_000);
  await page.goto(`${server.url}/tools`);
  const catalog = panel(page, "Catalog");
  await catalog.getByRole("button", { name: "Refresh" }).click();
  await expect(catalog).toContainText("2 servers");
  await expect(catalog).toContainText("Last refreshed");
  await catalog.getByLabel("Search the catalog").fill("everything");
  await expect(catalog).toContainText("1 server for “everything”");
  const card = catalog
    .getByRole("list", { name: "Catalog servers" })
    .getByRole("listitem");
  await expect(card).toHaveCount(1);
  await expect(card).toContainText("<b>Bold</b>, is it?");
  const links = card.getByRole("link");
  await expect(links).toHaveCount(1);
  await expect(links).toHaveAttribute("rel", /noopener/);
  await card.getByRole("button", { name: "Install Everything" }).click();
  const form = page.getByRole("form", { name: "Install Everything" });
  await expect(form).toContainText(
    /npx .*@modelcontextprotocol\/server-everything@[\d.]+ stdio/,
  );
  await form.getByRole("button", { name: "Install", exact: true }).click();
  const key = form.getByLabel(/^PLANTED_KEY/);
  await expect(key).toBeFocused();
  await expect(key).toHaveAttribute("type", "password");
  await key.fill("planted-in-the-test");
  await form.getByRole("button", { name: "Install", exact: true }).click();
  await expect(form).toBeHidden();
  const everything = serverRow(page, "everything");
  await expect(everything).toContainText("ready", { timeout: 120_000 });
  await expect(card).toContainText("installed: everything");
  const html = await page.content();
  expect(html).not.toContain("planted-in-the-test");
  await everything.getByRole("button", { name: "Remove everything" }).click();
  await page
    .getByRole("dialog", { name: "Remove this MCP server?" })
    .getByRole("button", { name: "Remove" })
    .click();
  await expect(everything).toHaveCount(0);
});

test("an install that fails says why, shows its output and can be tried again", async ({
  page,
  server,
}) => {
  test.setTimeout(120_000);
  await page.goto(`${server.url}/tools`);
  const catalog = panel(page, "Catalog");
  await catalog.getByRole("button", { name: "Refresh" }).click();
  // The list moves while it is refreshed.
  await expect(catalog).toContainText("Last refreshed");
  await catalog.getByRole("button", { name: "Install Missing" }).click();
  const form = page.getByRole("form", { name: "Install Missing" });
  await form.getByLabel(/^PLANTED_KEY/).fill("x");
  await form.getByRole("button", { name: "Install", exact: true }).click();
  const installs = catalog.getByRole("list", { name: "Installs" });
  await expect(installs).toContainText("Install failed", { timeout: 60_000 });
  await expect(installs.getByRole("alert")).not.toBeEmpty();
  await installs.getByText("Output").click();
  await expect(installs.locator("pre")).toContainText("404");
  await installs.getByRole("button", { name: /^Retry/ }).click();
  await expect(installs).toContainText("Install failed", { timeout: 60_000 });
  await installs.getByRole("button", { name: /^Dismiss/ }).click();
  await expect(installs).toHaveCount(0);
});

test("an install can be cancelled, and nothing of it is left", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/tools`);
  const catalog = panel(page, "Catalog");
  await catalog.getByRole("button", { name: "Refresh" }).click();
  // The list moves while it is refreshed.
  await expect(catalog).toContainText("Last refreshed");
  await catalog.getByRole("button", { name: "Install Everything" }).click();
  const form = page.getByRole("form", { name: "Install Everything" });
  await form.getByLabel(/^PLANTED_KEY/).fill("x");
  await form.getByRole("button", { name: "Install", exact: true }).click();
  const installs = catalog.getByRole("list", { name: "Installs" });
  await installs.getByRole("button", { name: /^Cancel/ }).click();
  await expect(installs).toContainText("Cancelled");
  await installs.getByRole("button", { name: /^Dismiss/ }).click();
  await expect(installs).toHaveCount(0);
  await expect(panel(page, "MCP servers")).toContainText("No MCP servers yet");
});

test("a secret of a server that was added by hand reaches it and is not shown", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/tools`);
  const add = panel(page, "Add an MCP server");
  await add.getByRole("textbox", { name: "Name", exact: true }).fill("mine");
  await add
    .getByRole("textbox", { name: "Command line" })
    .fill(`"${EVERYTHING}" stdio`);
  await add.getByRole("button", { name: "Add a variable" }).click();
  await add.getByLabel("Name of variable 1").fill("MY_TOKEN");
  await add.getByLabel("Value of variable 1").focus();
  // A name like that is taken for a secret.
  await expect(add.getByLabel("variable 1 is secret")).toBeChecked();
  await expect(add.getByLabel("Value of variable 1")).toHaveAttribute(
    "type",
    "password",
  );
  await add.getByLabel("Value of variable 1").fill("planted-by-hand");
  await add.getByRole("button", { name: "Add", exact: true }).click();
  await expect(serverRow(page, "mine")).toContainText("ready");
  await expect(add.getByLabel("Value of variable 1")).toHaveCount(0);
  expect(await page.content()).not.toContain("planted-by-hand");
  const tools = panel(page, "Tools");
  await tools.getByRole("button", { name: /^get-env/ }).click();
  await page
    .getByRole("form", { name: "Try mine/get-env" })
    .getByRole("button", { name: "Run" })
    .click();
  await expect(tools.getByRole("group", { name: "Result" })).toContainText(
    '"MY_TOKEN": "planted-by-hand"',
  );
});

test("an unreachable registry is reported, and the cached list is still shown", async ({
  page,
  server,
  registry,
}) => {
  await page.goto(`${server.url}/tools`);
  const catalog = panel(page, "Catalog");
  await catalog.getByRole("button", { name: "Refresh" }).click();
  await expect(catalog).toContainText("2 servers");
  await expect(catalog).toContainText("Last refreshed");
  await registry.stop();
  await catalog.getByRole("button", { name: "Refresh" }).click();
  await expect(catalog).toContainText("Refresh failed");
  await expect(catalog).toContainText("2 servers");
});
