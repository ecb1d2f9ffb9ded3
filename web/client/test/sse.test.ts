// Events come out whole, wherever their bytes were cut.
import { expect, test } from "vitest";
import { readEvents } from "../src/sse.js";
import { streamOf } from "./streams.js";

async function dataOf(...pieces: (string | Uint8Array)[]): Promise<string[]> {
  const found: string[] = [];
  for await (const data of readEvents(streamOf(...pieces))) found.push(data);
  return found;
}

test("a stream cut at any byte gives the same events", async () => {
  const text =
    'data: {"a":"é🛳️"}\n\ndata: two\r\ndata: lines\r\n\r\ndata:x\r\r';
  const bytes = new TextEncoder().encode(text);
  const whole = ['{"a":"é🛳️"}', "two\nlines", "x"];
  for (let cut = 0; cut <= bytes.length; cut += 1) {
    expect(await dataOf(bytes.slice(0, cut), bytes.slice(cut))).toEqual(whole);
  }
  expect(
    await dataOf(...[...bytes].map((byte) => Uint8Array.of(byte))),
  ).toEqual(whole);
});

test("comments, other fields and empty events are skipped", async () => {
  expect(
    await dataOf(": hello\n\nevent: x\nid: 7\ndata: one\n\n\n\nretry: 5\n\n"),
  ).toEqual(["one"]);
});

test("only the first space after the colon is taken away", async () => {
  expect(await dataOf("data:  two\n\ndata\n\n")).toEqual([" two", ""]);
});

test("an event that was not finished is dropped", async () => {
  expect(await dataOf("data: one\n\ndata: tw")).toEqual(["one"]);
});

test("unsubscribing ends the request", async () => {
  let cancelled = false;
  const endless = new ReadableStream<Uint8Array>({
    pull: (control) =>
      control.enqueue(new TextEncoder().encode("data: more\n\n")),
    cancel: () => void (cancelled = true),
  });
  for await (const data of readEvents(endless)) {
    expect(data).toBe("more");
    break;
  }
  expect(cancelled).toBe(true);
});
