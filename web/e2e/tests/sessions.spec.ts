// The list of chats: new, rename, delete, older pages, and chats that are gone.
import { answers, expect, say, settled, test } from "../fixtures.js";

test("a chat can be renamed and deleted", async ({ page, server }) => {
  await page.goto(server.url);
  await say(page, "Hello there");
  await settled(page);
  const chats = page.getByRole("navigation", { name: "Chats" });
  await chats.getByRole("link", { name: "Hello there" }).hover();

  await chats.getByRole("button", { name: "Rename" }).click();
  const title = page.getByRole("textbox", { name: "Title" });
  await expect(title).toBeFocused();
  await title.fill("Greetings");
  await title.press("Enter");
  await expect(chats.getByRole("link", { name: "Greetings" })).toBeVisible();
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Greetings");

  await chats.getByRole("link", { name: "Greetings" }).hover();
  await chats.getByRole("button", { name: "Delete" }).click();
  await page.getByRole("button", { name: "Cancel" }).click();
  await expect(chats.getByRole("link")).toHaveCount(1);

  await chats.getByRole("link", { name: "Greetings" }).hover();
  await chats.getByRole("button", { name: "Delete" }).click();
  const dialog = page.getByRole("dialog", { name: "Delete chat" });
  await dialog.getByRole("button", { name: "Delete" }).click();
  await expect(chats.getByRole("link")).toHaveCount(0);
  await expect(page).toHaveURL(`${server.url}/`);
});

test("chats are kept apart and can be found again", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  await say(page, "About apples");
  await settled(page);
  await page.getByRole("button", { name: "New chat" }).click();
  await expect(page.getByText("Welcome aboard")).toBeVisible();
  await say(page, "About pears");
  await settled(page);

  const search = page.getByRole("searchbox", { name: "Search chats" });
  await search.fill("apple");
  const chats = page.getByRole("navigation", { name: "Chats" });
  await expect(chats.getByRole("link")).toHaveText(["About apples"]);
  await chats.getByRole("link").click();
  await expect(page.locator(".message.user")).toContainText("About apples");
  await expect(answers(page)).toHaveCount(1);
  await page.goBack();
  await expect(page.locator(".message.user")).toContainText("About pears");
});

test("older chats come page by page", async ({ page, server }) => {
  for (let index = 0; index < 60; index += 1) {
    await server.post("/api/sessions", { title: `Chat ${index}` });
  }
  await page.goto(server.url);
  const links = page
    .getByRole("navigation", { name: "Chats" })
    .getByRole("link");
  await expect(links).toHaveCount(50);
  await page.getByRole("button", { name: "Show older" }).click();
  await expect(links).toHaveCount(60);
  await expect(page.getByRole("button", { name: "Show older" })).toHaveCount(0);
});

test("a chat deleted in another tab is reported", async ({ page, server }) => {
  await page.goto(server.url);
  await say(page, "Hello there");
  await settled(page);
  const id = new URL(page.url()).pathname.split("/").at(-1);
  const gone = await server.fetch(`/api/sessions/${id}`, { method: "DELETE" });
  expect(gone.status).toBe(204);
  await expect(page.getByRole("alert")).toContainText("Chat not found");
  await page.getByRole("button", { name: "Start a new chat" }).click();
  await expect(page.getByText("Welcome aboard")).toBeVisible();
});

test("an unknown chat is reported", async ({ page, server }) => {
  await page.goto(`${server.url}/sessions/nothing-here`);
  await expect(page.getByRole("alert")).toContainText("Chat not found");
});
