// What Markdown becomes: safe, and redrawn only where it changed.
import { expect, test } from "vitest";
import { Blocks } from "../src/markdown/blocks.js";
import { drawBlock } from "../src/markdown/render.js";

function draw(text: string): HTMLElement {
  const root = document.createElement("div");
  for (const block of new Blocks().update(text, false)) {
    const element = document.createElement("div");
    drawBlock(element, block, false);
    root.append(element);
  }
  return root;
}

test("plain Markdown becomes plain elements", () => {
  const root = draw("# Title\n\nSome **bold** and `code`.\n\n- [x] done\n");
  expect(root.innerHTML).toBe(
    "<div><h2>Title</h2></div>" +
      "<div><p>Some <strong>bold</strong> and <code>code</code>.</p>\n</div>" +
      "<div><ul>\n<li>☑ done</li>\n</ul>\n</div>",
  );
});

test.each([
  ["a script", "<script>alert(1)</script>"],
  ["an event handler", '<img src=x onerror="alert(1)">'],
  ["a script link", "[x](javascript:alert(1))"],
  ["a script link in capitals", "[x](JaVaScRiPt:alert(1))"],
  ["a data link", "[x](data:text/html,<script>alert(1)</script>)"],
  ["a raw link", '<a href="javascript:alert(1)">x</a>'],
  ["a remote image", "![x](https://evil.example/pixel.png)"],
  ["a form", "<form action=/x><input name=a></form>"],
  ["a style", "<style>body{display:none}</style>"],
  ["a frame", "<iframe src=/></iframe>"],
  ["an svg", "<svg><script>alert(1)</script></svg>"],
  ["an attribute on a kept tag", '<kbd onclick="alert(1)">x</kbd>'],
  ["a tag hidden in a kept one", "<details <script>alert(1)</script>>x"],
  ["an unclosed tag", "<img src=x onerror=alert(1) "],
  ["a title that breaks out", '[x](https://a.example "\\"onclick=alert(1)")'],
])("%s does nothing", (_, text) => {
  const root = draw(text);
  const bad = "script, img, svg, form, input, style, iframe";
  expect(root.querySelector(bad)).toBeNull();
  for (const element of root.querySelectorAll("*")) {
    const names = element.getAttributeNames();
    expect(names.filter((name) => /^on|style|src/.test(name))).toEqual([]);
    const href = element.getAttribute("href");
    if (href !== null) expect(href).toMatch(/^https?:/);
  }
});

test("unknown tags stay readable as text", () => {
  expect(draw("Use the <main> tag.").textContent).toContain("<main> tag");
  expect(draw("a<br>b").querySelector("br")).not.toBeNull();
});

test("links leave for a new tab without a way back", () => {
  const link = draw("[a](https://a.example/)").querySelector("a");
  expect(link?.target).toBe("_blank");
  expect(link?.rel).toBe("noopener noreferrer");
});

test("code has its language and a copy button, in lists too", () => {
  const root = draw(
    "```rust\nfn main() {}\n```\n\n1. one\n\n   ```js\n   x\n   ```\n",
  );
  const blocks = [...root.querySelectorAll(".code")];
  expect(
    blocks.map((block) => [
      block.querySelector("span")?.textContent,
      block.querySelector("code")?.textContent,
      block.querySelector("button")?.getAttribute("aria-label"),
    ]),
  ).toEqual([
    ["rust", "fn main() {}", "Copy code"],
    ["js", "x", "Copy code"],
  ]);
});

test("a text cannot borrow the page's classes", () => {
  const root = draw('<kbd class="message user">x</kbd>');
  expect(root.querySelector("[class]")).toBeNull();
});

test("a growing text keeps the blocks that did not change", () => {
  const text = "# A\n\nOne two.\n\n- x\n- y\n\n```js\nlet a;\n```\n\nThe end.";
  const blocks = new Blocks();
  let before = blocks.update("", true);
  for (let length = 1; length <= text.length; length += 1) {
    const now = blocks.update(text.slice(0, length), true);
    const stable = Math.max(0, now.length - 2);
    for (
      let index = 0;
      index < Math.min(stable, before.length - 2);
      index += 1
    ) {
      expect(now[index]).toBe(before[index]);
    }
    before = now;
  }
  const whole = blocks.update(text, false);
  expect(whole.map((block) => block.type)).toEqual(
    new Blocks().update(text, false).map((block) => block.type),
  );
  expect(whole[0]).toBe(before[0]);
});

test("links defined at the end work once the text is whole", () => {
  const text =
    "See [docs][1].\n\nMore.\n\nAnd more.\n\n[1]: https://a.example/\n";
  const blocks = new Blocks();
  blocks.update(text.slice(0, 40), true);
  const [first] = blocks.update(text, false);
  const element = document.createElement("div");
  if (first) drawBlock(element, first, true);
  expect(element.querySelector("a")?.href).toBe("https://a.example/");
});

test.each([
  ["nested quotes", ">".repeat(3000) + "a"],
  ["quotes with spaces", "> ".repeat(5000) + "a"],
  ["underscores", "_".repeat(50_000) + "a"],
  ["brackets", "[".repeat(50_000)],
  ["lists in lists", "- ".repeat(5000) + "a"],
])("endless %s are shown as they are written", (_, text) => {
  expect(draw(text).textContent).toContain(text.trim().slice(-20));
});

test("a very long word gets break opportunities, and reads the same", () => {
  const word = "A".repeat(2600);
  const root = draw(`so ${word} long`);
  expect(root.textContent.trim()).toBe(`so ${word} long`);
  expect(root.querySelectorAll("wbr").length).toBeGreaterThan(4);
});

test("ordinary words are left alone", () => {
  expect(draw("just some words").querySelector("wbr")).toBeNull();
});
