// Pictures of what people see when pages of other sites ask for something, for people to look at.
import { AUDIT } from "../looks.js";
import { EVERYTHING } from "../server.js";
import { expect, test } from "../site-fixtures.js";
import { asked, meet, toolsThere, valueOf } from "../sites.js";

test.use({ settings: { tools: { everything: { command: EVERYTHING } } } });

for (const colorScheme of ["light", "dark"] as const) {
  test.describe(colorScheme, AUDIT, () => {
    test.use({ colorScheme });

    test("the window, the banner, the page and the panel", async ({
      page,
      context,
      site,
      server,
    }) => {
      test.slow();
      const shoot = (of: typeof page, name: string) =>
        of.screenshot({ path: `results/web-agent-${name}-${colorScheme}.png` });
      await toolsThere(server);
      const own = await context.newPage();
      await own.goto(`${server.url}/permissions`);
      await expect(own.getByText("No site has been allowed")).toBeVisible();
      await shoot(own, "empty");
      await page.goto(site.origin);
      await meet(page);
      const permit = await asked(context, () =>
        page.evaluate(() => {
          const answer = window.agent?.requestPermissions({
            scopes: [
              "model:prompt",
              "mcp:tools.call",
              "browser:activeTab.read",
            ],
            reason: "So that you can ask about our fish.",
          });
          Object.assign(window, { answer });
        }),
      );
      await permit.setViewportSize({ width: 460, height: 640 });
      await expect(permit.getByRole("button", { name: "Deny" })).toBeEnabled();
      await shoot(permit, "permit");
      await permit.screenshot({
        path: `results/web-agent-permit-whole-${colorScheme}.png`,
        fullPage: true,
      });
      await own.bringToFront();
      await expect(own.getByText("requests access to Gangway")).toBeVisible();
      await shoot(own, "banner");
      await own.getByRole("button", { name: "Review" }).click();
      await shoot(own, "dialog");
      await own
        .getByRole("dialog")
        .getByRole("button", { name: "Always allow" })
        .click();
      await valueOf(
        page,
        "answer.then(() => agent.browser.activeTab.readability())",
      );
      await own.getByRole("button", { name: "Edit" }).click();
      await expect(
        own.getByRole("list", { name: "Audit log", exact: true }),
      ).toContainText("Done");
      await shoot(own, "page");
      await own.setViewportSize({ width: 390, height: 844 });
      await shoot(own, "page-phone");
      const style = { theme: colorScheme, accentColor: "#ff9900" };
      await valueOf(
        page,
        `agent.chat.open({ style: ${JSON.stringify(style)} })`,
      );
      const frame = page.frameLocator('iframe[title="Chat"]');
      await frame.getByRole("textbox", { name: "Message" }).fill("herring");
      await frame.getByRole("textbox", { name: "Message" }).press("Enter");
      await expect(frame.getByText("Heard: herring")).toBeVisible();
      await shoot(page, "panel");
    });
  });
}
