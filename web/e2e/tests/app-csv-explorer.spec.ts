// The CSV explorer: long files without a standstill, filters by hand and by the agent.
import { appendFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { openApp } from "../apps.js";
import { expect, test } from "../fixtures.js";
import { LOOKS, look, pictures } from "../looks.js";

const CITIES = ["Oslo", "Rome", "Bern", "Lima"];

function rows(from: number, count: number): string {
  let text = "";
  for (let at = from; at < from + count; at += 1) {
    const city = CITIES[at % 4] ?? "";
    const price = ((at * 7919) % 10_000) / 100;
    text += `${at},${city},${price},"note, ${at}"\n`;
  }
  return text;
}

test(
  "a table is shown, plotted and filtered, by the person and by the agent",
  LOOKS,
  async ({ page, server }) => {
    const { frame, folder, setState, getState } = await openApp(
      page,
      server,
      "csv-explorer",
    );
    await expect(frame.getByRole("combobox", { name: "File" })).toBeVisible();
    await writeFile(
      join(folder, "sales.csv"),
      `id,city,price,note\n${rows(0, 2000)}`,
    );
    await setState({ file: "sales.csv" });
    const status = frame.locator("#status");
    await expect(status).toHaveText("2,000 rows");
    await expect(
      frame.getByRole("cell", { name: "note, 3" }).first(),
    ).toBeVisible();
    await expect(
      frame.getByRole("img", { name: /Histogram of id/ }),
    ).toBeVisible();

    await frame.getByRole("button", { name: "price" }).click();
    await expect(
      frame.getByRole("img", { name: /Histogram of price/ }),
    ).toBeVisible();
    await frame.getByRole("combobox", { name: "Column" }).selectOption("city");
    await frame.getByRole("textbox", { name: "Value" }).fill("oslo");
    await frame.getByRole("textbox", { name: "Value" }).press("Enter");
    await expect(status).toHaveText("500 of 2,000 rows");
    await look(page, "app-csv-explorer", { include: "iframe" });

    await setState({
      filters: [
        { column: "city", op: "=", value: "Rome" },
        { column: "price", op: ">", value: 50 },
        { column: "nobody", op: "=", value: 1 },
      ],
      plot: { kind: "scatter", x: "id", y: "price" },
    });
    await expect(status).toHaveText("251 of 2,000 rows");
    await expect(frame.getByRole("img", { name: "price by id" })).toBeVisible();
    await pictures(page, "app-csv-explorer-scatter");
    await expect
      .poll(async () => (await getState())["summary"])
      .toMatchObject({
        file: "sales.csv",
        rows: 2000,
        matching: 251,
        columns: [{ name: "id" }, { name: "city" }, { name: "price" }, {}],
      });
    await frame
      .getByRole("button", { name: "Remove the filter price > 50" })
      .click();
    await expect(status).toHaveText("500 of 2,000 rows");

    await appendFile(join(folder, "sales.csv"), rows(2000, 4));
    await expect(status).toHaveText("501 of 2,004 rows");
  },
);

test("100 MB are read while the page stays responsive", async ({
  page,
  server,
}) => {
  test.slow();
  const { frame, folder, setState } = await openApp(
    page,
    server,
    "csv-explorer",
  );
  const big = join(folder, "big.csv");
  await writeFile(big, "id,city,price,note\n");
  const block = rows(0, 100_000);
  const blocks = Math.ceil(100_000_000 / block.length);
  for (let at = 0; at < blocks; at += 1) await appendFile(big, block);

  const inside = page.frames().find((each) => each.url().includes("/applets/"));
  if (!inside) throw new Error("there is no frame");
  await inside.evaluate(() => {
    const watched = window as unknown as { longest: number };
    watched.longest = 0;
    let last = performance.now();
    setInterval(() => {
      const now = performance.now();
      watched.longest = Math.max(watched.longest, now - last);
      last = now;
    }, 10);
  });
  await setState({ file: "big.csv" });
  const total = (blocks * 100_000).toLocaleString("en-US");
  await expect(frame.locator("#status")).toHaveText(`${total} rows`, {
    timeout: 90_000,
  });
  const longest = await inside.evaluate(
    () => (window as unknown as { longest: number }).longest,
  );
  // A standstill that nobody would miss is far longer; the machine may be busy.
  expect(longest).toBeLessThan(1_500);
  await frame.getByRole("table", { name: "Rows" }).press("End");
  await expect(frame.getByRole("cell", { name: "note, 99999" })).toBeVisible();
});
