// How the broker reads a page.
import { expect, test } from "vitest";
import { visited, type Broker } from "./broker-frame.js";

/** The n-th reading, which the server allowed. */
function read(
  made: Broker,
  html: string,
  url = "https://shop.example/a",
  n = 1,
) {
  made.call(n + 1, "tab.readability");
  made.socket.say({ n, type: "result", id: n + 1, result: null });
  made.say({ type: "read", id: 7, html, url, title: "Fish" });
  return made.told.at(-1)?.["result"] as { url: string; text: string };
}

test("an article is read without what stands around it, in paragraphs", async () => {
  const made = await visited();
  const long =
    "The herring is a fish of the northern seas, and it is eaten. ".repeat(6);
  const html = `<nav>Home Shop Cart</nav><article><h1>Herring</h1><p>${long}</p><p>Second ${long}</p></article><footer>Imprint</footer>`;
  const { text } = read(made, html);
  expect(text).toContain("The herring is a fish");
  expect(text).toMatch(/eaten\.\n+Second/);
  expect(text).not.toContain("Imprint");
});

test("a page that is no article is read whole, cut at 50,000 characters with a mark", async () => {
  const made = await visited();
  expect(read(made, "<ul><li>One<li>Two</ul>").text).toBe("One\n\nTwo");
  const { text } = read(made, `<p>${"🐟".repeat(40_000)}</p>`, undefined, 2);
  expect(text.length).toBe(50_000 + "\n[cut]".length);
  expect(text.endsWith("🐟\n[cut]")).toBe(true);
});

test("a page can only be read as what it is", async () => {
  const made = await visited();
  expect(read(made, "<p>x", "https://bank.example/").url).toBe(
    "https://shop.example",
  );
});

test("each read is first allowed by the server, and each permission is valid once", async () => {
  const made = await visited();
  const again = () => {
    const url = "https://shop.example/a";
    made.say({ type: "read", id: 9, html: "<p>x", url, title: "Fish" });
    return made.told.at(-1);
  };
  const refused = { type: "error", error: { code: "ERR_SCOPE_REQUIRED" } };
  expect(again()).toMatchObject(refused);
  expect(read(made, "<p>x").text).toBe("x");
  expect(again()).toMatchObject(refused);
  // A refusal is no leave, nor is the result of anything else.
  made.call(3, "tab.readability");
  const error = { code: "ERR_SCOPE_REQUIRED", message: "no" };
  made.socket.say({ n: 2, type: "error", id: 3, error });
  made.socket.say({ n: 3, type: "result", id: 1, result: [] });
  expect(again()).toMatchObject(refused);
});

test("a page that is no article gives its text in order, not the scrap that looks most like one", async () => {
  const made = await visited();
  const offer = (n: number) =>
    `<li><h3>Fish ${n}</h3><p>Price: ${n} €</p><a href="/${n}">Buy</a></li>`;
  const offers = Array.from({ length: 60 }, (_, n) => offer(n)).join("");
  const about =
    "We have sold fish at this harbour since 1902, and we smoke it ourselves. ".repeat(
      8,
    );
  const html = `<h1>Shop</h1><ul class="sidebar">${offers}</ul><div class="about"><p>${about}</p></div>`;
  const { text } = read(made, html);
  for (const part of ["Shop", "Fish 0", "Price: 59", "since 1902"]) {
    expect(text).toContain(part);
  }
  expect(text.indexOf("Fish 0")).toBeLessThan(text.indexOf("Fish 59"));
  expect(text.indexOf("Fish 59")).toBeLessThan(text.indexOf("since 1902"));
});
