// What a page around may change about an embed, and what it may not.
import { beforeEach, expect, test } from "vitest";
import { takeAddress } from "../src/embed/address.js";
import { lookOf, wear } from "../src/embed/look.js";
import {
  contrast,
  readableOn,
  textOn,
  type Colour,
} from "@gangway/kit/chat/dress.js";

const WHITE: Colour = [255, 255, 255];
const NIGHT: Colour = [18, 22, 27];

beforeEach(() => {
  document.documentElement.removeAttribute("style");
  delete document.documentElement.dataset["theme"];
});

test("only values that are what they should be are taken", () => {
  const good = {
    theme: "dark",
    accent: "rebeccapurple",
    font: `Inter, "Noto Sans", sans-serif`,
    size: "15.5px",
    radius: "0px",
  };
  expect(lookOf(good)).toEqual(good);
  expect(
    lookOf({
      theme: "pink",
      accent: "x".repeat(101),
      font: "url(https://evil.example/f)",
      size: "400px",
      radius: "calc(1px)",
      background: "red",
      "--bg": "red",
    }),
  ).toEqual({});
  for (const font of ["a;b", "a}b", "var(--x)", "a\\62", "<b>", ""]) {
    expect(lookOf({ font })).toEqual({});
  }
  for (const size of ["11px", "23px", "-15px", "15", "1e1px", 15, null]) {
    expect(lookOf({ size })).toEqual({});
  }
  for (const junk of [null, undefined, 7, "theme", []]) {
    expect(lookOf(junk)).toEqual({});
  }
});

test("a theme can be chosen, and given back to the system", () => {
  wear({ theme: "dark" });
  expect(document.documentElement.dataset["theme"]).toBe("dark");
  wear({});
  expect(document.documentElement.dataset["theme"]).toBe("dark");
  wear({ theme: "auto" });
  expect(document.documentElement.dataset["theme"]).toBeUndefined();
});

test("words in and on any accent can be read, by day and by night", () => {
  const steps = [0, 51, 102, 153, 204, 255];
  for (const red of steps)
    for (const green of steps)
      for (const blue of steps) {
        const colour: Colour = [red, green, blue];
        for (const page of [WHITE, NIGHT]) {
          const worn = readableOn(colour, page);
          expect(contrast(worn, page)).toBeGreaterThanOrEqual(4.5);
        }
        const on: Colour = textOn(colour) === "#000" ? [0, 0, 0] : WHITE;
        expect(contrast(colour, on)).toBeGreaterThanOrEqual(4.5);
      }
});

test("a colour that can be read already is left as it is", () => {
  expect(readableOn([0, 0, 200], WHITE)).toEqual([0, 0, 200]);
  expect(readableOn([255, 200, 0], NIGHT)).toEqual([255, 200, 0]);
});

test("the address is read once and forgets its token alone", () => {
  const query =
    "token=secret&theme=light&accent=%23f00&parent=https://a.example";
  history.replaceState(
    null,
    "",
    `/embed/a%20b?${query}&voice_mic=1&file_upload=0`,
  );
  const entries = history.length;
  expect(takeAddress()).toEqual({
    agentId: "a b",
    token: "secret",
    parent: "https://a.example",
    style: { theme: "light", accent: "#f00" },
    features: { voice_mic: true, file_upload: false },
  });
  expect(location.href).not.toContain("secret");
  expect(location.search).toContain("theme=light");
  expect(history.length).toBe(entries);
  expect(takeAddress().token).toBeNull();
});

test("an address that cannot be decoded names no agent that there is", () => {
  history.replaceState(null, "", "/embed/%E0%A4%A?token=");
  expect(takeAddress()).toMatchObject({ agentId: "%E0%A4%A", token: null });
  expect(location.search).toBe("");
});
