// Applets beside the chat: opening them, and moving between the two.
import { PARROT } from "../applets.js";
import { answers, expect, say, settled, test } from "../fixtures.js";
import { AUDIT, expectNothingSerious } from "../looks.js";
import {
  callTool,
  MATE,
  parrot,
  press,
  result,
  consent,
  decide,
  openParrot,
} from "../parrot.js";

test.use({ settings: MATE });

test("the gallery shows what there is, what is wrong with it, and opens one beside the chat", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  await say(page, "Hi");
  await settled(page);
  const chat = page.url();
  await page.getByRole("link", { name: "Applets" }).click();
  await expect(page).toHaveURL(`${server.url}/applets`);
  const list = page.getByRole("list", { name: "Applets" });
  const broken = list.getByRole("listitem").filter({ hasText: "Broken" });
  await expect(broken).toContainText("content.html");
  await expect(broken.getByRole("link")).toHaveCount(0);
  await expect(list).toContainText("Repeats what it is told.");

  await server.writeApplet("late", {
    ...PARROT,
    "meta.json": JSON.stringify({ slug: "late", name: "Late" }),
  });
  await expect(list.getByRole("link", { name: "Late" })).toBeVisible();

  await list.getByRole("link", { name: "Parrot" }).click();
  await expect(page).toHaveURL(`${chat}?applet=parrot`);
  await expect(page.locator(".message.user")).toContainText("Hi");
  await press(page, "Count");
  await expect(parrot(page).locator("#number")).toHaveText("1");

  await page.reload();
  await expect(parrot(page).locator("#number")).toHaveText("1");
});

test("an applet that is not there, or cannot be opened, makes no chat", async ({
  page,
  server,
}) => {
  await page.goto(`${server.url}/?applet=nobody`);
  await expect(page.getByText("No applet named “nobody”")).toBeVisible();
  await page.goto(`${server.url}/?applet=broken`);
  await expect(page.getByText("Broken has a problem")).toBeVisible();
  await expect(page).toHaveURL(`${server.url}/?applet=broken`);
  await expect(page.getByText("Your chats will be listed here.")).toBeVisible();
  await expect(page.locator("iframe")).toHaveCount(0);

  await server.writeApplet("broken", { "content.html": "<h1>Mended</h1>" });
  await page.getByRole("button", { name: "Try again" }).click();
  const frame = page.frameLocator('iframe[title="Applet Broken"]');
  await expect(frame.getByText("Mended")).toBeVisible();
});

test("it is closed and opened again without losing the chat", async ({
  page,
  server,
}) => {
  await openParrot(page, server.url);
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("Half a thought");
  await page.getByRole("button", { name: "Close Parrot" }).click();
  await expect(page.locator("iframe")).toHaveCount(0);
  await expect(page).toHaveURL(/\/sessions\/[^?]+$/);
  await expect(box).toHaveValue("Half a thought");
  const reopen = page.getByRole("button", { name: "Parrot", exact: true });
  await expect(reopen).toBeFocused();
  await reopen.press("Enter");
  await expect(parrot(page).locator("#number")).toBeVisible();
  await page.goBack();
  await expect(page.locator("iframe")).toHaveCount(0);
  await expect(box).toHaveValue("Half a thought");
});

test("a link in an answer opens an applet here; other links of this page do not work", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  await say(page, "link please");
  await settled(page);
  await expect(answers(page).getByRole("link")).toHaveCount(1);
  await answers(page).getByRole("link", { name: "parrot" }).click();
  await expect(parrot(page).getByRole("button", { name: "Say" })).toBeVisible();
  await expect(page).toHaveURL(/\/sessions\/[^/]+\?applet=parrot$/);
  await expect(answers(page)).toContainText("Use the parrot");
});

test("an agent opens an applet beside the chat without interrupting the user", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  await say(page, "Hi");
  await settled(page);
  const box = page.getByRole("textbox", { name: "Message" });
  await box.fill("I was ty");
  await callTool(server, "open_applet", { applet: "parrot" });
  await expect(parrot(page).getByRole("button", { name: "Say" })).toBeVisible();
  await expect(page).toHaveURL(/\?applet=parrot$/);
  await page.keyboard.type("ping");
  await expect(box).toHaveValue("I was typing");
});

test("the divider moves by keys and by pointer, and stays where it was put", async ({
  page,
  server,
}) => {
  await openParrot(page, server.url);
  const divider = page.getByRole("separator", { name: "Applet width" });
  const width = async () =>
    (await page.locator("#applet-pane").boundingBox())?.width ?? 0;
  const whole = await width();
  await expect(divider).toHaveAttribute("aria-valuenow", "50");
  await divider.focus();
  await page.keyboard.press("ArrowRight");
  await expect(divider).toHaveAttribute("aria-valuenow", "52");
  await page.keyboard.press("Shift+ArrowLeft");
  await expect(divider).toHaveAttribute("aria-valuenow", "42");
  // The attribute may change before the layout does.
  await expect.poll(width).toBeLessThan(whole);
  await page.keyboard.press("Home");
  const least = await divider.getAttribute("aria-valuemin");
  await expect(divider).toHaveAttribute("aria-valuenow", least ?? "");
  await page.keyboard.press("Enter");
  await expect(divider).toHaveAttribute("aria-valuenow", "50");

  await expect.poll(width).toBe(whole);
  const box = await divider.boundingBox();
  if (!box) throw new Error("There is no divider.");
  await page.mouse.move(box.x, box.y + 200);
  await page.mouse.down();
  // Right over the frame, which must not take the pointer away.
  await page.mouse.move(box.x - 60, box.y + 220, { steps: 5 });
  await page.mouse.move(box.x - 120, box.y + 240, { steps: 5 });
  await page.mouse.up();
  await expect.poll(async () => Math.round(whole - (await width()))).toBe(120);
  const put = await width();
  await page.mouse.move(box.x + 100, box.y);
  await page.reload();
  await expect(divider).toBeVisible();
  await expect
    .poll(async () => Math.abs((await width()) - put))
    .toBeLessThan(2);
  await divider.dblclick();
  await expect(divider).toHaveAttribute("aria-valuenow", "50");
});

