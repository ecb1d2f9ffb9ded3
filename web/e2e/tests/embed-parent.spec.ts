// What an embed and the page around it may do to each other.
import { expect, test } from "../embed-fixtures.js";
import {
  ask,
  box,
  createAgent,
  embed,
  saidBy,
  stateLine,
  toldTo,
} from "../remote.js";

// The model counts 1,000 tokens a message: a summary would be one more thing that it hears.
test.use({ settings: { remote: { hand_over_percent: 0 } } });

test("messages of the page before the chat is ready are sent then", async ({
  page,
  server,
  shop,
}) => {
  const { embed_url: url } = await createAgent(server);
  await page.goto(shop.origin);
  const chat = await embed(page, { url });
  await ask(page, "send", "said early");
  await expect(saidBy(chat).last()).toHaveText("Heard: said early");
});

test("only the parent page can send messages, and only the allowed ones", async ({
  page,
  server,
  shop,
  clerk,
}) => {
  const { embed_url: url } = await createAgent(server);
  await page.goto(shop.origin);
  const chat = await embed(page, { url });
  await expect(stateLine(chat)).toHaveText("Done");
  const before = clerk.received.length;
  // A frame beside it has the right origin, but is not the page around; so is one of another origin.
  for (const origin of [shop.origin, shop.stranger]) {
    await page.evaluate((src) => {
      const frame = document.createElement("iframe");
      frame.src = src;
      frame.id = "beside";
      document.body.append(frame);
      return new Promise((resolve) => (frame.onload = resolve));
    }, origin);
    const beside = page
      .frames()
      .find(
        (frame) => frame.url().startsWith(origin) && frame !== page.mainFrame(),
      );
    await beside?.evaluate(() => {
      const message = { target: "gangway", type: "send", text: "from beside" };
      for (let n = 0; n < parent.frames.length; n += 1) {
        parent.frames[n]?.postMessage(message, "*");
      }
    });
    await page.locator("#beside").evaluate((frame) => frame.remove());
  }
  await page.evaluate(() => {
    const post = (data: unknown) =>
      (window.frames[0] as Window).postMessage(data, "*");
    for (const junk of [
      null,
      "send",
      [],
      { target: "gangway" },
      { target: "gangway", type: "send", text: { toString: "x" } },
      { target: "gangway", type: "send", text: "" },
      { target: "gangway", type: "shutdown" },
      { target: "other", type: "send", text: "for somebody else" },
      {
        target: "gangway",
        type: "style",
        variables: {
          font: "url(http://127.0.0.1:1/f)",
          accent: "red;}*{display:none",
          "--bg": "red",
        },
      },
    ]) {
      post(junk);
    }
  });
  await ask(page, "send", "from the page");
  await expect(saidBy(chat).last()).toHaveText("Heard: from the page");
  expect(clerk.received.slice(before)).toEqual(["from the page"]);
  const look = await chat.locator(":root").evaluate((root) => ({
    style: root.getAttribute("style"),
    background: getComputedStyle(document.body).backgroundColor,
  }));
  expect(look).toEqual({ style: null, background: "rgb(255, 255, 255)" });
});

test("a page with a forged origin receives nothing and cannot send", async ({
  page,
  server,
  shop,
  clerk,
}) => {
  const { embed_url } = await createAgent(server);
  await page.goto(shop.origin);
  const lies = ["*", "null", shop.stranger, `${shop.origin}/`, ""];
  for (const [n, parent] of lies.entries()) {
    const url = new URL(embed_url);
    url.searchParams.set("parent", parent);
    await page.evaluate((src) => {
      Object.assign(window, { all: [] });
      addEventListener("message", ({ data }) =>
        (window as unknown as { all: unknown[] }).all.push(data),
      );
      document.getElementById("chat")?.replaceChildren();
      const frame = document.createElement("iframe");
      frame.src = src;
      document.getElementById("chat")?.append(frame);
    }, url.href);
    const chat = page.frameLocator("iframe");
    await expect(saidBy(chat).first()).toContainText("Good morning");
    await expect(stateLine(chat)).toHaveText("Done");
    const before = clerk.received.length;
    await page.evaluate(() => {
      const message = { target: "gangway", type: "send", text: "psst" };
      (window.frames[0] as Window).postMessage(message, "*");
    });
    // What a person says afterwards arrives alone.
    await box(chat).fill(`hello ${n}`);
    await box(chat).press("Enter");
    await expect(saidBy(chat).last()).toHaveText(`Heard: hello ${n}`);
    await expect(stateLine(chat)).toHaveText("Done");
    expect(clerk.received.slice(before)).toEqual([`hello ${n}`]);
    expect(
      await page.evaluate(() => (window as unknown as { all: unknown[] }).all),
    ).toEqual([]);
  }
});

