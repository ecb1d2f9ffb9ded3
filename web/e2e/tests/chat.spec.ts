// Talking with an agent: answers, stop, retry, questions, tools and the queue.
import { answers, expect, say, settled, test } from "../fixtures.js";
import { always, ANSWER_WITH_CODE, COUNTED } from "../scripts.js";

test.describe("with a quick agent", () => {
  test.use({
    settings: {
      defaultAgent: "quick",
      scripts: {
        quick: always({ say: ANSWER_WITH_CODE, every_ms: 15 }),
      },
    },
  });

  test("a message gets a streamed answer", async ({ page, server }) => {
    await page.goto(server.url);
    await say(page, "Sort my photos");
    await expect(page.locator(".message.user")).toContainText("Sort my photos");
    await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
    await expect(page.getByRole("log")).toHaveAttribute("aria-busy", "true");
    await settled(page);
    await expect(page).toHaveURL(/\/sessions\/[\w-]+$/);
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(
      "Sort my photos",
    );

    const answer = answers(page);
    await expect(answer.locator("h3")).toHaveText("Sorting photos by month");
    await expect(answer.locator("td").first()).toHaveText("--dry-run");
    await expect(answer.locator(".code-head span")).toHaveText("python");
    await expect(answer.locator(".hljs-keyword").first()).toBeVisible();
    await expect(page.locator("p[role=status]")).toHaveText("Answer complete.");
  });

  test("code can be copied", async ({ page, server, context }) => {
    await context.grantPermissions(["clipboard-read", "clipboard-write"]);
    await page.goto(server.url);
    await say(page, "Sort my photos");
    await settled(page);
    await page.getByRole("button", { name: "Copy code" }).click();
    await expect(page.getByText("Copied")).toBeVisible();
    const copied = await page.evaluate(() => navigator.clipboard.readText());
    expect(copied).toMatch(/^from datetime import datetime\n/);
    expect(copied).toMatch(/return moved$/);
  });
});

test.describe("with a slow agent", () => {
  test.use({
    settings: {
      defaultAgent: "slow",
      scripts: { slow: always({ say: COUNTED, every_ms: 50 }) },
    },
  });

  test("stop ends the answer and retry asks again", async ({
    page,
    server,
  }) => {
    await page.goto(server.url);
    await say(page, "Count");
    await expect(answers(page)).toContainText("word5");
    await page.getByRole("button", { name: "Stop" }).click();
    await expect(page.getByText("Stopped.", { exact: true })).toBeVisible();
    await settled(page);
    await expect(answers(page)).not.toContainText("word120");

    await page.getByRole("button", { name: "Retry" }).click();
    await expect(page.locator(".message.user")).toHaveText([/Count/, /Count/]);
    await expect(answers(page).nth(1)).toContainText("word3");
    await page.keyboard.press("Escape");
    await expect(page.getByText("Stopped.", { exact: true })).toHaveCount(2);
  });

  test("a prompt sent during an answer waits its turn", async ({
    page,
    server,
  }) => {
    await page.goto(server.url);
    await say(page, "First");
    await expect(answers(page)).toContainText("word2");
    await say(page, "Second");
    await expect(page.getByText("Queued")).toBeVisible();
    await page.getByRole("button", { name: "Stop" }).click();
    await settled(page);
    await expect(page.getByText("Queued")).toHaveCount(0);
  });

  test("the log follows only a reader who is at its end", async ({
    page,
    server,
  }) => {
    await page.setViewportSize({ width: 800, height: 360 });
    await page.goto(server.url);
    await say(page, "Count");
    await expect(answers(page)).toContainText("word60", { timeout: 15_000 });
    const scroller = page.locator(".scroller");
    const jump = page.getByRole("button", { name: "Jump to latest" });
    await expect(jump).toHaveCount(0);

    await scroller.hover();
    await page.mouse.wheel(0, -400);
    await expect(jump).toBeVisible();
    const before = await scroller.evaluate((element) => element.scrollTop);
    await expect(answers(page)).toContainText("word110", { timeout: 15_000 });
    expect(await scroller.evaluate((element) => element.scrollTop)).toBe(
      before,
    );
    await jump.click();
    await expect(jump).toHaveCount(0);
  });
});

