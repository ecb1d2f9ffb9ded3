// Pictures of embeds and of the Agents page, for people to look at.
import { expect, test } from "../embed-fixtures.js";
import { AUDIT } from "../looks.js";
import { box, createAgent, embed, saidBy, stateLine } from "../remote.js";
import { ANSWER_WITH_CODE } from "../scripts.js";

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(colorScheme, AUDIT, () => {
    test.use({ colorScheme });

    test("a chat in a shop, with files, on a phone, ended, and who looks after it", async ({
      page,
      server,
      shop,
      clerk,
    }) => {
      test.slow();
      const shoot = (name: string) =>
        page.screenshot({ path: `results/embed-${name}-${colorScheme}.png` });
      clerk.says = ANSWER_WITH_CODE;
      const { embed_url: url, agent_id } = await createAgent(server, {
        feature_flags: {
          file_upload: true,
          context_usage: true,
          voice_mic: true,
        },
      });
      await page.setViewportSize({ width: 340, height: 440 });
      await page.goto(shop.origin);
      const chat = await embed(page, { url, accent: "#0a7f6b" });
      await expect(stateLine(chat)).toHaveText("Done");
      await shoot("small");
      await chat.locator("input[type=file]").setInputFiles([
        {
          name: "harbour.png",
          mimeType: "image/png",
          buffer: Buffer.alloc(9_000, 1),
        },
        {
          name: "setup.exe",
          mimeType: "application/x-msdownload",
          buffer: Buffer.from("MZ"),
        },
      ]);
      await expect(chat.getByText("9.0 kB")).toBeVisible();
      await shoot("files");
      await page.setViewportSize({ width: 320, height: 640 });
      await page.goto(url);
      await expect(stateLine(page)).toHaveText("Done");
      await box(page).fill("count");
      await box(page).press("Enter");
      await expect(saidBy(page).last()).toContainText("word9");
      await shoot("phone");
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.goto(`${server.url}/agents`);
      await expect(page.getByRole("main")).toContainText("shop · clerk");
      await shoot("agents");
      const path = `/api/remote_agents/${agent_id}`;
      await server.fetch(path, { method: "DELETE" });
      await page.setViewportSize({ width: 320, height: 480 });
      await page.goto(url);
      await expect(page.getByText("This chat has ended")).toBeVisible();
      await shoot("ended");
    });
  });
}
