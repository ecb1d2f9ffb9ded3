// What the file browser makes of names and sizes.
import { expect, test } from "vitest";
import {
  freeName,
  inOrder,
  looksBinary,
  pictureType,
  readableSize,
} from "../../apps/file-browser/kinds.js";

test("pictures are known by their names", () => {
  expect(pictureType("a.PNG")).toBe("image/png");
  expect(pictureType("a.txt")).toBeUndefined();
  expect(pictureType("png")).toBeUndefined();
  expect(pictureType("a.constructor")).toBeUndefined();
});

test("folders come first and numbers count", () => {
  const entries = ["file 10", "file 2", "Alpha"].map((name) => ({
    name,
    kind: "file",
  }));
  const listed = inOrder([...entries, { name: "zoo", kind: "folder" }]);
  expect(listed.map(({ name }) => name)).toEqual([
    "zoo",
    "Alpha",
    "file 2",
    "file 10",
  ]);
});

test("a dropped file overwrites nothing", () => {
  const taken = new Set(["a.png", "a (2).png", "b", ".env"]);
  expect(freeName("new.png", taken)).toBe("new.png");
  expect(freeName("a.png", taken)).toBe("a (3).png");
  expect(freeName("b", taken)).toBe("b (2)");
});

test("sizes are readable, and binary files are distinguished from text", () => {
  expect([0, 999, 1500, 123456789].map(readableSize)).toEqual([
    "0 B",
    "999 B",
    "1.5 kB",
    "123 MB",
  ]);
  expect(looksBinary(new Uint8Array([65, 0]))).toBe(true);
  expect(looksBinary(new TextEncoder().encode("text"))).toBe(false);
});
