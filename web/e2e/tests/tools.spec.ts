// The Tools page against a real server, with MCP servers that others made.
import type { Page } from "@playwright/test";
import { expect, panel, serverRow as row, test } from "../fixtures.js";
import { AUDIT, expectNothingSerious } from "../looks.js";
import { EVERYTHING } from "../server.js";

test.slow();

async function addByCommand(page: Page, name: string, command: string) {
  const add = panel(page, "Add an MCP server");
  await add.getByRole("textbox", { name: "Name", exact: true }).fill(name);
  await add.getByRole("textbox", { name: "Command line" }).fill(command);
  await add.getByRole("button", { name: "Add", exact: true }).click();
}

test("a server is added by its command, tried by a form, and removed", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/tools`);
  await expect(panel(page, "MCP servers")).toContainText("No MCP servers yet");
  await addByCommand(page, "everything", `"${EVERYTHING}" stdio`);
  const everything = row(page, "everything");
  await expect(everything).toContainText("ready");
  await expect(everything).toContainText(/MCP \d{4}-\d{2}-\d{2} · \d+ tools/);
  await expect(everything).toContainText(`${EVERYTHING} stdio`);

  const tools = panel(page, "Tools");
  await tools.getByLabel("Filter tools").fill("echo");
  const echo = tools.getByRole("button", { name: /^echo/ });
  await echo.click();
  const form = page.getByRole("form", { name: "Try everything/echo" });
  await form.getByRole("button", { name: "Run" }).click();
  await expect(form).toContainText("Required.");
  await expect(form.getByLabel(/^message/)).toBeFocused();
  await form.getByLabel(/^message/).fill("ahoy <b>there</b>");
  await form.getByRole("button", { name: "Run" }).click();
  const result = tools.getByRole("group", { name: "Result" });
  await expect(result).toContainText("Echo: ahoy <b>there</b>");
  await expect(form.getByRole("button", { name: "Run" })).toBeFocused();

  await form.getByRole("button", { name: "Edit as JSON" }).click();
  const json = form.getByLabel("Arguments as JSON");
  await expect(json).toHaveValue(/"message": "ahoy <b>there<\/b>"/);
  await json.fill('{"message": 1');
  await form.getByRole("button", { name: "Run" }).click();
  await expect(form).toContainText("Invalid JSON");
  await json.fill('{"message": "by JSON"}');
  await form.getByRole("button", { name: "Back to the form" }).click();
  await expect(form.getByLabel(/^message/)).toHaveValue("by JSON");

  await everything.getByRole("button", { name: "Log of everything" }).click();
  const log = everything.getByRole("log");
  await expect(log).toContainText("stderr");

  await everything.getByRole("button", { name: "Stop everything" }).click();
  await expect(everything).toContainText("stopped");
  await expect(panel(page, "Tools")).toContainText("No MCP server is ready");
  await everything.getByRole("button", { name: "Start everything" }).click();
  await expect(everything).toContainText("ready");

  await everything.getByRole("button", { name: "Remove everything" }).click();
  const sure = page.getByRole("dialog", { name: "Remove this MCP server?" });
  await sure.getByRole("button", { name: "Remove" }).click();
  await expect(panel(page, "MCP servers")).toContainText("No MCP servers yet");
  await expect(
    page.getByRole("heading", { name: "MCP servers" }),
  ).toBeFocused();
});

test("a command that does not work says why, and can be put right", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/tools`);
  await addByCommand(page, "Bad Name", '"unclosed');
  const add = panel(page, "Add an MCP server");
  await expect(add).toContainText("lowercase letters");
  await expect(add).toContainText('A closing " is missing.');
  await expect(
    add.getByRole("textbox", { name: "Name", exact: true }),
  ).toBeFocused();
  await addByCommand(page, "broken", "no-such-program-anywhere --now");
  const broken = row(page, "broken");
  await expect(broken).toContainText("no-such-program-anywhere --now");
  await expect(broken).toContainText(/failed|starting/);
  await expect(broken.locator(".problem")).toContainText(
    "no-such-program-anywhere",
  );
  await addByCommand(page, "broken", "true");
  await expect(add).toContainText("A server with this name already exists.");
});