test("F6 goes to the applet and back, and Escape stops an answer only in the chat", async ({
  page,
  server,
}) => {
  await openParrot(page, server.url);
  const box = page.getByRole("textbox", { name: "Message" });
  const frame = page.locator("iframe");
  await say(page, "slow");
  await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
  await page.keyboard.press("F6");
  await expect(frame).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("button", { name: "Stop" })).toBeVisible();
  await page.keyboard.press("Tab");
  await expect(parrot(page).getByRole("button", { name: "Say" })).toBeFocused();
  await page.keyboard.press("F6");
  await expect(box).toBeFocused();
  await page.keyboard.press("Escape");
  await settled(page);
  await expect(page.getByText("Stopped.", { exact: true })).toBeVisible();

  // Everything an applet may ask can be answered by the keyboard.
  await press(page, "Say");
  await expect(consent(page)).toBeVisible();
  const once = consent(page).getByRole("button", { name: "Once" });
  await expect(once).toBeEnabled();
  await box.focus();
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  await page.keyboard.press("Shift+Tab");
  await expect(once).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(box).toBeFocused();
  await expect(consent(page)).toBeVisible();
  await once.press("Enter");
  await expect(consent(page)).toHaveCount(0);
  await expect(box).toBeFocused();
});

test("an applet waits for a stopped server, and continues", async ({
  page,
  server,
}) => {
  await openParrot(page, server.url);
  await press(page, "Count");
  await expect(parrot(page).locator("#number")).toHaveText("1");
  await server.kill();
  await expect(
    page.getByText("Parrot is waiting for the server…"),
  ).toBeVisible();
  await press(page, "Count");
  await server.launch();
  await expect(page.getByText("Parrot is waiting for the server…")).toHaveCount(
    0,
  );
  await expect(parrot(page).locator("#number")).toHaveText("2");
});

test.describe("on a phone", () => {
  test.use({ viewport: { width: 360, height: 740 } });

  test("applet and chat are two tabs, and a question shows on the other", async ({
    page,
    server,
  }) => {
    await openParrot(page, server.url);
    const tab = (name: string) => page.getByRole("tab", { name });
    const box = page.getByRole("textbox", { name: "Message" });
    await expect(tab("Applet")).toHaveAttribute("aria-selected", "true");
    await expect(box).toBeHidden();
    await expect(page.getByRole("separator")).toHaveCount(0);
    await press(page, "Say");
    await expect(tab("Chat request waiting")).toBeVisible();
    await tab("Applet").focus();
    await page.keyboard.press("ArrowRight");
    await expect(tab("Chat")).toHaveAttribute("aria-selected", "true");
    await expect(tab("Chat")).toBeFocused();
    await decide(page, "Once");
    await expect(answers(page)).toContainText("Aye");
    await tab("Applet").click();
    // It was kept as it was, not loaded again.
    await expect(result(page)).toHaveText("Aye, eight of them.");
    const wide = await page.evaluate(
      () => document.documentElement.scrollWidth > innerWidth,
    );
    expect(wide).toBe(false);
    await page.getByRole("button", { name: "Close Parrot" }).click();
    await expect(box).toBeVisible();
    await expect(page.getByRole("tablist")).toHaveCount(0);
  });
});

for (const colorScheme of ["light", "dark"] as const) {
  for (const [size, viewport] of Object.entries({
    desktop: { width: 1280, height: 800 },
    phone: { width: 360, height: 740 },
  })) {
    test(
      `nothing serious is found, and pictures are taken, ${size} in ${colorScheme}`,
      AUDIT,
      async ({ page, server }) => {
        test.slow();
        await page.setViewportSize(viewport);
        await page.emulateMedia({ colorScheme });
        const look = async (state: string) => {
          const path = `results/${size}-${colorScheme}-applet-${state}.png`;
          await page.screenshot({ path });
          await expectNothingSerious(page, state, { exclude: "iframe" });
        };
        await page.goto(`${server.url}/applets`);
        await expect(page.getByRole("link", { name: "Parrot" })).toBeVisible();
        await look("gallery");
        await openParrot(page, server.url);
        await press(page, "Say");
        if (size === "phone") {
          await look("frame");
          await page.getByRole("tab", { name: "Chat" }).click();
        }
        const once = consent(page).getByRole("button", { name: "Once" });
        await expect(once).toBeEnabled();
        await look("consent");
        await once.click();
        await expect(answers(page)).toContainText("Aye");
        await settled(page);
        await look("bubble");
        await page.getByRole("button", { name: "Show all events" }).click();
        await expect(page.getByText("Parrot sent a message")).toBeVisible();
        await look("log");
        await page.goto(`${server.url}/?applet=nobody`);
        await expect(page.getByText("No applet named")).toBeVisible();
        await look("gone");
      },
    );
  }
}
