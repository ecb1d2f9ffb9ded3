// A page of this machine that brings tools from another port of it.
import { expect, test } from "../site-fixtures.js";
import { asked, request, Site, valueOf } from "../sites.js";

test("a server on another port of one's own machine is asked about, and the question says where it runs", async ({
  page,
  context,
  site,
  server,
}) => {
  const shop = await new Site(server.url).start();
  await page.goto(site.origin);
  await request(page, ["mcp:servers.register"], "Allow once");
  const wish = JSON.stringify({ url: `${shop.origin}/mcp`, name: "Fish shop" });
  const permit = await asked(context, () =>
    page.evaluate(`window.registered = agent.mcp.register(${wish}); 0`),
  );
  await expect(permit.getByText(`${shop.origin}/mcp`)).toBeVisible();
  await expect(permit.getByText("It runs on your own computer.")).toBeVisible();
  await permit.getByRole("button", { name: "Allow once" }).click();
  expect(await valueOf(page, "registered")).toMatchObject({ success: true });
  expect(shop.asked).toContain("tools/list");
  shop.stop();
});
