// @vitest-environment jsdom
// The notebook's Markdown, which never becomes HTML, and its way with two writers.
import { expect, test } from "vitest";
import { parse, render, tick } from "../../apps/notebook/markdown.js";
import { both, Note } from "../../apps/notebook/note.js";

function html(text) {
  const page = document.createElement("div");
  page.append(...render(parse(text), () => undefined));
  return page.innerHTML;
}

test("the usual marks become elements", () => {
  expect(
    html("# One\n\nA **bold** and *lean* `x < y` line\ngoes ~~on~~."),
  ).toBe(
    "<h1>One</h1><p>A <strong>bold</strong> and <em>lean</em> <code>x &lt; y</code> line\ngoes <s>on</s>.</p>",
  );
  expect(html("```js\n**no**\n```\n\n---\n> quoted\n> more")).toBe(
    "<pre><code>**no**</code></pre><hr><blockquote><p>quoted\nmore</p></blockquote>",
  );
  expect(html("- a\n  - b\n- c\n\n3. x\n4. y")).toBe(
    '<ul><li>a<ul><li>b</li></ul></li><li>c</li></ul><ol start="3"><li>x</li><li>y</li></ol>',
  );
  expect(html("| a | b |\n| - | - |\n| 1 | 2 |")).toContain("<th>a</th>");
});

test("nothing in a note becomes a script, a link to follow or a picture to fetch", () => {
  const made = html(
    '<script>hacked()</script> <img src=x onerror=hacked()>\n\n[x](javascript:hacked()) ![y](https://evil.example/p.png) [z](https://evil.example)\n\n# <b onclick="hacked()">b</b>',
  );
  const page = document.createElement("div");
  page.innerHTML = made;
  expect(page.querySelector("script, img, a, b, [onclick], [onerror]")).toBe(
    null,
  );
  expect(page.textContent).toContain("<script>hacked()</script>");
});

test("a tick in the preview changes its own line", () => {
  const text = "# List\n\n- [ ] one\n- [x] two\n  - [ ] three\n";
  const lines = [];
  const page = document.createElement("div");
  document.body.append(page);
  page.append(...render(parse(text), (line, done) => lines.push([line, done])));
  const boxes = [...page.querySelectorAll("input")];
  expect(boxes.map(({ checked }) => checked)).toEqual([false, true, false]);
  for (const box of boxes) box.click();
  expect(lines).toEqual([
    [2, true],
    [3, false],
    [4, true],
  ]);
  expect(tick(text, 4, true)).toContain("  - [x] three");
  expect(tick(text, 2, true)).toContain("- [x] one");
});

test("deep nests and long lines neither end the stack nor take for ever", () => {
  const started = performance.now();
  parse(">".repeat(5_000) + " x");
  parse(
    Array.from({ length: 500 }, (_, at) => `${" ".repeat(at)}- x`).join("\n"),
  );
  parse("*a ".repeat(20_000));
  parse("[".repeat(20_000));
  parse("`".repeat(20_000));
  expect(performance.now() - started).toBeLessThan(2_000);
});

/** A file with concurrent writers. */
function disk(text) {
  return {
    text,
    read: function () {
      return Promise.resolve(this.text);
    },
    write: function (_, next) {
      this.text = next;
      return Promise.resolve();
    },
  };
}

async function opened(files) {
  const note = new Note("a.md", files);
  await note.open();
  return note;
}

test("a change elsewhere is taken over when there is none here", async () => {
  const files = disk("one");
  const note = await opened(files);
  files.text = "two";
  expect(await note.look()).toBe("updated");
  expect(note.text).toBe("two");
  expect(note.dirty).toBe(false);
});

test("a save does not overwrite a concurrent change", async () => {
  const files = disk("one");
  const note = await opened(files);
  note.text = "mine";
  files.text = "theirs";
  expect(await note.save()).toBe("conflict");
  expect(files.text).toBe("theirs");
  expect(note.theirs).toBe("theirs");
  expect(await note.keepMine()).toBe("saved");
  expect(files.text).toBe("mine");
});

test("theirs can be taken, and both can be kept", async () => {
  const files = disk("head\nold\ntail");
  const note = await opened(files);
  note.text = "head\nmine\ntail";
  files.text = "head\ntheirs\ntail";
  await note.save();
  note.keepBoth();
  expect(note.text).toBe("head\nmine\ntheirs\ntail");
  expect(await note.save()).toBe("saved");

  note.text = "again";
  files.text = "other";
  await note.save();
  note.takeTheirs();
  expect(note.text).toBe("other");
  expect(both("a", "a")).toBe("a");
});

test("one's own write is no conflict, and the same text twice is none", async () => {
  const files = disk("one");
  const note = await opened(files);
  note.text = "two";
  expect(await note.save()).toBe("saved");
  expect(await note.look()).toBe("same");
  note.text = files.text = "three";
  expect(await note.look()).toBe("updated");
  expect(note.dirty).toBe(false);
});