test("variables reach the server", async ({ page, server }) => {
  await page.goto(`${server.url}/tools`);
  const add = panel(page, "Add an MCP server");
  await add.getByRole("button", { name: "Add a variable" }).click();
  await expect(add.getByLabel("Name of variable 1")).toBeFocused();
  await add.getByLabel("Name of variable 1").fill("GREETING");
  await add.getByLabel("Value of variable 1").fill("ahoy there");
  await addByCommand(page, "everything", `${EVERYTHING} stdio`);
  await expect(row(page, "everything")).toContainText("ready");
  const tools = panel(page, "Tools");
  await tools.getByRole("button", { name: /^get-env/ }).click();
  const form = page.getByRole("form", { name: "Try everything/get-env" });
  await form.getByRole("button", { name: "Run" }).click();
  await expect(tools.getByRole("group", { name: "Result" })).toContainText(
    '"GREETING": "ahoy there"',
  );
});

test("servers in the JSON of another host are shown before they are added", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/tools`);
  const add = panel(page, "Add an MCP server");
  await add.getByText("JSON from another client").click();
  const json = add.getByLabel("JSON", { exact: true });
  await json.fill("{ not json");
  await add.getByRole("button", { name: "Add", exact: true }).click();
  await expect(add).toContainText("Invalid JSON");
  const entry = { command: EVERYTHING, args: ["stdio"] };
  await json.fill(JSON.stringify({ mcpServers: { demo: entry } }));
  await expect(add).toContainText(`demo ${EVERYTHING} stdio`);
  await add.getByRole("button", { name: "Add", exact: true }).click();
  await expect(row(page, "demo")).toContainText("ready");
  await expect(json).toHaveValue("");
});

test.describe("with a server from the settings", () => {
  test.use({
    settings: {
      tools: { everything: { command: EVERYTHING, args: ["stdio"] } },
    },
  });

  test("it cannot be removed here, and the router says why it is chosen", async ({
    page,
    server,
  }) => {
    await page.goto(`${server.url}/tools`);
    const everything = row(page, "everything");
    await expect(everything).toContainText("ready");
    await expect(everything).toContainText("config.yaml");
    await expect(
      everything.getByRole("button", { name: "Remove everything" }),
    ).toHaveCount(0);
    const router = panel(page, "Tool selection");
    await router.getByLabel("Message").fill("please echo this back");
    await router.getByRole("button", { name: "Try" }).click();
    await expect(router).toContainText(/everything\s+matched.*echo/);
    await router.getByLabel("Message").fill("zzz");
    await router.getByLabel("Message").press("Enter");
    await expect(router).toContainText("No match: all tools would be offered.");
  });

  test("a tool that takes long can be stopped, and errors have their code", async ({
    page,
    server,
  }) => {
    await page.goto(`${server.url}/tools`);
    const tools = panel(page, "Tools");
    await tools
      .getByRole("button", { name: /^trigger-long-running-operation/ })
      .click();
    const form = page.getByRole("form", {
      name: "Try everything/trigger-long-running-operation",
    });
    await form.getByLabel(/^duration/).fill("sixty");
    await form.getByRole("button", { name: "Run" }).click();
    await expect(form).toContainText("Enter a number.");
    await form.getByLabel(/^duration/).fill("60");
    await form.getByRole("button", { name: "Run" }).click();
    await form.getByRole("button", { name: "Stop" }).click();
    await expect(tools).toContainText("Stopped.");
    await expect(form.getByRole("button", { name: "Run" })).toBeFocused();
    await form.getByRole("button", { name: "Edit as JSON" }).click();
    await form.getByLabel("Arguments as JSON").fill('{"duration": "long"}');
    await form.getByRole("button", { name: "Run" }).click();
    await expect(tools.getByRole("alert")).toContainText("Tool call failed: ");
  });

  test("what a server asks in the middle of a call is asked, and the answer gets there", async ({
    page,
    server,
  }) => {
    await page.goto(`${server.url}/tools`);
    const tools = panel(page, "Tools");
    await tools
      .getByRole("button", { name: /^trigger-elicitation-request/ })
      .click();
    const form = page.getByRole("form", { name: /trigger-elicitation/ });
    await form.getByRole("button", { name: "Run" }).click();
    const dialog = page.getByRole("dialog", {
      name: /Question from everything/,
    });
    await expect(dialog).toContainText("Your answer is sent to everything");
    await expectNothingSerious(page, "question");
    // Put aside, it waits on every page.
    await page.keyboard.press("Escape");
    await expect(dialog).toBeHidden();
    await expect(page.getByText("everything has a question")).toBeVisible();
    await page.getByRole("button", { name: "Review" }).click();
    await dialog.getByRole("textbox").first().fill("Ada Lovelace");
    await dialog.getByRole("button", { name: "Send to everything" }).click();
    await expect(dialog).toBeHidden();
    await expect(tools.getByRole("group", { name: "Result" })).toContainText(
      "Ada Lovelace",
    );
    await form.getByRole("button", { name: "Run" }).click();
    await dialog.getByRole("button", { name: "Decline" }).click();
    await expect(tools.getByRole("group", { name: "Result" })).toContainText(
      "declined",
    );
  });

  test("the page, the models and the chat lead to each other", async ({
    page,
    server,
  }) => {
    await page.goto(server.url);
    const side = page.getByRole("complementary", { name: "Sidebar" });
    await side.getByRole("link", { name: "Tools" }).click();
    const heading = page.getByRole("heading", { name: "Tools", level: 1 });
    await expect(heading).toBeFocused();
    await expect(page).toHaveTitle("Tools – Gangway");
    const main = page.getByRole("main");
    await main.getByRole("link", { name: "Models" }).click();
    await expect(page).toHaveURL(/\/models$/);
    await main.getByRole("link", { name: "Tools" }).click();
    await expect(heading).toBeFocused();
    await page.goBack();
    await expect(page).toHaveTitle("Models – Gangway");
    await main.getByRole("link", { name: "Back to chat" }).click();
    await expect(page.getByText("Welcome aboard")).toBeVisible();
  });

  test("everything can be reached by the keyboard", async ({
    page,
    server,
  }) => {
    await page.goto(`${server.url}/tools`);
    await expect(row(page, "everything")).toContainText("ready");
    const tools = panel(page, "Tools");
    await tools.getByLabel("Filter tools").focus();
    await page.keyboard.type("get-sum");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.type("2");
    await page.keyboard.press("Tab");
    await page.keyboard.type("40");
    await page.keyboard.press("Enter");
    await expect(tools.getByRole("group", { name: "Result" })).toContainText(
      "42",
    );
  });

  test("the page shows when the server is gone, and continues when it is back", async ({
    page,
    server,
  }) => {
    await page.goto(`${server.url}/tools`);
    await expect(row(page, "everything")).toContainText("ready");
    await server.kill();
    await expect(page.getByText("Gangway is not responding")).toBeVisible();
    await server.launch();
    await expect(page.getByText("Gangway is not responding")).toBeHidden();
    await expect(row(page, "everything")).toContainText("ready");
  });

  for (const colorScheme of ["light", "dark"] as const) {
    test(
      `the page fits a phone in ${colorScheme}, and axe finds nothing serious`,
      AUDIT,
      async ({ page, server }) => {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width: 375, height: 740 });
        await page.goto(`${server.url}/tools`);
        const everything = row(page, "everything");
        await expect(everything).toContainText("ready");
        await everything
          .getByRole("button", { name: "Log of everything" })
          .click();
        const add = panel(page, "Add an MCP server");
        await add.getByRole("button", { name: "Add a variable" }).click();
        await add.getByRole("button", { name: "Add", exact: true }).click();
        const tools = panel(page, "Tools");
        await tools.getByRole("button", { name: /^get-sum/ }).click();
        const form = page.getByRole("form", { name: "Try everything/get-sum" });
        await form.getByRole("button", { name: "Run" }).click();
        await expect(form).toContainText("Required.");
        const overflow = await page
          .locator(".scroller")
          .evaluate((el) => el.scrollWidth - el.clientWidth);
        expect(overflow).toBe(0);
        await expectNothingSerious(page, colorScheme);
        await page.getByRole("button", { name: "Show chats" }).click();
        const drawer = page.getByRole("dialog", { name: "Chats" });
        await drawer.getByRole("link", { name: "Models", exact: true }).click();
        await expect(drawer).toBeHidden();
      },
    );
  }
});
