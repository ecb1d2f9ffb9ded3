// A walk through each demo of window.ai and window.agent, with pictures to look at.
import type { Page } from "@playwright/test";
import { FakeAssistant, type Move, type Turn } from "../assistant.js";
import { direct, visit } from "../context.js";
import { expect, test } from "../fixtures.js";
import { look, LOOKS } from "../looks.js";
import { openShop } from "../shop.js";

/** The chat panel in the frame is looked at where it is tested. */
const lookAt = (page: Page, name: string) =>
  look(page, `demo-${name}`, { exclude: "iframe" });

/** Does something that makes Gangway ask, and answers in its window. */
async function decide(
  page: Page,
  act: () => Promise<void>,
  words: string,
): Promise<void> {
  const opened = page.waitForEvent("popup");
  await act();
  await answer(await opened, words);
}

async function answer(popup: Page, words: string): Promise<void> {
  const closed = popup.waitForEvent("close");
  await popup.getByRole("button", { name: words, exact: true }).click();
  await closed;
}

const press = (page: Page, name: string) => () =>
  page.getByRole("button", { name, exact: true }).click();

interface Demo {
  /** What the model does. */
  script: { next: (turn: Turn) => Move };
  assistant: FakeAssistant;
}

const demo = test.extend<Demo>({
  script: [{ next: () => ({ say: "Aye." }) }, { option: true }],

  assistant: async ({ script }, use) => {
    const assistant = await new FakeAssistant(script.next).start();
    await use(assistant);
    await assistant.stop();
  },

  settings: async ({ assistant }, use) => {
    const providers = { mate: assistant.settings };
    await use({ defaultAgent: "builtin", providers });
  },
});

const inShop = demo.extend<{ shop: string }>({
  shop: async ({ server }, use) => {
    const shop = await openShop(server.url);
    await use(shop.url);
    await shop.stop();
  },

  strangers: async ({ strangers, shop }, use) => {
    await use(strangers);
    const others = strangers.filter((url) => !url.startsWith(shop));
    strangers.splice(0, Infinity, ...others);
  },
});

const POINTS =
  "- A gangway bridges a side that moves and one that does not.\n- Its angle decides how safe it is.\n- Whoever crosses asks first, and the answer may be no.";

demo.describe("a page that summarises itself", () => {
  demo.describe("with a model that answers", () => {
    demo.use({ script: { next: () => ({ say: POINTS }) } });

    demo(
      "asks, reads itself and writes points",
      LOOKS,
      async ({ page, server, assistant }) => {
        await visit(page, direct(server, "summary"));
        await decide(page, press(page, "Summarise this page"), "Allow once");
        const summary = page.getByRole("region", { name: "Summary" });
        await expect(summary.getByRole("listitem")).toHaveCount(3);
        const status = page.getByRole("status");
        await expect(status).toContainText("Done");
        const body = assistant.lastQuestion;
        expect(body).toContain("The oldest gangway is a plank");
        expect(body).toContain("three to five short points");
        // What the page says about itself is not part of the article.
        expect(body).not.toContain("Summarise this page with your own model");
        // What was allowed is not asked again.
        await page.getByText("Sentence").click();
        await press(page, "Summarise this page")();
        await expect(status).toContainText("Done");
        expect(assistant.lastQuestion).toContain("in one sentence");
        await lookAt(page, "summary");
      },
    );
  });

  demo.describe("with a model that never ends", () => {
    const next = () => ({ say: "on and ", endless: true });
    demo.use({ script: { next } });

    demo(
      "stops in the middle, and the model is left alone",
      async ({ page, server, assistant }) => {
        await visit(page, direct(server, "summary"));
        await decide(page, press(page, "Summarise this page"), "Allow once");
        const summary = page.getByRole("region", { name: "Summary" });
        await expect(summary).toContainText("on and on");
        await press(page, "Stop")();
        await expect(page.getByRole("status")).toHaveText("Stopped.");
        await expect.poll(() => assistant.leftAlone).toBe(true);
        await expect(page.getByRole("button", { name: "Stop" })).toBeHidden();
      },
    );
  });

  demo(
    "says what is wrong when the person says no",
    LOOKS,
    async ({ page, server, assistant }) => {
      await visit(page, direct(server, "summary"));
      await decide(page, press(page, "Summarise this page"), "Deny");
      const status = page.getByRole("status");
      await expect(status).toContainText("Permission denied");
      const asked = assistant.asked.map(({ path }) => path);
      expect(asked).not.toContain("/v1/chat/completions");
      await lookAt(page, "summary-denied");
    },
  );

  test("says what is wrong when there is no model", async ({
    page,
    server,
  }) => {
    await visit(page, direct(server, "summary"));
    await decide(page, press(page, "Summarise this page"), "Allow once");
    await expect(page.getByRole("status")).toContainText("No model answered");
  });

  test("stays an article without a Gangway", async ({ page, server }) => {
    await page.route("**/gangway.js", (route) => route.abort());
    await visit(page, direct(server, "summary"));
    const status = page.getByRole("status");
    await expect(status).toContainText("Gangway is not available");
    await press(page, "Summarise this page")();
    await expect(status).toHaveClass("problem");
    await expect(page.getByRole("article")).toContainText("The oldest gangway");
  });
});

