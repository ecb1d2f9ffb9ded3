// Pictures of apps in the gallery, beside the chat and where they cannot be opened, for people to look at.
import type { Page } from "@playwright/test";
import { call, direct, launch, OUTSIDE, probe } from "../context.js";
import { expect, panel, test } from "../fixtures.js";
import { AUDIT, expectNoOverflow, expectNothingSerious } from "../looks.js";

test.use({
  settings: {
    apps: {
      probe: probe(),
      broken: { "APP.md": "---\nname: broken\n---\n", "index.html": "" },
    },
  },
});

/** The page as it looks, with nothing in it that is too wide or cannot be read. */
async function look(page: Page, name: string): Promise<void> {
  await page.screenshot({ path: `results/launched-${name}.png` });
  await expectNoOverflow(page);
  await expectNothingSerious(page, name);
}

for (const [size, colorScheme, viewport] of [
  ["desktop", "light", { width: 1280, height: 800 }],
  ["desktop", "dark", { width: 1280, height: 800 }],
  ["phone", "light", { width: 390, height: 844 }],
] as const) {
  const name = (state: string) => `${state}-${size}-${colorScheme}`;

  test.describe(`${size} in ${colorScheme}`, AUDIT, () => {
    test.use({ colorScheme, viewport });

    test("apps are pictured in the gallery and beside the chat", async ({
      page,
      server,
    }) => {
      test.slow();
      await page.goto(`${server.url}/applets`);
      const apps = panel(page, "Apps");
      await expect(
        apps.getByRole("heading", { name: "Golf solitaire" }),
      ).toBeVisible();
      await apps.evaluate((one) => one.scrollIntoView());
      await look(page, name("gallery"));

      const launched = await launch(server, "card-game", {
        data: { seed: 5 },
        config: { difficulty: "easy" },
      });
      const { sessionId, launchId } = launched;
      await page.goto(
        `${server.url}/sessions/${sessionId}?app=card-game&launch=${launchId}`,
      );
      const frame = page.frameLocator('iframe[title="App Golf solitaire"]');
      await expect(frame.getByLabel("Level")).toHaveValue("easy");
      // It is shown once the pack is dealt.
      await expect(frame.getByText(/The pile starts with/)).toBeVisible();
      await look(page, name("beside"));
      if (size === "phone") {
        await page.getByRole("tab", { name: "Chat" }).click();
      }
      await expect(page.getByText(/sent game-started/)).toBeVisible();
      await look(page, name("beside-chat"));
    });

    test("the pages that say why there is no app are pictured", async ({
      page,
      browser,
      server,
    }) => {
      const { url } = await launch(server, "probe", { agent: OUTSIDE });
      const first = await browser.newPage();
      await first.goto(url);
      await call(first, "emit", "Bad name");
      await first.close();
      const used = await page.goto(url);
      expect(used?.status()).toBe(410);
      await look(page, name("used"));
      const secret = `l-${"0".repeat(32)}.${"A".repeat(43)}`;
      const made = `${direct(server, "probe")}?launch=${secret}`;
      expect((await page.goto(made))?.status()).toBe(404);
      await look(page, name("unknown"));
      await page.getByRole("link", { name: /without an agent/ }).click();
      await expect(page).toHaveURL(direct(server, "probe"));
      await expect(page.getByRole("heading", { name: "Probe" })).toBeVisible();
    });
  });
}
