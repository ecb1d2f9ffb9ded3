// What is done in a page: which elements are found, what is refused, and what the page notices. The layout is the test's.
import { beforeEach, expect, test, vi } from "vitest";
import type { BrowserElement } from "@gangway/client/web-agent";
import { perform } from "../src/act.js";

/** What lies on top of everything, where it is not what is looked for. */
let cover: Element | null = null;

beforeEach(() => {
  cover = null;
  const box = { left: 0, top: 0, width: 10, height: 10 } as DOMRect;
  const { prototype } = Element;
  // jsdom lays nothing out.
  vi.spyOn(prototype, "getBoundingClientRect").mockReturnValue(box);
  vi.spyOn(prototype, "getClientRects").mockReturnValue([
    box,
  ] as unknown as DOMRectList);
  const seen: { element?: Element } = {};
  Object.assign(prototype, {
    checkVisibility(this: Element) {
      return this.closest("[hidden]") === null;
    },
    scrollIntoView(this: Element) {
      Object.assign(seen, { element: this });
    },
  });
  Object.assign(Document.prototype, {
    elementFromPoint: () => cover ?? seen.element,
  });
  vi.stubGlobal("PointerEvent", MouseEvent);
});

function show(html: string): void {
  document.body.innerHTML = html;
}

function codeOf(work: () => unknown): string {
  try {
    work();
    return "done";
  } catch (error) {
    return (error as { code: string }).code;
  }
}

const click = (target: string) => perform({ type: "click", target });
const fill = (target: string, value: string) =>
  perform({ type: "fill", target, value });
const list = () => perform({ type: "elements" }) as BrowserElement[];

test("a click is one that a person could make: there, visible, enabled, and the only one of its name", () => {
  show(`
    <button id="good">Good</button><button id="gone" hidden>Gone</button>
    <fieldset disabled><button id="off">Off</button></fieldset>
    <div aria-disabled="true"><button id="said">Said to be off</button></div>
    <div inert><button id="inert">Inert</button></div>
    <input id="file" type="file"><form id="form"></form><iframe id="frame"></iframe>`);
  const clicked: string[] = [];
  document.body.onclick = ({ target }) => clicked.push((target as Element).id);
  const codes = Object.fromEntries(
    [
      ...["#good", "#missing", "button", "#gone", "#off", "#said", "#inert"],
      ...["#file", "#form", "#frame", "](", "@e999", "x".repeat(1_001)],
    ].map((target) => [target.slice(0, 20), codeOf(() => click(target))]),
  );
  expect(codes).toEqual({
    "#good": "done",
    "#missing": "ERR_ELEMENT_NOT_FOUND",
    button: "ERR_ELEMENT_AMBIGUOUS",
    "#gone": "ERR_ELEMENT_HIDDEN",
    "#off": "ERR_ELEMENT_DISABLED",
    "#said": "ERR_ELEMENT_DISABLED",
    "#inert": "ERR_ELEMENT_DISABLED",
    "#file": "ERR_ELEMENT_PROTECTED",
    "#form": "ERR_INVALID_ARGUMENT",
    "#frame": "ERR_INVALID_ARGUMENT",
    "](": "ERR_INVALID_ARGUMENT",
    "@e999": "ERR_ELEMENT_NOT_FOUND",
    ["x".repeat(20)]: "ERR_INVALID_ARGUMENT",
  });
  expect(clicked).toEqual(["good"]);
});

test("what something else covers is not clicked, but a checkbox under its label is", () => {
  show(
    `<button id="under">Under</button><div id="over"></div>
     <label id="label"><span>Agree</span><input id="box" type="checkbox"></label>`,
  );
  cover = document.querySelector("#over");
  expect(codeOf(() => click("#under"))).toBe("ERR_ELEMENT_HIDDEN");
  cover = document.querySelector("#label span");
  click("#box");
  expect(document.querySelector<HTMLInputElement>("#box")?.checked).toBe(true);
});

