// What a tool answered, on the page.
import { flushSync, mount, unmount } from "svelte";
import { expect, test } from "vitest";
import ResultBlocks from "../src/chat/ResultBlocks.svelte";
import { blocksOf } from "../src/tools/result.js";

test("an image is a picture, audio plays, links and embedded resources are shown as such, and no base64 is text", async () => {
  const data = "A".repeat(400);
  const blocks = blocksOf([
    { type: "image", mimeType: "image/png", data },
    { type: "audio", mimeType: "audio/wav", data },
    { type: "resource_link", uri: "https://a.example/", name: "A" },
    { type: "resource", resource: { uri: "n:1", text: "inside" } },
    {
      type: "resource",
      resource: { uri: "n:2", mimeType: "image/png", blob: data },
    },
    {
      type: "resource",
      resource: { uri: "n:3", mimeType: "application/zip", blob: data },
    },
  ]);
  const shown = mount(ResultBlocks, {
    target: document.body,
    props: { blocks },
  });
  flushSync();
  const sources = (name: string) =>
    [...document.querySelectorAll(name)].map((node) =>
      node.getAttribute("src"),
    );
  expect(sources("img")[0]).toBe(`data:image/png;base64,${data}`);
  expect(sources("audio")).toEqual([`data:audio/wav;base64,${data}`]);
  expect(document.querySelector("audio")?.controls).toBe(true);
  const link = document.querySelector("a");
  expect([link?.href, link?.textContent]).toEqual(["https://a.example/", "A"]);
  const text = document.body.textContent;
  expect(text).toContain("n:1\ninside");
  expect(document.querySelectorAll("img")[1]?.alt).toContain("n:2");
  expect(text).toContain("n:3: application/zip");
  expect(text).not.toContain("AAAA");
  await unmount(shown);
});
