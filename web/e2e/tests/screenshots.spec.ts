// Pictures of the page in its main states, for people to look at.
import type { Page } from "@playwright/test";
import { answers, expect, say, settled, test } from "../fixtures.js";
import { AUDIT } from "../looks.js";
import { always, ANSWER_WITH_CODE, COUNTED } from "../scripts.js";

const scripts = {
  writer: {
    description: "Writes well.",
    turns: [
      {
        when: "(?i)fail",
        steps: [
          { say: "I will ask the model." },
          {
            error: {
              code: "model_failed",
              message:
                "The model answered with status 503. Try again in a minute.",
            },
          },
        ],
      },
      {
        when: "(?i)book",
        steps: [
          { say: "I found two tables for tonight." },
          {
            tool: {
              name: "tables/search",
              arguments: { day: "today", people: 2, place: "harbour" },
              result: [{ at: "18:30" }, { at: "20:15" }],
            },
          },
          {
            tool: { name: "calendar/read", error: "The calendar is locked." },
          },
          {
            ask: {
              question: "Which table shall I book?",
              options: ["18:30 by the window", "20:15 on the terrace"],
            },
          },
        ],
      },
      {
        when: "(?i)slow",
        steps: [{ say: `${ANSWER_WITH_CODE}\n${COUNTED}`, every_ms: 25 }],
      },
      { steps: [{ say: ANSWER_WITH_CODE }] },
    ],
  },
  silent: always({ say: "…" }),
};

async function shoot(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `results/${name}.png` });
}

for (const colorScheme of ["light", "dark"] as const) {
  for (const [size, viewport] of Object.entries({
    desktop: { width: 1280, height: 800 },
    phone: { width: 360, height: 740 },
  })) {
    test.describe(`${size} in ${colorScheme}`, AUDIT, () => {
      test.use({
        colorScheme,
        viewport,
        settings: { defaultAgent: "writer", scripts },
      });
      const name = (state: string) => `${size}-${colorScheme}-${state}`;

      test("the page is pictured while it works", async ({ page, server }) => {
        test.slow();
        await page.goto(server.url);
        await expect(page.getByText("Welcome aboard")).toBeVisible();
        await shoot(page, name("empty"));
        await say(page, "Write a script that sorts photos, slowly");
        await expect(answers(page)).toContainText("month", { timeout: 20_000 });
        await say(page, "And one more thing after that");
        await expect(page.getByText("Queued")).toBeVisible();
        await shoot(page, name("streaming"));
        await page.keyboard.press("Escape");
        await settled(page);
        await shoot(page, name("stopped"));

        await page.goto(server.url);
        await say(page, "Sort my photos by month");
        await settled(page);
        await expect(page.locator(".hljs-keyword").first()).toBeVisible();
        await shoot(page, name("answer"));
        await page.locator(".scroller").evaluate((el) => (el.scrollTop = 0));
        await shoot(page, name("answer-top"));

        await say(page, "Fail please");
        await expect(page.getByRole("alert")).toBeVisible();
        await shoot(page, name("error"));

        await page.goto(server.url);
        await say(page, "Book a table for two");
        await expect(page.getByText("Which table")).toBeVisible();
        await shoot(page, name("question"));

        if (size === "phone") {
          await page.getByRole("button", { name: "Show chats" }).click();
          await shoot(page, name("drawer"));
        } else {
          await page
            .getByRole("button", { name: "Help and shortcuts" })
            .click();
          await shoot(page, name("help"));
        }
      });
    });

    test.describe(`${size} in ${colorScheme} without a model`, AUDIT, () => {
      test.use({
        colorScheme,
        viewport,
        settings: { defaultAgent: "builtin" },
      });

      test("the page is pictured without a model", async ({ page, server }) => {
        await page.goto(server.url);
        await expect(page.getByText("No model connected")).toBeVisible();
        await shoot(page, `${size}-${colorScheme}-no-model`);
        await say(page, "Hello");
        await expect(page.locator(".message.user")).toBeVisible();
        await settled(page);
        await shoot(page, `${size}-${colorScheme}-no-model-turn`);
        await server.kill();
        await expect(page.getByText("Reconnecting…")).toBeVisible();
        await shoot(page, `${size}-${colorScheme}-reconnecting`);
      });
    });
  }
}
