// @vitest-environment node
// Replay files: one page with everything in it, which reads back what was written and loads nothing.
import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { beforeAll, expect, test } from "vitest";
import { replayPage } from "../replay-file.plugin.js";
import { fileOf, recordingIn, sourceOf } from "../src/replay/file.js";
import { RecordingReader, type Recorded } from "../src/replay/read.js";
import { CHAT, events, linesOf } from "./replay-recording.js";

const HOSTILE = "</script><script>alert(1)</script><!-- ]]> \u2028 𝄞";
const list = events(...CHAT, { type: "session.notice", message: HOSTILE });
let shell: string;

beforeAll(async () => {
  shell = await replayPage();
}, 60_000);

async function read(file: File) {
  const found: Recorded[] = [];
  const reader = new RecordingReader();
  const { pieces } = await sourceOf(file);
  for await (const batch of reader.read(pieces)) found.push(...batch);
  return { found, header: reader.header };
}

const problemOf = (file: File) =>
  read(file).then(
    () => "",
    (error: unknown) => (error as Error).message,
  );

const made = async (of: readonly Recorded[]) => {
  const blob = await fileOf(shell, { title: HOSTILE, session: "s" }, of);
  return blob.text();
};

test("a replay file reads back what was written, and no tag begins in its recording", async () => {
  const html = await made(list);
  expect(recordingIn(html)).not.toContain("<");
  const { found, header } = await read(new File([html], "r.html"));
  expect(found).toEqual(list);
  expect(header).toMatchObject({ title: HOSTILE, session: "s" });
  // The same as an export of the server.
  expect(await read(new File([linesOf(list)], "s.jsonl"))).toEqual({
    ...{ found: list, header: null },
  });
});

test("the page of replay files runs its own script alone and loads nothing", () => {
  const policy = /Content-Security-Policy" content="([^"]*)"/.exec(shell)?.[1];
  const hash = (text: string | undefined) =>
    `'sha256-${createHash("sha256")
      .update(text ?? "")
      .digest("base64")}'`;
  const script = /<script>([^]*?)<\/script>/.exec(shell)?.[1];
  const style = /<style>([^]*?)<\/style>/.exec(shell)?.[1];
  expect(policy?.split("; ")).toEqual([
    "default-src 'none'",
    `script-src ${hash(script)}`,
    `style-src ${hash(style)}`,
    ...["img-src data:", "media-src data:", "base-uri 'none'"],
    "form-action 'none'",
  ]);
  expect(script).not.toMatch(/<!--/);
  expect(shell.match(/<script/g)).toHaveLength(2);
  expect(style).not.toMatch(/@import|url\((?!["']?data:)/);
  expect(gzipSync(shell).length).toBeLessThan(90_000);
});

test("a file that is damaged or something else says what is wrong and where", async () => {
  const html = await made(list);
  const named = (text: string, name = "r.html") => new File([text], name);
  const cut = html.slice(0, html.indexOf("calendar/read"));
  expect(await problemOf(named(cut))).toMatch(
    /^Line \d+ of the recording is not JSON/,
  );
  const lines = html.split("\n");
  const at = lines.findIndex((line) => line.includes("calendar/read"));
  const shorter = lines.toSpliced(at, 1).join("\n");
  expect(await problemOf(named(shorter))).toMatch(
    /holds 16 events, and has 15/,
  );
  expect(await problemOf(named("<!doctype html><p>Hi"))).toMatch(
    /web page, but there is no recording/,
  );
  expect(await problemOf(named("\x89PNG", "cat.png"))).toMatch(
    /“cat.png” is neither/,
  );
  expect(await problemOf(named("", "nothing"))).toMatch(/is neither/);
  await expect(fileOf("<p>", { title: "", session: null }, [])).rejects.toThrow(
    "no page for replay files",
  );
});
