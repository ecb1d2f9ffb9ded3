// The three apps that come with Gangway, with an agent and without one.
import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { Agent, direct, launch, OUTSIDE, visit } from "../context.js";
import { expect, test } from "../fixtures.js";
import { LOOKS, look } from "../looks.js";

const EXPENSES = [
  {
    id: "e1",
    date: "2026-01-03",
    description: "Rent",
    category: "Home",
    amount: 900,
  },
  {
    id: "e2",
    date: "2026-01-09",
    description: "Bread",
    category: "Food",
    amount: 4.2,
  },
  {
    id: "e3",
    date: "2026-02-11",
    description: "Fish",
    category: "Food",
    amount: 18,
  },
  {
    id: "e4",
    date: "2025-12-31",
    description: "Party",
    category: "Fun",
    amount: 60,
  },
];

test.describe("the budget dashboard", () => {
  test(
    "shows the agent's data, in its range, and reports flagged and saved items",
    LOOKS,
    async ({ page, server }) => {
      const { url, launchId } = await launch(server, "budget-dashboard", {
        agent: { ...OUTSIDE, capabilities: ["save-file"] },
        data: {
          expenses: EXPENSES,
          date_range: { start: "2026-01-01", end: "2026-12-31" },
        },
        config: { chart_type: "pie", theme: "auto" },
      });
      const agent = await Agent.attach(server, launchId);
      await page.goto(url);
      await expect(page.getByText("Prepared by tester")).toBeVisible();
      await expect(page.getByText("3 of 4 expenses")).toBeVisible();
      await expect(page.getByRole("radio", { name: "Pie" })).toBeChecked();
      await expect(page.getByRole("img", { name: /Home .*900/ })).toBeVisible();
      await look(page, "launched-budget-dashboard");

      await page.getByRole("button", { name: "Flag Fish, 2026-02-11" }).click();
      await page.getByLabel("Why does it look wrong?").fill("Too dear");
      await page.getByRole("button", { name: "Flag", exact: true }).click();
      expect(await agent.take("expense-flagged")).toMatchObject({
        payload: { expense_id: "e3", reason: "Too dear" },
      });
      await expect(page.getByRole("status")).toHaveText(
        "Flagged. The agent was notified.",
      );

      await page.getByRole("button", { name: "Export report" }).click();
      const asked = await agent.answer("save-file", {
        result: { saved: true },
      });
      expect(asked["params"]).toMatchObject({ filename: "budget-report.csv" });
      const { content } = asked["params"] as { content: string };
      expect(content).toContain("e3,2026-02-11,Fish,Food,18,EUR,Too dear");
      expect(await agent.take("report-generated")).toMatchObject({
        payload: { format: "csv", data: { rows: 3, flagged: ["e3"] } },
      });
      await expect(page.getByRole("status")).toContainText(
        "saved by the agent",
      );
    },
  );

  test("follows the agent's wishes about its look", async ({
    page,
    server,
  }) => {
    const { url, launchId } = await launch(server, "budget-dashboard", {
      agent: OUTSIDE,
      data: { expenses: EXPENSES },
    });
    await page.goto(url);
    await expect(page.getByRole("radio", { name: "Bars" })).toBeChecked();
    const agent = await Agent.attach(server, launchId);
    agent.tell("config-updated", { theme: "dark", chart_type: "line" });
    await expect(page.locator("html")).toHaveAttribute("data-theme", "dark");
    await expect(page.getByRole("radio", { name: "Line" })).toBeChecked();
    await expect(
      page.getByRole("img", { name: /^Line by month/ }),
    ).toBeVisible();
  });

  test("takes a file or a sample without an agent, and downloads its report", async ({
    page,
    server,
  }) => {
    await visit(page, direct(server, "budget-dashboard"));
    await page.getByLabel("Choose a CSV file").setInputFiles({
      name: "mine.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(
        'date,description,category,amount\n2026-03-01,"Tea, green",Food,7.5\n',
      ),
    });
    await expect(page.getByText("1 of 1 expenses")).toBeVisible();
    await expect(
      page.getByRole("cell", { name: "Tea, green", exact: true }),
    ).toBeVisible();
    await page.getByRole("button", { name: "Load other data" }).click();
    await page.getByRole("button", { name: "Load sample data" }).click();
    await page.getByRole("searchbox", { name: "Search" }).fill("charged twice");
    await expect(page.getByText("1 of 91 expenses")).toBeVisible();
    const coming = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export report" }).click();
    const download = await coming;
    expect(download.suggestedFilename()).toBe("budget-report.csv");
    const text = await readFile(await download.path(), "utf8");
    expect(text).toContain("Groceries,412.6,EUR");
  });

  test("a denied file is downloaded instead", async ({ page, server }) => {
    const { url, launchId } = await launch(server, "budget-dashboard", {
      agent: { ...OUTSIDE, capabilities: ["save-file"] },
      data: { expenses: EXPENSES },
    });
    await page.goto(url);
    const agent = await Agent.attach(server, launchId);
    const coming = page.waitForEvent("download");
    await page.getByRole("button", { name: "Export report" }).click();
    const error = { code: "E-AGT-004", message: "No." };
    await agent.answer("save-file", { error });
    expect((await coming).suggestedFilename()).toBe("budget-report.csv");
  });

  test("wrong data is refused at launch, with what is wrong", async ({
    server,
  }) => {
    const path = "/api/apps/budget-dashboard/launch";
    const response = await server.post(path, {
      data: { expenses: "all of them" },
      config: { chart_type: "cake" },
    });
    expect(response.status).toBe(400);
    const body = (await response.json()) as { message: string };
    expect(body).toMatchObject({ error_code: "invalid_context" });
    expect(body.message).toMatch(/expenses/);
    expect(body.message).toMatch(/chart_type/);
  });
});

