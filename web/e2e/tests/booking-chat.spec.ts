// The built-in agent books on the page beside the chat, through the tools that the page offers.
import { Cashier } from "../cashier.js";
import { answers, expect, say, settled, test } from "../fixtures.js";

const cashier = new Cashier();

test.beforeAll(async () => {
  await cashier.start();
});
test.afterAll(() => cashier.stop());

test.use({
  // eslint-disable-next-line no-empty-pattern
  settings: async ({}, use) => {
    await use({
      defaultAgent: "builtin",
      providers: {
        cinema: {
          type: "openai",
          base_url: `${cashier.url}/v1`,
          model: "cashier",
        },
      },
    });
  },
});

test("the agent of the chat books on the page that was launched beside it, and the person sees why", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/applets`);
  await page
    .getByRole("button", { name: "Launch Movie booking with agent" })
    .click();
  const frame = page.frameLocator('iframe[title="App Movie booking"]');
  await expect(
    frame.getByRole("heading", { name: "Which movie?" }),
  ).toBeVisible();
  await expect(frame.locator("#presence")).not.toContainText("Connecting");
  await say(page, "Book me a ticket, whichever.");
  // One decision is enough for all steps of the booking.
  const question = page.getByRole("region", {
    name: "Question from the agent",
  });
  await expect(question).toContainText("May the agent call page-");
  await question
    .getByRole("button", { name: "Allow this page in this chat" })
    .click();
  await settled(page);
  await expect(question).toHaveCount(1);
  await expect(answers(page).last()).toContainText("Booked. Your code is");
  const code = /code is (\S+)\./.exec(await answers(page).last().innerText());
  await expect(
    frame.getByRole("heading", { name: "See you there" }),
  ).toBeVisible();
  await expect(frame.locator("#stage")).toContainText(code?.[1] ?? "a code");
  await expect(frame.locator("#chat")).toContainText(
    "The first that can be had.",
  );
  await page.screenshot({ path: "results/booking-chat.png" });
});

test("a chat has no tools of pages that were launched from another", async ({
  page,
  context,
  server,
}) => {
  await page.goto(`${server.url}/applets`);
  await page
    .getByRole("button", { name: "Launch Movie booking with agent" })
    .click();
  await expect(
    page
      .frameLocator('iframe[title="App Movie booking"]')
      .getByRole("heading", { name: "Which movie?" }),
  ).toBeVisible();
  const other = await context.newPage();
  await other.goto(server.url);
  await say(other, "Book me a ticket, whichever.");
  await settled(other);
  await expect(answers(other).last()).toHaveText(/I see no page to book on/);
});
