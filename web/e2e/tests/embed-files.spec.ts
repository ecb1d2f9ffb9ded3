// Files that people give to a remote agent through its embed, and the meter of its window.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "../embed-fixtures.js";
import { box, createAgent, embed, saidBy, stateLine } from "../remote.js";
import type { Server } from "../server.js";

const FILES = { feature_flags: { file_upload: true } };

/** What was uploaded to the only agent of the project. */
async function uploaded(server: Server): Promise<Record<string, string>> {
  const root = join(server.projectFolder("shop"), "uploads");
  const found: Record<string, string> = {};
  for (const folder of await readdir(root).catch(() => [])) {
    for (const name of await readdir(join(root, folder))) {
      found[name] = await readFile(join(root, folder, name), "utf8");
    }
  }
  return found;
}

const CONTROLS = {
  file_upload: "[aria-label='Attach files'], input[type=file]",
  context_usage: "[role=meter]",
  voice_mic: "[aria-label='Record a message'], [aria-label='Dictate']",
};

test("nothing of a feature that is off is in the page, whatever the address wants", async ({
  page,
  server,
}) => {
  const { embed_url } = await createAgent(server);
  await page.goto(`${embed_url}&file_upload=1&context_usage=1&voice_mic=1`);
  await expect(stateLine(page)).toHaveText("Done");
  for (const control of Object.values(CONTROLS)) {
    await expect(page.locator(control)).toHaveCount(0);
  }
  // What is dropped there stays outside.
  await box(page).evaluate((el) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["x"], "x.txt", { type: "text/plain" }));
    const init = { dataTransfer, bubbles: true, cancelable: true };
    el.dispatchEvent(new DragEvent("dragenter", init));
    el.dispatchEvent(
      new ClipboardEvent("paste", {
        clipboardData: dataTransfer,
        bubbles: true,
      }),
    );
  });
  await expect(page.getByText("Drop files here")).toHaveCount(0);
  await expect(page.getByRole("list", { name: "Attachments" })).toHaveCount(0);
  expect(await uploaded(server)).toEqual({});
});

for (const name of Object.keys(CONTROLS) as (keyof typeof CONTROLS)[]) {
  test(`${name} is there for an agent that was created with it, and an address can hide it`, async ({
    page,
    server,
  }) => {
    const { embed_url } = await createAgent(server, {
      feature_flags: { [name]: true },
    });
    await page.goto(embed_url);
    for (const [other, control] of Object.entries(CONTROLS)) {
      const shown = page.locator(control).first();
      if (other === name) await expect(shown).toBeAttached();
      else await expect(shown).toHaveCount(0);
    }
    await page.goto(`${embed_url}&${name}=0`);
    await expect(stateLine(page)).toHaveText("Done");
    await expect(page.locator(CONTROLS[name])).toHaveCount(0);
  });
}

test.describe("with features in the settings", () => {
  test.use({
    settings: { remote: { embed_defaults: { context_usage: true } } },
  });

  test("the settings switch a feature on, and the create request beats them", async ({
    page,
    server,
  }) => {
    const on = await createAgent(server);
    await page.goto(on.embed_url);
    await expect(page.getByRole("meter")).toBeVisible();
    const off = await createAgent(server, {
      feature_flags: { context_usage: false },
    });
    await page.goto(off.embed_url);
    await expect(stateLine(page)).toHaveText("Done");
    await expect(page.getByRole("meter")).toHaveCount(0);
    // What the create request switched off, no address switches on again.
    await page.goto(`${off.embed_url}&context_usage=1`);
    await expect(stateLine(page)).toHaveText("Done");
    await expect(page.getByRole("meter")).toHaveCount(0);
  });
});

test("the meter shows what the model's server counted, of the model's window", async ({
  page,
  server,
}) => {
  const { embed_url } = await createAgent(server, {
    feature_flags: { context_usage: true },
  });
  await page.goto(embed_url);
  const meter = page.getByRole("meter", { name: "Context used" });
  await expect(meter).toHaveAttribute("aria-valuemax", "8192");
  const first = Number(await meter.getAttribute("aria-valuenow"));
  expect(first).toBeGreaterThanOrEqual(1_000);
  await box(page).fill("more");
  await box(page).press("Enter");
  await expect(saidBy(page).last()).toHaveText("Heard: more");
  await expect
    .poll(async () => Number(await meter.getAttribute("aria-valuenow")))
    .toBeGreaterThan(first);
});