demo.describe("an agent with tools", () => {
  demo.describe("that looks once", () => {
    const next = ({ results }: Turn): Move =>
      results.length === 0
        ? { call: "search_log", with: { query: "doubled lines" } }
        : { say: "Two lines at every berth before the glass falls [1]." };
    demo.use({ script: { next } });

    demo(
      "shows each event, the answer and its sources",
      LOOKS,
      async ({ page, server }) => {
        await visit(page, direct(server, "research"));
        await decide(page, press(page, "List my tools"), "Allow once");
        await page.getByRole("checkbox", { name: /search_log/ }).check();
        const ticked = page.getByRole("radio", { name: "Only selected tools" });
        await expect(ticked).toBeChecked();
        await decide(page, press(page, "Run"), "Allow once");
        await expect(page.getByRole("status")).toHaveText("Done.");
        const events = page.getByRole("list", { name: "Events of the run" });
        const kinds = await events
          .locator("> li")
          .evaluateAll((items) =>
            items.map((item) => item.getAttribute("class")),
          );
        expect(kinds).toEqual(["status", "call", "result", "words", "final"]);
        const answer = page.getByRole("region", { name: "Answer" });
        await expect(answer).toContainText("Two lines at every berth");
        const sources = answer.getByRole("list", { name: "Sources" });
        await expect(sources).toContainText("page/search_log");
        await expect(sources).toContainText("13 March");
        await events.getByText("with", { exact: true }).click();
        await expect(events).toContainText('"query": "doubled lines"');
        await lookAt(page, "research");
      },
    );
  });

  demo.describe("that would go on", () => {
    const next = ({ prompt, results }: Turn): Move => {
      if (prompt.includes("endless")) return { say: "on and ", endless: true };
      return results.length === 0
        ? { call: "search_log", with: { query: "storm" }, times: 2 }
        : { say: "That is all I may look at." };
    };
    demo.use({ script: { next } });

    demo(
      "keeps to its calls and can be stopped",
      LOOKS,
      async ({ page, server, assistant }) => {
        await visit(page, direct(server, "research"));
        await page.getByRole("spinbutton").fill("1");
        await decide(page, press(page, "Run"), "Allow once");
        const status = page.getByRole("status");
        await expect(status).toHaveText("Done.");
        const events = page.getByRole("list", { name: "Events of the run" });
        await expect(events.locator("> li.failed")).toContainText(
          "the limit of tool calls is reached",
        );
        await lookAt(page, "research-limit");
        await page.getByRole("textbox").fill("Write endless words");
        await press(page, "Run")();
        await expect(events.locator(".text")).toContainText("on and on");
        await press(page, "Stop")();
        await expect(status).toHaveText("Stopped.");
        await expect.poll(() => assistant.leftAlone).toBe(true);
      },
    );
  });
});