test.describe("golf solitaire", () => {
  /** Follows the hints to the end of the game. */
  async function playOn(page: Page): Promise<void> {
    const over = page.getByRole("dialog");
    for (let move = 0; move < 120 && !(await over.isVisible()); move += 1) {
      await page.keyboard.press("h");
      await page.locator(".shown-hint").click();
    }
    await expect(over).toBeVisible();
  }

  test(
    "plays at the level that the agent chose, and reports the result",
    LOOKS,
    async ({ page, server }) => {
      const { url, launchId } = await launch(server, "card-game", {
        agent: OUTSIDE,
        data: { seed: 5 },
        config: { difficulty: "hard" },
      });
      const agent = await Agent.attach(server, launchId);
      await page.goto(url);
      await expect(page.getByLabel("Level")).toHaveValue("hard");
      expect(await agent.take("game-started")).toMatchObject({
        payload: { difficulty: "hard", seed: 5 },
      });
      await look(page, "launched-card-game");
      agent.tell("hint", {});
      await expect(page.locator(".shown-hint")).toHaveCount(1);
      await playOn(page);
      const { payload } = await agent.take("game-over");
      expect(payload).toMatchObject({ difficulty: "hard" });
      const { won, moves, seconds } = payload as Record<string, unknown>;
      expect([typeof won, typeof moves, typeof seconds]).toEqual([
        "boolean",
        "number",
        "number",
      ]);
    },
  );

  test("is played by the keyboard alone, without an agent", async ({
    page,
    server,
  }) => {
    await visit(page, `${direct(server, "card-game")}?seed=5`);
    await expect(page.getByLabel("Level")).toHaveValue("medium");
    await page.keyboard.press("d");
    await expect(page.locator("#moves")).toHaveText("1");
    await page.keyboard.press("u");
    await expect(page.locator("#moves")).toHaveText("2");
    await page.keyboard.press("ArrowRight");
    await expect(page.locator("#table button:focus")).toHaveCount(1);
    for (let move = 0; move < 60; move += 1) {
      await page.keyboard.press("Enter");
      await page.keyboard.press("ArrowRight");
      if (await page.getByRole("dialog").isVisible()) break;
      if (move % 7 === 6) await page.keyboard.press("d");
    }
    const left = Number(await page.locator("#left").textContent());
    expect(left).toBeLessThan(35);
  });

  test("starts a new game when the agent requests it", async ({
    page,
    server,
  }) => {
    const { url, launchId } = await launch(server, "card-game", {
      agent: OUTSIDE,
    });
    await page.goto(url);
    const agent = await Agent.attach(server, launchId);
    agent.tell("new-game", { difficulty: "easy", seed: 9 });
    await expect(page.getByLabel("Level")).toHaveValue("easy");
    await expect(page.locator("#left")).toHaveText("28");
  });
});