test("files chosen, dropped and pasted reach the agent's folder, and are reported to the agent", async ({
  page,
  server,
  shop,
  clerk,
}) => {
  const { embed_url: url } = await createAgent(server, FILES);
  await page.goto(shop.origin);
  const chat = await embed(page, { url });
  await expect(stateLine(chat)).toHaveText("Done");
  const choosing = page.waitForEvent("filechooser");
  await chat.getByRole("button", { name: "Attach files" }).click();
  await (
    await choosing
  ).setFiles([
    { name: "chosen.txt", mimeType: "text/plain", buffer: Buffer.from("one") },
  ]);
  const attached = chat.getByRole("list", { name: "Attachments" });
  await expect(attached.getByRole("listitem")).toHaveText([/chosen\.txt/]);
  await chat.locator("main").evaluate((main) => {
    const dataTransfer = new DataTransfer();
    dataTransfer.items.add(new File(["two"], "dropped.md"));
    const init = { dataTransfer, bubbles: true, cancelable: true };
    main.dispatchEvent(new DragEvent("dragenter", init));
    Object.assign(window, {
      drop: () => main.dispatchEvent(new DragEvent("drop", init)),
    });
  });
  await expect(chat.getByText("Drop files here")).toBeVisible();
  await expect(chat.getByText(/^Up to 26.2 MB each/).last()).toBeVisible();
  await chat
    .locator("main")
    .evaluate(() => (window as unknown as { drop: () => void }).drop());
  await expect(chat.getByText("Drop files here")).toHaveCount(0);
  await box(chat).evaluate((el) => {
    const clipboardData = new DataTransfer();
    clipboardData.items.add(
      new File(["three"], "pasted.png", { type: "image/png" }),
    );
    const init = { clipboardData, bubbles: true, cancelable: true };
    el.dispatchEvent(new ClipboardEvent("paste", init));
  });
  await expect(attached.getByRole("listitem")).toHaveCount(3);
  await expect(attached.getByRole("progressbar")).toHaveCount(0);
  await box(chat).fill("Look at these");
  await box(chat).press("Enter");
  await expect(attached).toHaveCount(0);
  await expect(stateLine(chat)).toHaveText("Done");
  expect(await uploaded(server)).toEqual({
    "chosen.txt": "one",
    "dropped.md": "two",
    "pasted.png": "three",
  });
  expect(clerk.received.at(-1)).toMatch(
    /^Look at these[^]*chosen\.txt[^]*dropped\.md[^]*pasted\.png/,
  );
  const mine = chat.locator(".user").last();
  await expect(mine).toContainText("Look at these");
  await expect(mine.locator(".file")).toHaveText([
    ...["chosen.txt", "dropped.md", "pasted.png"],
  ]);
  // A file says enough by itself.
  await chat.locator("input[type=file]").setInputFiles([
    {
      name: "alone.txt",
      mimeType: "text/plain",
      buffer: Buffer.from("four"),
    },
  ]);
  await chat.getByRole("button", { name: "Send" }).click();
  await expect(chat.locator(".user").last()).toHaveText(/alone\.txt/);
});

test.describe("with small limits", () => {
  test.use({
    settings: {
      remote: { upload_bytes: 3_000_000, upload_types: ["text/*"] },
    },
  });

  test("a file that is too large or of a wrong type is reported before uploading, and a removed file is not sent", async ({
    page,
    server,
    clerk,
  }) => {
    const { embed_url } = await createAgent(server, FILES);
    await page.goto(embed_url);
    await expect(stateLine(page)).toHaveText("Done");
    const sent: string[] = [];
    page.on("request", (request) => {
      if (request.url().includes("/uploads")) sent.push(request.url());
    });
    await page.locator("input[type=file]").setInputFiles([
      {
        name: "large.txt",
        mimeType: "text/plain",
        buffer: Buffer.alloc(3_000_001, 65),
      },
      {
        name: "evil.exe",
        mimeType: "application/x-msdownload",
        buffer: Buffer.from("MZ"),
      },
    ]);
    const list = page.getByRole("list", { name: "Attachments" });
    await expect(list.getByRole("alert")).toHaveText([
      /the limit is 3\.0 MB/,
      /application\/x-msdownload are not accepted/,
    ]);
    expect(sent).toEqual([]);
    await expect(page.getByRole("button", { name: "Send" })).toBeDisabled();
    await list.getByRole("button", { name: "Remove evil.exe" }).click();
    await list.getByRole("button", { name: "Remove large.txt" }).click();
    await expect(list).toHaveCount(0);
    await expect(
      page.getByRole("button", { name: "Attach files" }),
    ).toHaveAccessibleDescription("Up to 3.0 MB each: text files.");
    await box(page).fill("just words");
    await box(page).press("Enter");
    await expect(saidBy(page).last()).toHaveText("Heard: just words");
    expect(clerk.received.at(-1)).toBe("just words");
  });

  test("an upload shows how far it is, holds the message back, and can be cancelled", async ({
    page,
    server,
  }) => {
    const { embed_url } = await createAgent(server, FILES);
    await page.goto(embed_url);
    await expect(stateLine(page)).toHaveText("Done");
    const network = await page.context().newCDPSession(page);
    await network.send("Network.enable");
    await network.send("Network.emulateNetworkConditions", {
      ...{ offline: false, latency: 0 },
      ...{ downloadThroughput: -1, uploadThroughput: 300_000 },
    });
    await page.locator("input[type=file]").setInputFiles([
      {
        name: "slow.txt",
        mimeType: "text/plain",
        buffer: Buffer.alloc(2_900_000, 65),
      },
    ]);
    const bar = page.getByRole("progressbar", { name: "Sending slow.txt" });
    await expect(bar).toBeVisible();
    await expect
      .poll(async () => Number(await bar.getAttribute("value")))
      .toBeGreaterThan(0);
    await box(page).fill("wait for it");
    await expect(page.getByRole("button", { name: "Send" })).toBeDisabled();
    await page.getByRole("button", { name: "Cancel slow.txt" }).click();
    await expect(bar).toHaveCount(0);
    await expect(page.getByRole("button", { name: "Send" })).toBeEnabled();
    expect(await uploaded(server)).toEqual({});
  });
});