test("theme, accent and font are worn, at the beginning and when the page changes its mind", async ({
  page,
  server,
  shop,
}) => {
  const { embed_url: url } = await createAgent(server);
  await page.goto(shop.origin);
  const chat = await embed(page, {
    url,
    theme: "dark",
    accent: "#ffcc00",
    font: "Georgia, serif",
  });
  const send = chat.getByRole("button", { name: "Send" });
  await expect(stateLine(chat)).toHaveText("Done");
  await box(chat).fill("x");
  await expect(send).toHaveCSS("background-color", "rgb(255, 204, 0)");
  await expect(send).toHaveCSS("color", "rgb(0, 0, 0)");
  await expect(chat.locator("body")).toHaveCSS(
    "background-color",
    "rgb(18, 22, 27)",
  );
  await expect(chat.locator("body")).toHaveCSS("font-family", "Georgia, serif");
  await ask(page, "style", { theme: "light", accent: "navy", radius: "2px" });
  await expect(send).toHaveCSS("background-color", "rgb(0, 0, 128)");
  await expect(send).toHaveCSS("color", "rgb(255, 255, 255)");
  await expect(chat.locator("body")).toHaveCSS(
    "background-color",
    "rgb(255, 255, 255)",
  );
  await ask(page, "focus");
  await expect(box(chat)).toBeFocused();
});

test("the frame grows with its content, and settles", async ({
  page,
  server,
  shop,
}) => {
  const { embed_url: url } = await createAgent(server);
  await page.goto(shop.origin);
  const chat = await embed(page, { url, autoHeight: true });
  const height = () =>
    page.locator("iframe").evaluate((frame) => frame.clientHeight);
  await expect(stateLine(chat)).toHaveText("Done");
  await box(chat).fill("count");
  await box(chat).press("Enter");
  await expect(stateLine(chat)).toHaveText("Working…");
  await expect(stateLine(chat)).toHaveText("Done");
  const over = () =>
    chat
      .locator(".scroller")
      .evaluate((el) => el.scrollHeight - el.clientHeight);
  await expect.poll(over).toBe(0);
  expect(await height()).toBeGreaterThan(400);
  const resizes = async () =>
    (await toldTo(page)).filter(({ type }) => type === "resize");
  const before = await resizes();
  // A height that makes the page higher would show in the next frames.
  await chat.locator("main").evaluate(async () => {
    const frame = () => new Promise((next) => requestAnimationFrame(next));
    for (let n = 0; n < 20; n += 1) await frame();
  });
  const later = await resizes();
  expect(later.length - before.length).toBeLessThanOrEqual(1);
  expect(await height()).toBe(later.at(-1)?.["height"]);
});

test("a chat without a place of its own floats, and can be closed and opened again", async ({
  page,
  server,
  shop,
}) => {
  const { embed_url: url } = await createAgent(server);
  await page.goto(shop.origin);
  await page.evaluate((url) => {
    const { Gangway } = window as unknown as {
      Gangway: { embed: (options: object) => unknown };
    };
    Object.assign(window, { chat: Gangway.embed({ url }) });
  }, url);
  await expect(page.locator("iframe")).toHaveCount(0);
  const call = (name: string) =>
    page.evaluate((name) => {
      const { chat } = window as unknown as {
        chat: Record<string, () => void>;
      };
      chat[name]?.();
    }, name);
  await call("open");
  const chat = page.frameLocator("iframe");
  await expect(box(chat)).toBeVisible();
  await box(chat).fill("half a thought");
  await call("close");
  await expect(page.locator("iframe")).toBeHidden();
  await call("open");
  await expect(box(chat)).toHaveValue("half a thought");
});