const FORM = {
  title: "Trip to Porto",
  submit: "Plan it",
  fields: [
    { name: "who", label: "Who travels?", required: true },
    { name: "nights", label: "How many nights?", type: "number", min: 1 },
    { name: "how", label: "How?", type: "choice", options: ["Train", "Bus"] },
  ],
};

test.describe("the form builder", () => {
  test(
    "shows the agent's form, and answers flow back",
    LOOKS,
    async ({ page, server }) => {
      const { url, launchId } = await launch(server, "form-builder", {
        agent: OUTSIDE,
        data: { form: FORM, answers: { nights: 3 } },
      });
      const agent = await Agent.attach(server, launchId);
      await page.goto(url);
      await expect(
        page.getByRole("heading", { name: "Trip to Porto" }),
      ).toBeVisible();
      await expect(page.getByLabel("How many nights?")).toHaveValue("3");
      await look(page, "launched-form-builder");
      await page.getByRole("button", { name: "Plan it" }).click();
      await expect(page.getByText("This is required.")).toBeVisible();
      await expect(page.getByLabel("Who travels?")).toBeFocused();
      await page.getByLabel("Who travels?").fill("Ada");
      expect(await agent.take("answer-changed")).toMatchObject({
        payload: { field: "who", value: "Ada", valid: true },
      });

      agent.tell("form-updated", {
        form: {
          ...FORM,
          fields: [
            ...FORM.fields,
            { name: "pets", label: "Pets?", type: "yes-no" },
          ],
        },
      });
      await expect(page.getByLabel("Pets?")).toBeVisible();
      await expect(page.getByLabel("Who travels?")).toHaveValue("Ada");

      await page.getByRole("button", { name: "Plan it" }).click();
      expect(await agent.take("form-submitted")).toMatchObject({
        payload: {
          title: "Trip to Porto",
          answers: { who: "Ada", nights: 3, how: null, pets: false },
        },
      });
      await expect(
        page.getByRole("heading", { name: "Thank you" }),
      ).toBeFocused();
    },
  );

  test("markup in a form is text", async ({ page, server }) => {
    const label = '<img src="x" onerror="window.hacked = 1"></script>';
    const { url } = await launch(server, "form-builder", {
      agent: "demo",
      data: { form: { title: label, fields: [{ label, help: label }] } },
    });
    await page.goto(url);
    await expect(page.getByRole("heading", { name: label })).toBeVisible();
    expect(await page.evaluate(() => "hacked" in window)).toBe(false);
  });

  test(
    "builds a form without an agent, and keeps and saves it",
    LOOKS,
    async ({ page, server }) => {
      await visit(page, direct(server, "form-builder"));
      await page.getByLabel("Form title").fill("Guests");
      await page.getByRole("button", { name: "Add field" }).click();
      await page.keyboard.type("Your name");
      await page.getByLabel("New field").selectOption("rating");
      await page.getByRole("button", { name: "Add field" }).click();
      await page.keyboard.type("The food");
      await page.getByRole("button", { name: "Move field 2 up" }).click();
      const preview = page.getByRole("region", { name: "Preview" });
      await expect(
        preview.getByRole("group", { name: "The food" }),
      ).toBeVisible();
      await page.reload();
      await expect(page.getByLabel("Form title")).toHaveValue("Guests");
      const coming = page.waitForEvent("download");
      await page.getByRole("button", { name: "Save as JSON" }).click();
      const text = await readFile(await (await coming).path(), "utf8");
      expect(JSON.parse(text)).toEqual({
        title: "Guests",
        fields: [
          { name: "the_food", label: "The food", type: "rating" },
          { name: "your_name", label: "Your name", type: "text" },
        ],
      });
      await look(page, "launched-form-builder-own");
    },
  );

  test("hands a form that was built to the agent", async ({ page, server }) => {
    const { url, launchId } = await launch(server, "form-builder", {
      agent: OUTSIDE,
    });
    await page.goto(url);
    const agent = await Agent.attach(server, launchId);
    await page.getByRole("button", { name: "Add field" }).click();
    await page.getByRole("button", { name: "Send to the agent" }).click();
    const { payload } = await agent.take("form-built");
    expect(payload).toMatchObject({
      form: { title: "Form", fields: [{ type: "text" }] },
    });
  });
});