inShop.describe("a shop with its own server", () => {
  inShop.describe("and a customer with an assistant", () => {
    const steps: Move[] = [
      { call: "search", with: { query: "rain" } },
      { call: "highlight_product", with: { sku: "oilskin" } },
      { call: "add_to_cart", with: { sku: "oilskin", quantity: 2 } },
      { call: "get_cart", with: {} },
    ];
    const next = ({ results }: Turn): Move =>
      steps[results.length] ?? {
        say: `Two oilskin coats are in your cart, €158. ${results.length} tools helped.`,
      };
    inShop.use({ script: { next } });

    inShop(
      "the assistant searches, shows and fills the cart",
      LOOKS,
      async ({ page, shop, assistant }) => {
        await page.goto(shop);
        const said = page
          .getByRole("region", { name: "Bring your own assistant" })
          .getByRole("status");
        await press(page, "Open chat")();
        await expect(said).toHaveText("Connect Gangway first.");
        await press(page, "Add Galley kettle to cart")();
        const cart = page.getByRole("region", { name: "Your cart" });
        await expect(cart).toContainText("€22");
        await lookAt(page, "shop");

        // Two questions: what the page may do, and this very server.
        const first = page.waitForEvent("popup");
        await press(page, "Connect Gangway")();
        const window = await first;
        const second = page.waitForEvent("popup");
        await answer(window, "Allow once");
        await answer(await second, "Allow once");
        await expect(said).toHaveText("Connected. Now open the chat.");
        await press(page, "Open chat")();
        await expect(said).toContainText("The chat is open.");
        const chat = page.frameLocator('iframe[title="Chat"]');
        const box = chat.getByRole("textbox", { name: "Message" });
        await box.fill("Two of us, and it rains. What do we need?");
        await box.press("Enter");
        await expect(chat.getByRole("log")).toContainText("4 tools helped");
        await expect(cart).toContainText("Oilskin coat");
        await expect(cart).toContainText("€180");
        const shown = page.locator(".product.shown");
        await expect(shown).toContainText("Oilskin coat");
        const last = assistant.lastQuestion;
        expect(last).toContain("You help a customer of Bollard");
        // The page told the agent what the customer sees, kettle and all.
        expect(last).toContain("Galley kettle");
        await lookAt(page, "shop-chat");

        await press(page, "Close chat")();
        await expect(page.locator("iframe[title='Chat']")).toHaveCount(0);
        await press(page, "Open chat")();
        await chat.getByRole("button", { name: "Close" }).click();
        await expect(said).toHaveText("You closed the chat.");
        await press(page, "Disconnect")();
        await expect(said).toContainText("Disconnected.");
      },
    );
  });

  inShop("takes a no for an answer", async ({ page, shop }) => {
    await page.goto(shop);
    await decide(page, press(page, "Connect Gangway"), "Deny");
    const assistant = page.getByRole("region", {
      name: "Bring your own assistant",
    });
    await expect(assistant).toContainText("Permission denied.");
  });

  inShop(
    "sells without a Gangway, and its buttons explain",
    LOOKS,
    async ({ page, server, shop }) => {
      await server.kill();
      await page.goto(shop);
      await press(page, "Add Storm lantern to cart")();
      const cart = page.getByRole("region", { name: "Your cart" });
      await cart
        .getByRole("button", { name: "One more: Storm lantern" })
        .click();
      await expect(cart).toContainText("€68");
      await press(page, "Connect Gangway")();
      const words = page.getByText(/No Gangway found at http/);
      await expect(words).toBeVisible();
      await lookAt(page, "shop-alone");
    },
  );
});
