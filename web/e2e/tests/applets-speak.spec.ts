// What applets may say, and where it is shown.
import { answers, expect, say, settled, test } from "../fixtures.js";
import {
  MATE,
  parrot,
  press,
  result,
  consent,
  decide,
  bubbles,
  switchOf,
  openParrot,
} from "../parrot.js";

test.use({ settings: MATE });

test("the first message of an applet waits for consent, and takes no focus", async ({
  page,
  context,
  server,
}) => {
  await openParrot(page, server.url);
  const box = page.getByRole("textbox", { name: "Message" });
  await press(page, "Say");
  await box.fill("I was ty");
  await expect(consent(page)).toContainText("Parrot");
  await expect(consent(page)).toContainText("Pieces of eight");
  await expect(
    page.getByRole("status").filter({ hasText: "asks to send a message" }),
  ).toHaveCount(1);
  await page.keyboard.type("ping");
  await expect(box).toHaveValue("I was typing");
  await expect(bubbles(page)).toHaveCount(0);

  // Who only looks at the chat sees it too, also after a reload.
  const other = await context.newPage();
  await other.goto(page.url().replace(/\?.*/, ""));
  await expect(consent(other)).toContainText("Pieces of eight");
  await other.reload();
  await expect(consent(other)).toContainText("Pieces of eight");
  await decide(other, "Once");
  await expect(consent(page)).toHaveCount(0);
  await expect(bubbles(page)).toContainText("Pieces of eight");
  await expect(answers(page)).toContainText("Aye, eight of them.");
});

test("allow once is valid once, and a denial is reported to the applet", async ({
  page,
  server,
}) => {
  await openParrot(page, server.url);
  await press(page, "Say");
  await decide(page, "Once");
  await expect(result(page)).toHaveText("Aye, eight of them.");
  await press(page, "Say");
  await expect(consent(page)).toBeVisible();
  await decide(page, "Deny");
  await expect(result(page)).toContainText("consent_denied");
  await press(page, "Say");
  await expect(result(page)).toContainText("consent_denied");
  await expect(consent(page)).toHaveCount(0);
  await expect(bubbles(page)).toHaveCount(1);
});

test("always is for every chat", async ({ page, server }) => {
  await openParrot(page, server.url);
  await press(page, "Say");
  await decide(page, "Always");
  await expect(result(page)).toHaveText("Aye, eight of them.");
  await openParrot(page, server.url);
  // It is said before it speaks, and can be taken back for this chat.
  await expect(switchOf(page)).toHaveAttribute("aria-checked", "true");
  await press(page, "Say");
  await expect(result(page)).toHaveText("Aye, eight of them.");
  await expect(consent(page)).toHaveCount(0);
  await switchOf(page).click();
  await expect(switchOf(page)).toHaveAttribute("aria-checked", "false");
  await press(page, "Say");
  await expect(result(page)).toContainText("consent_denied");
});

test("a switch says who can speak here", async ({ page, server }) => {
  await openParrot(page, server.url);
  await expect(switchOf(page)).toHaveAttribute("aria-checked", "false");
  await expect(page.getByText("asks first")).toBeVisible();
  await switchOf(page).click();
  await expect(switchOf(page)).toHaveAttribute("aria-checked", "true");
  await press(page, "Say");
  await expect(result(page)).toHaveText("Aye, eight of them.");
  await switchOf(page).click();
  await expect(switchOf(page)).toHaveAttribute("aria-checked", "false");
  await press(page, "Say");
  await expect(result(page)).toContainText("consent_denied");
  await page.reload();
  await expect(switchOf(page)).toHaveAttribute("aria-checked", "false");
  await expect(page.getByText("asks first")).toHaveCount(0);
});

test("what an applet says is orange with its name, live and after a reload; what a person types never is", async ({
  page,
  server,
}) => {
  await openParrot(page, server.url);
  await press(page, "Say");
  await decide(page, "Once");
  for (const round of ["live", "after a reload"]) {
    await expect(answers(page).first(), round).toContainText("Aye");
    const bubble = bubbles(page);
    await expect(bubble).toHaveCount(1);
    await expect(bubble).toHaveAttribute("data-applet-source", "parrot");
    await expect(bubble.locator(".source")).toHaveText("Parrot");
    await expect(bubble.locator("p")).toHaveText("Pieces of eight");
    await expect(bubble).toHaveCSS("background-color", "rgb(240, 152, 25)");
    await expect(bubble).toHaveCSS("color", "rgb(26, 13, 0)");
    await page.reload();
  }
  await say(page, "[applet:parrot] hi");
  await settled(page);
  const typed = page.locator(".message.user").last();
  await expect(typed.locator("p")).toHaveText("[applet:parrot] hi");
  await expect(typed).not.toHaveClass(/applet-invoked/);
  await page.reload();
  await expect(bubbles(page)).toHaveCount(1);
  await expect(page.locator(".message.user")).toHaveCount(2);
});

test("a hidden turn is in the log of everything and nowhere in the chat", async ({
  page,
  server,
}) => {
  await openParrot(page, server.url);
  await press(page, "Count");
  await switchOf(page).click();
  await expect(switchOf(page)).toHaveAttribute("aria-checked", "true");
  await press(page, "Think");
  await expect(result(page)).toHaveText("Under the palm.");
  const all = page.getByRole("list", { name: "All events" });
  for (const round of ["live", "after a reload"]) {
    await expect(page.getByText("Welcome aboard"), round).toBeVisible();
    await expect(page.locator(".message")).toHaveCount(0);
    // Nor does it name the chat.
    await expect(page.getByRole("heading", { level: 1 })).toHaveText(
      "New chat",
    );
    await page.getByRole("button", { name: "Show all events" }).click();
    const lines = all.getByRole("listitem");
    const asked = lines.filter({ hasText: "Where is the gold" });
    await expect(asked).toContainText("Parrot sent a background message");
    await expect(asked).toContainText("hidden");
    await expect(lines.filter({ hasText: "Under the palm." })).toHaveCount(1);
    await expect(
      lines.filter({ hasText: "State of Parrot, version 1" }),
    ).toContainText('"count": 1');
    await page.reload();
  }
  await page.getByRole("button", { name: "Show all events" }).click();
  await say(page, "Hi");
  await expect(all.getByText("You sent a message")).toBeVisible();
  await page.getByRole("button", { name: "Show all events" }).click();
  await settled(page);
  await expect(page.locator(".message.user")).toHaveCount(1);
  await expect(answers(page)).toHaveText("Hello.");
});

test("two tabs share state, questions and decisions", async ({
  page,
  context,
  server,
}) => {
  await openParrot(page, server.url);
  const other = await context.newPage();
  await other.goto(page.url());
  await press(page, "Count");
  await expect(parrot(other).locator("#number")).toHaveText("1");
  await press(other, "Say");
  await expect(consent(page)).toBeVisible();
  await expect(consent(other)).toBeVisible();
  await decide(page, "Once");
  await expect(consent(page)).toHaveCount(0);
  await expect(consent(other)).toHaveCount(0);
  await expect(result(other)).toHaveText("Aye, eight of them.");
  await expect(bubbles(page)).toHaveCount(1);
  await expect(bubbles(other)).toHaveCount(1);
  await switchOf(other).click();
  await expect(switchOf(page)).toHaveAttribute("aria-checked", "true");
});
