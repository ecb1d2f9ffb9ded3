// Both ends know the same messages: what the extension sends stands in docs/bridge.md, against which the bridge's own tests hold the bridge.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { TYPES } from "../src/ui/routes.js";

const SOURCES = join(import.meta.dirname, "../src");

/** Where a message is named outside of the routes. */
const SAID = [
  /\b(?:request|stream)\(\s*"([a-z_]+)"/g,
  /\btype: "([a-z]+_[a-z_]+)"/g,
];

function said(): string[] {
  const files = readdirSync(SOURCES, { recursive: true, encoding: "utf8" });
  return files
    .filter((file) => /\.(ts|svelte)$/.test(file))
    .map((file) => readFileSync(join(SOURCES, file), "utf8"))
    .flatMap((text) => SAID.flatMap((sign) => [...text.matchAll(sign)]))
    .map(([, name = ""]) => name);
}

test("every message that the extension sends stands in docs/bridge.md", () => {
  const path = join(import.meta.dirname, "../../../docs/bridge.md");
  const docs = readFileSync(path, "utf8");
  const names = [...TYPES, ...said()];
  // One of each place, so that none of them is overlooked.
  expect(names).toEqual(
    expect.arrayContaining([
      ...["hello", "cancel", "page_open", "page_frame", "page_close"],
      ...["ask_get", "ask_watch", "chat_follow", "panel_enter"],
    ]),
  );
  const strange = names.filter((name) => !docs.includes(`\`${name}\``));
  expect(strange).toEqual([]);
});
