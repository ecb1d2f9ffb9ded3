// Apps of a folder that nobody named: they are not loaded until the person trusts it, and share nothing with apps of the same name.
import { expect, test } from "../fixtures.js";

const MANIFEST = "---\nname: notes\ndescription: Keeps notes.\n---\n";
const page = (title: string) => ({
  "APP.md": MANIFEST.replace("---\n", `---\ntitle: ${title}\n`),
  "index.html": `<!doctype html><title>${title}</title><h1>${title}</h1>`,
});

test("the gallery says which folder is not trusted, and loads its apps once it is", async ({
  page: tab,
  server,
}) => {
  await server.writeWeblet("notes", page("Project notes"));
  await tab.goto(`${server.url}/applets`);
  const card = tab.getByRole("region", { name: "Untrusted folder" });
  await expect(card).toContainText("1 app in /");
  await expect(card).toContainText("/weblets is not loaded");
  const apps = tab.getByRole("list", { name: "Apps" });
  await expect(apps).not.toContainText("Project notes");
  expect((await server.fetch("/api/apps/notes")).status).toBe(404);
  await card.getByRole("button", { name: "Trust this folder" }).click();
  await expect(apps).toContainText("Project notes");
  await expect(card).toHaveCount(0);
});

test("an app of the same name in another folder finds nothing of what the first one stored", async ({
  page: tab,
  server,
  context,
}) => {
  const url = async () => {
    const answer = await server.fetch("/api/apps/notes");
    return ((await answer.json()) as { url: string }).url;
  };
  await server.writeApp("notes", page("Own notes"));
  await expect
    .poll(async () => (await server.fetch("/api/apps/notes")).status)
    .toBe(200);
  const first = await url();
  await tab.goto(first);
  await expect(tab.getByRole("heading")).toHaveText("Own notes");
  await tab.evaluate(() => localStorage.setItem("secret", "mine"));

  await server.writeWeblet("notes", page("Project notes"));
  await server.trustWeblets();
  await expect.poll(url).not.toBe(first);
  // The address of the first one leads to the second, on an origin of its own.
  const other = await context.newPage();
  await other.goto(first);
  await expect(other.getByRole("heading")).toHaveText("Project notes");
  expect(other.url()).toBe(await url());
  expect(await other.evaluate(() => localStorage.getItem("secret"))).toBe(null);
});
