// What is packed: the manifests, and zips whose bytes depend on their files alone.
import { createHash } from "node:crypto";
import { expect, test } from "vitest";
import { manifest } from "../manifest.js";
import { zip } from "../zip.js";

test("the key gives the id that native manifests name", () => {
  const { key } = manifest("chromium", "1.0.0") as { key: string };
  const der = Buffer.from(key, "base64");
  const digits = createHash("sha256").update(der).digest("hex").slice(0, 32);
  const letters = digits.replaceAll(/./g, (digit) =>
    String.fromCharCode(97 + Number.parseInt(digit, 16)),
  );
  expect(letters).toBe("njoboigjinompkfkjgolajikglchoefc");
});

test("the extension asks for no more than the docs explain", () => {
  const asks = (browser: "chromium" | "firefox") => {
    const { permissions, host_permissions } = manifest(browser, "1.0.0");
    return [...permissions, ...host_permissions];
  };
  const both = ["nativeMessaging", "scripting", "storage", "webNavigation"];
  const web = ["<all_urls>"];
  expect(asks("firefox")).toEqual([...both, ...web]);
  expect(asks("chromium")).toEqual([...both, "sidePanel", ...web]);
});

test("content scripts run on pages of the web alone", () => {
  for (const browser of ["chromium", "firefox"] as const) {
    for (const { matches } of manifest(browser, "1.0.0").content_scripts) {
      expect(matches).toEqual(["http://*/*", "https://*/*"]);
    }
  }
});

test("the script that takes the port runs before the one that hands it over", () => {
  for (const browser of ["chromium", "firefox"] as const) {
    const { content_scripts } = manifest(browser, "1.0.0");
    expect(content_scripts.flatMap(({ js }) => js)).toEqual([
      ...["content.js", "page.js"],
    ]);
  }
});

test("a zip is the same whatever the order of its files", () => {
  const files: [string, Buffer][] = [
    ["b/ü.txt", Buffer.from("two")],
    ["a.txt", Buffer.from("one")],
    ["empty", Buffer.alloc(0)],
  ];
  const one = zip(new Map(files));
  const other = zip(new Map(files.toReversed()));
  expect(one.equals(other)).toBe(true);
  expect(createHash("sha256").update(one).digest("hex")).toMatchInlineSnapshot(
    `"34349eb665cd261dfa60dba5ee2226de9a657cc45b3c5720b80d05fd86cc984f"`,
  );
  expect(one.subarray(0, 4).toString("latin1")).toBe("PK\x03\x04");
  expect(one.includes("b/ü.txt")).toBe(true);
});
