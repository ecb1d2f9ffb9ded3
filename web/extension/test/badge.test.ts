// What the toolbar says about a tab.
import { expect, test } from "vitest";
import { Badges } from "../src/badge.js";

function made() {
  const shown = new Map<number, string>();
  const badges = new Badges((tab, { text }) => shown.set(tab, text));
  return { badges, text: () => shown.get(1) };
}

const SHOP = "https://shop.example";

test("a question goes before use, and use before what a page offers", () => {
  const { badges, text } = made();
  badges.servers(1, 2);
  expect(text()).toBe("2");
  badges.page(1, SHOP, 1);
  expect(text()).toBe("on");
  badges.asks([SHOP, "https://other.example"]);
  expect(text()).toBe("?");
  badges.asks(["https://other.example"]);
  expect(text()).toBe("on");
  badges.page(1, SHOP, -1);
  expect(text()).toBe("2");
});

test("what is missing is shown where a page needs it, until it is available", () => {
  const { badges, text } = made();
  badges.page(1, SHOP, 1);
  badges.trouble({ missing: "manifest", words: "" });
  badges.page(1, SHOP, -1);
  expect(text()).toBe("!");
  badges.trouble(null);
  expect(text()).toBe("");
});

test("another page in the tab offers nothing yet; what is connected stays so until it says otherwise", () => {
  const { badges, text } = made();
  badges.servers(1, 2);
  badges.page(1, SHOP, 1);
  badges.fresh(1);
  expect(text()).toBe("on");
  badges.asks([SHOP]);
  expect(text()).toBe("?");
  badges.asks([]);
  badges.page(1, SHOP, -1);
  expect(text()).toBe("");
  badges.trouble({ missing: "manifest", words: "" });
  badges.page(1, SHOP, 1);
  badges.page(1, SHOP, -1);
  expect(text()).toBe("!");
  badges.fresh(1);
  expect(text()).toBe("");
});

test("two documents of one origin are one use, and a tab that is gone is forgotten", () => {
  const { badges, text } = made();
  badges.page(1, SHOP, 1);
  badges.page(1, SHOP, 1);
  badges.page(1, SHOP, -1);
  expect(text()).toBe("on");
  badges.forget(1);
  badges.page(1, SHOP, -1);
  expect(text()).toBe("");
});
