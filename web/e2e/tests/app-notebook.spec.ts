// The notebook: notes are files, and it shows who changes them.
import { readFile, rename, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openApp } from "../apps.js";
import { expect, test } from "../fixtures.js";
import { LOOKS, look } from "../looks.js";

test(
  "a note is written, saved automatically and rendered beside its text",
  LOOKS,
  async ({ page, server }) => {
    const { frame, folder } = await openApp(page, server, "notebook");
    await frame.getByRole("textbox", { name: "New note name" }).fill("Log");
    await frame.getByRole("button", { name: "Add note" }).click();
    const text = frame.getByRole("textbox", { name: "Markdown text" });
    await expect(text).toHaveValue("# Log\n\n");
    await text.fill(
      "# Log\n\nWind **north**, see [chart](https://evil.example/x).\n\n- [ ] rope\n- [x] water\n\n<script>window.hacked = 1</script>\n\n| Day | Miles |\n| --- | --- |\n| 1 | 120 |\n| 2 | 98 |\n\n```\nlat 51.5\n```\n",
    );
    await expect(frame.getByText("Saved", { exact: true })).toBeVisible();
    expect(await readFile(join(folder, "Log.md"), "utf8")).toContain(
      "**north**",
    );
    const preview = frame.getByRole("article");
    await expect(preview.locator("strong")).toHaveText("north");
    await expect(preview).toContainText("<script>window.hacked = 1</script>");
    await expect(preview.locator("a, script")).toHaveCount(0);

    await preview.getByRole("checkbox", { name: "rope" }).check();
    await expect
      .poll(() => readFile(join(folder, "Log.md"), "utf8"))
      .toContain("- [x] rope");
    await look(page, "app-notebook", { include: "iframe" });
  },
);

test(
  "a change elsewhere is shown, and two changes at once lose nothing",
  LOOKS,
  async ({ page, server }) => {
    const { frame, folder, setState } = await openApp(page, server, "notebook");
    const plan = join(folder, "plan.md");
    await writeFile(plan, "# Plan\n");
    await writeFile(join(folder, "other.md"), "# Other\n");
    const notes = frame.getByRole("navigation", { name: "Notes" });
    await notes.getByRole("button", { name: "plan" }).click();
    const text = frame.getByRole("textbox", { name: "Markdown text" });
    await expect(text).toHaveValue("# Plan\n");

    // As editors do it: a new file takes the old one's place.
    await writeFile(`${plan}.tmp`, "# Plan\n\nFrom elsewhere\n");
    await rename(`${plan}.tmp`, plan);
    await expect(text).toHaveValue("# Plan\n\nFrom elsewhere\n");

    await text.fill("# Plan\n\nMine\n");
    await writeFile(plan, "# Plan\n\nTheirs\n");
    await expect(frame.getByRole("alert")).toBeVisible();
    expect(await readFile(plan, "utf8")).toBe("# Plan\n\nTheirs\n");
    await expect(text).toHaveValue("# Plan\n\nMine\n");
    await look(page, "app-notebook-conflict", { include: "iframe" });
    await frame.getByRole("button", { name: "Keep both" }).click();
    await expect
      .poll(() => readFile(plan, "utf8"))
      .toBe("# Plan\n\nMine\nTheirs\n");
    await expect(frame.getByRole("alert")).toBeHidden();

    await setState({ open: "other.md" });
    await expect(text).toHaveValue("# Other\n");
  },
);