test("a field is filled in as by typing, and one that cannot hold the value keeps its own", () => {
  show(`
    <input id="name" value="before"><input id="day" type="date" value="2026-01-01">
    <input id="short" maxlength="3"><input id="fixed" readonly>
    <input id="box" type="checkbox"><p id="words">No field</p>
    <textarea id="text"></textarea>
    <select id="fish"><option value="h">Herring</option><option value="c">Cod</option>
      <option value="s" disabled>Salmon</option></select>`);
  const received: string[] = [];
  for (const type of ["input", "change"]) {
    document.body.addEventListener(type, ({ target }) =>
      received.push(`${type} ${(target as Element).id}`),
    );
  }
  fill("#name", "Ahab");
  fill("#text", "Call me\nIshmael");
  fill("#fish", "Cod");
  expect(received).toEqual(
    ["name", "text", "fish"].flatMap((id) => [`input ${id}`, `change ${id}`]),
  );
  const value = (id: string) =>
    document.querySelector<HTMLInputElement>(id)?.value;
  expect(["#name", "#text", "#fish"].map(value)).toEqual([
    ...["Ahab", "Call me\nIshmael", "c"],
  ]);
  expect(codeOf(() => fill("#day", "tomorrow"))).toBe("ERR_INVALID_ARGUMENT");
  expect(value("#day")).toBe("2026-01-01");
  expect(codeOf(() => fill("#short", "long"))).toBe("ERR_INVALID_ARGUMENT");
  expect(codeOf(() => fill("#fixed", "x"))).toBe("ERR_ELEMENT_DISABLED");
  expect(codeOf(() => fill("#box", "on"))).toBe("ERR_INVALID_ARGUMENT");
  expect(codeOf(() => fill("#words", "x"))).toBe("ERR_INVALID_ARGUMENT");
  expect(codeOf(() => fill("#fish", "Tuna"))).toBe("ERR_INVALID_ARGUMENT");
  expect(codeOf(() => fill("#fish", "s"))).toBe("ERR_ELEMENT_DISABLED");
  expect(codeOf(() => fill("#name", "x".repeat(100_001)))).toBe(
    "ERR_INVALID_ARGUMENT",
  );
});

test.each([
  `<input id="f" type="password">`,
  `<input id="f" autocomplete="section-a cc-number">`,
  `<input id="f" autocomplete="one-time-code">`,
  `<input id="f" name="userPassword">`,
  `<input id="f" name="card_number">`,
  `<input id="f" placeholder="CVV">`,
  `<label>Passwort <input id="f"></label>`,
  `<select id="f" name="cc-exp"><option>1</option></select>`,
])(
  "a field for passwords or payment is neither filled in nor read: %s",
  (html) => {
    show(html);
    const field = document.querySelector<HTMLInputElement>("#f");
    if (field && field.localName === "input") field.value = "kept secret";
    expect(codeOf(() => fill("#f", "1"))).toBe("ERR_ELEMENT_PROTECTED");
    expect(JSON.stringify(list())).not.toContain("kept secret");
  },
);

test.each(["passenger", "account", "pinned", "compass", "discard", "nickname"])(
  "a field that is only named alike is filled in: %s",
  (name) => {
    show(`<input id="f" name="${name}" value="shown">`);
    expect(list()).toMatchObject([{ value: "shown" }]);
    expect(codeOf(() => fill("#f", "1"))).toBe("done");
  },
);

test("elements are listed by what people call them, and their references hold while they are there", () => {
  show(`
    <a href="/fish">Fish</a><button aria-label="Close">×</button>
    <label>Name <input value="Ahab" placeholder="Yours"></label>
    <input type="submit" value="Send"><input type="hidden" value="token" hidden>
    <input type="checkbox" checked disabled title="All"><p>Text</p>
    <div role="tab">Second</div><button hidden>Not there</button>`);
  const found = list();
  expect(found.map(({ ref: _, ...shown }) => shown)).toEqual([
    { role: "link", text: "Fish" },
    { role: "button", text: "Close" },
    {
      ...{ role: "textbox", text: "Name", type: "text" },
      ...{ placeholder: "Yours", value: "Ahab" },
    },
    { role: "button", text: "Send", type: "submit", value: "Send" },
    {
      ...{ role: "checkbox", text: "All", type: "checkbox" },
      ...{ checked: true, disabled: true },
    },
    { role: "tab", text: "Second" },
  ]);
  const [, close] = found;
  const received = vi.fn();
  document.querySelector("button")?.addEventListener("click", received);
  click(close?.ref ?? "");
  expect(received).toHaveBeenCalledTimes(1);
  expect(list()[1]?.ref).toBe(close?.ref);
  document.querySelector("button")?.remove();
  expect(codeOf(() => click(close?.ref ?? ""))).toBe("ERR_ELEMENT_NOT_FOUND");
});

test("however much a page holds, the list of its elements is bounded", () => {
  const button = `<button>${"Sail away ".repeat(1_000)}</button>`;
  show(button.repeat(400));
  const found = list();
  expect(found).toHaveLength(300);
  expect(JSON.stringify(found).length).toBeLessThan(100_000);
});

test("names in the page do not stand for the methods of its document", () => {
  show(
    `<img name="querySelectorAll"><img name="elementFromPoint">
     <form><input name="click"><input name="getAttribute"><button id="b" type="button">Go</button></form>`,
  );
  expect(codeOf(() => click("#b"))).toBe("done");
  expect(list()).toHaveLength(3);
});
