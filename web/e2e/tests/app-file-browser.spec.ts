// The file browser: the session's folder as it is now, with previews and uploads.
import { mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openApp } from "../apps.js";
import { expect, test } from "../fixtures.js";
import { LOOKS, look } from "../looks.js";

// One red dot.
const DOT = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==",
  "base64",
);

test(
  "files are listed as they come and go, and previewed as text or picture",
  LOOKS,
  async ({ page, server }) => {
    const { frame, folder, setState } = await openApp(
      page,
      server,
      "file-browser",
    );
    await expect(frame.getByText("This folder is empty")).toBeVisible();
    await mkdir(join(folder, "pictures"));
    await writeFile(join(folder, "pictures/dot.png"), DOT);
    await writeFile(join(folder, "notes 10.txt"), "ten");
    await writeFile(
      join(folder, "notes 2.txt"),
      "Two <script>window.hacked = 1</script> lines\nand more",
    );
    await writeFile(join(folder, "blob.bin"), Buffer.from([1, 0, 2]));
    const names = frame.locator("#rows button");
    await expect(names).toHaveText([
      "pictures, folder",
      "blob.bin",
      "notes 2.txt",
      "notes 10.txt",
    ]);

    await frame.getByRole("button", { name: "notes 2.txt" }).click();
    const content = frame.locator("#content");
    await expect(content).toContainText(
      "Two <script>window.hacked = 1</script>",
    );
    await writeFile(join(folder, "notes 2.txt"), "Changed");
    await expect(content).toHaveText("Changed");
    await look(page, "app-file-browser", { include: "iframe" });
    await frame.getByRole("button", { name: "blob.bin" }).click();
    await expect(content).toContainText("No preview");
    await rm(join(folder, "blob.bin"));
    await expect(content).toBeHidden();
    await expect(names).toHaveCount(3);

    const folderRow = frame.getByRole("button", { name: /^pictures/ });
    await folderRow.press("Enter");
    await frame.getByRole("button", { name: "dot.png" }).click();
    const picture = frame.getByRole("img", { name: "Image dot.png" });
    await expect
      .poll(() =>
        picture.evaluate((image: HTMLImageElement) => image.naturalWidth),
      )
      .toBe(1);
    await frame.getByRole("button", { name: "dot.png" }).press("Backspace");
    await expect(folderRow).toBeVisible();
    await setState({ path: "pictures", selected: "dot.png" });
    await expect(picture).toBeVisible();
  },
);

test("files are dropped in, and nothing is overwritten", async ({
  page,
  server,
}) => {
  const { frame, folder } = await openApp(page, server, "file-browser");
  await expect(frame.getByText("This folder is empty")).toBeVisible();
  await writeFile(join(folder, "a.txt"), "mine");
  await expect(frame.getByRole("button", { name: "a.txt" })).toBeVisible();
  const dropped = await frame.locator("body").evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["theirs"], "a.txt"));
    transfer.items.add(new File([new Uint8Array([0, 255, 10])], "b.bin"));
    return transfer;
  });
  await frame.locator("#app").dispatchEvent("drop", { dataTransfer: dropped });
  await expect(frame.getByText("2 files were added.")).toBeVisible();
  expect(await readFile(join(folder, "a.txt"), "utf8")).toBe("mine");
  expect(await readFile(join(folder, "a (2).txt"), "utf8")).toBe("theirs");
  expect([...(await readFile(join(folder, "b.bin")))]).toEqual([0, 255, 10]);

  await frame.getByRole("button", { name: "a (2).txt" }).click();
  const download = page.waitForEvent("download");
  await frame.getByRole("button", { name: "Download" }).click();
  expect((await download).suggestedFilename()).toBe("a (2).txt");
});