test.describe("with an agent that fails once", () => {
  test.use({
    settings: {
      defaultAgent: "broken",
      scripts: {
        broken: always(
          { say: "Let me see." },
          { error: { code: "model_failed", message: "The model went away." } },
        ),
      },
    },
  });

  test("an error is an alert with a retry", async ({ page, server }) => {
    await page.goto(server.url);
    await say(page, "Hello");
    const alert = page.getByRole("alert");
    await expect(alert).toContainText("The model went away.");
    await expect(page.getByText("This answer failed.")).toHaveCount(0);
    await alert.getByRole("button", { name: "Retry" }).click();
    await expect(page.locator(".message.user")).toHaveText([/Hello/, /Hello/]);
    await expect(alert).toHaveCount(2);
  });
});

test.describe("with an agent that asks and uses tools", () => {
  test.use({
    settings: {
      defaultAgent: "asker",
      scripts: {
        asker: always(
          {
            tool: {
              name: "files/read",
              arguments: { path: "menu.txt" },
              result: { dishes: 2 },
              takes_ms: 200,
            },
          },
          { tool: { name: "files/write", error: "The disk is full." } },
          { ask: { question: "Which dish?", options: ["Soup", "Salad"] } },
          { say: "You chose {{answer}}." },
        ),
      },
    },
  });

  test("a question is answered by button", async ({ page, server }) => {
    await page.goto(server.url);
    await say(page, "Order");
    const card = page.getByRole("region", { name: "Question from the agent" });
    await card.getByRole("button", { name: "Salad" }).click();
    await expect(card.getByRole("button")).toHaveCount(0);
    await expect(card).toContainText("Salad");
    await expect(page.getByRole("textbox", { name: "Message" })).toBeFocused();
    await expect(answers(page)).toHaveText("You chose Salad.");
    await page.reload();
    await expect(card).toContainText("Salad");
    await expect(card.getByRole("button")).toHaveCount(0);
  });

  test("a question is answered in one's own words", async ({
    page,
    server,
  }) => {
    await page.goto(server.url);
    await say(page, "Order");
    const own = page.getByRole("textbox", { name: "Your own answer" });
    await own.fill("A sandwich");
    await own.press("Enter");
    await expect(answers(page)).toHaveText("You chose A sandwich.");
  });

  test("a message sent while a question is open answers it", async ({
    page,
    server,
  }) => {
    await page.goto(server.url);
    await say(page, "Order");
    const box = page.getByRole("textbox", { name: "Message" });
    await expect(box).toHaveAttribute("placeholder", "Answer the question…");
    await expect(page.locator("p[role=status]")).toHaveText(
      "Waiting for your answer",
    );
    await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
    await expect(
      page.getByRole("button", { name: "Send answer" }),
    ).toBeVisible();
    await say(page, "A sandwich");
    // Pressed twice, it is still one answer and no prompt.
    await box.press("Enter");
    await expect(answers(page)).toHaveText("You chose A sandwich.");
    await expect(box).toHaveValue("");
    await expect(box).toHaveAttribute("placeholder", "Message asker");
    await expect(page.locator(".message.user")).toHaveCount(1);
  });

  test("the starters of an agent that is no demo need no tools", async ({
    page,
    server,
  }) => {
    await page.goto(server.url);
    const starters = page.locator(".empty li");
    await expect(starters.first()).toBeVisible();
    await expect(starters.filter({ hasText: /tool|question/ })).toHaveCount(0);
    await starters.first().click();
    await expect(page.getByRole("textbox", { name: "Message" })).toBeFocused();
  });

  test("a tool call is one line with its details inside", async ({
    page,
    server,
  }) => {
    await page.goto(server.url);
    await say(page, "Order");
    const [read, write] = [
      page.locator("details.tool").nth(0),
      page.locator("details.tool").nth(1),
    ];
    await expect(read.locator("summary")).toContainText("Done");
    await expect(write.locator("summary")).toContainText("Failed");
    await expect(read.getByText('"dishes": 2')).toBeHidden();
    await read.locator("summary").click();
    await expect(read.getByText('"dishes": 2')).toBeVisible();
    await write.locator("summary").click();
    await expect(write.getByText("The disk is full.")).toBeVisible();
  });
});
