// The microphone of an embed, with the device that Chromium plays for tests.
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { expect, test } from "../embed-fixtures.js";
import { contextIn } from "../fixtures.js";
import { box, createAgent, embed, saidBy, stateLine } from "../remote.js";

const VOICE = { feature_flags: { voice_mic: true } };

test.use({
  context: contextIn(
    "--use-fake-device-for-media-stream",
    "--use-fake-ui-for-media-stream",
  ),
});

test("a recording is made, played, and sent as an attachment, inside a page of another site", async ({
  page,
  server,
  shop,
  clerk,
}) => {
  const { embed_url: url } = await createAgent(server, VOICE);
  await page.goto(shop.origin);
  const chat = await embed(page, { url });
  await expect(stateLine(chat)).toHaveText("Done");
  await chat.getByRole("button", { name: "Record a message" }).click();
  const tray = chat.getByRole("group", { name: "Recording" });
  const stop = tray.getByRole("button", { name: "Stop recording" });
  await expect(stop).toBeFocused();
  await expect(tray).toContainText("0:01");
  // The device beeps, shortly and once a second: looked at now and then, it could seem silent.
  await tray.locator(".live").evaluate(
    (el) =>
      new Promise<void>((seen) => {
        const look = () => {
          const level = Number(
            (el as HTMLElement).style.getPropertyValue("--level"),
          );
          if (level > 0.05) seen();
          else requestAnimationFrame(look);
        };
        look();
      }),
  );
  await stop.press("Enter");
  const play = tray.getByRole("button", { name: "Play" });
  await expect(play).toBeFocused();
  await play.press("Enter");
  await expect(
    tray.getByRole("button", { name: "Stop playing" }),
  ).toBeVisible();
  await expect(play).toBeVisible();
  await tray.getByRole("button", { name: "Send recording" }).click();
  await expect(tray).toHaveCount(0);
  await expect(chat.locator(".user").last()).toHaveText(/recording-.*\.webm/);
  await expect(stateLine(chat)).toHaveText("Done");
  expect(clerk.received.at(-1)).toMatch(/recording-.*\.webm/);
  const root = join(server.projectFolder("shop"), "uploads");
  const [folder = ""] = await readdir(root);
  const [name = ""] = await readdir(join(root, folder));
  const bytes = await readFile(join(root, folder, name));
  // A WebM file begins so.
  expect(bytes.subarray(0, 4).toString("hex")).toBe("1a45dfa3");
  expect(bytes.length).toBeGreaterThan(1_000);
});

test("a recording can be discarded, and turned into words before it is sent", async ({
  page,
  server,
  clerk,
}) => {
  const { embed_url } = await createAgent(server, VOICE);
  await page.goto(embed_url);
  await expect(stateLine(page)).toHaveText("Done");
  const record = page.getByRole("button", { name: "Record a message" });
  const tray = page.getByRole("group", { name: "Recording" });
  await record.click();
  await tray.getByRole("button", { name: "Discard" }).click();
  await expect(tray).toHaveCount(0);
  await box(page).fill("Captain,");
  await record.click();
  await expect(tray).toContainText("0:01");
  await tray.getByRole("button", { name: "Stop recording" }).click();
  await tray.getByRole("button", { name: "Transcribe" }).click();
  await expect(box(page)).toHaveValue("Captain, ahoy from the microphone");
  await expect(tray).toHaveCount(0);
  await box(page).press("Enter");
  await expect(saidBy(page).last()).toContainText("ahoy from the microphone");
  const asked = clerk.asked.find(({ path }) => path.includes("transcriptions"));
  expect(asked?.body).toContain("whisper-1");
});

test.describe("without a server for speech", () => {
  test.use({ settings: { remote: { speech: null } } });

  test("there is no button that would need one", async ({ page, server }) => {
    const { embed_url } = await createAgent(server, VOICE);
    await page.goto(embed_url);
    await page.getByRole("button", { name: "Record a message" }).click();
    const tray = page.getByRole("group", { name: "Recording" });
    await tray.getByRole("button", { name: "Stop recording" }).click();
    await expect(
      tray.getByRole("button", { name: "Send recording" }),
    ).toBeVisible();
    await expect(tray.getByRole("button", { name: "Transcribe" })).toHaveCount(
      0,
    );
  });
});

test("a denied or missing microphone is reported", async ({ page, server }) => {
  const { embed_url } = await createAgent(server, VOICE);
  for (const [name, words] of [
    ["NotAllowedError", "access is blocked"],
    ["NotFoundError", "No microphone was found"],
  ] as const) {
    await page.goto(embed_url);
    await expect(stateLine(page)).toHaveText("Done");
    // The browser's own answer, which no flag can bring about for both.
    await page.evaluate((name) => {
      navigator.mediaDevices.getUserMedia = () =>
        Promise.reject(new DOMException("no", name));
    }, name);
    await page.getByRole("button", { name: "Record a message" }).click();
    await expect(page.getByRole("alert")).toContainText(words);
    await expect(page.getByRole("group", { name: "Recording" })).toHaveCount(0);
    await expect(
      page.getByRole("button", { name: "Record a message" }),
    ).toBeEnabled();
  }
});

test("dictation writes into the box, where the browser has it", async ({
  page,
  server,
}) => {
  await page.addInitScript(() => {
    // Chromium asks a service of its maker's for this; the test is that service.
    class Heard extends EventTarget {
      onresult: ((event: object) => void) | null = null;
      onend: (() => void) | null = null;
      start() {
        const say = (transcript: string) =>
          this.onresult?.({ results: [[{ transcript }]] });
        setTimeout(() => {
          say("two her");
          say("two herrings");
        });
      }
      stop() {
        this.onend?.();
      }
      abort() {
        this.onend?.();
      }
    }
    Object.assign(window, { SpeechRecognition: Heard });
  });
  const { embed_url } = await createAgent(server, VOICE);
  await page.goto(embed_url);
  await expect(stateLine(page)).toHaveText("Done");
  await box(page).fill("I take");
  await page.getByRole("button", { name: "Dictate" }).click();
  await expect(box(page)).toHaveValue("I take two herrings");
  await page.getByRole("button", { name: "Stop dictating" }).click();
  await expect(page.getByRole("button", { name: "Dictate" })).toBeVisible();
});
