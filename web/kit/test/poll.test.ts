// Time is moved, not waited for.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { whileVisible } from "../src/parts/poll.js";

let visibility: DocumentVisibilityState;

beforeEach(() => {
  vi.useFakeTimers();
  visibility = "visible";
  vi.spyOn(document, "visibilityState", "get").mockImplementation(
    () => visibility,
  );
});

afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

function show(state: DocumentVisibilityState): void {
  visibility = state;
  document.dispatchEvent(new Event("visibilitychange"));
}

test("work is done at once and again after each pause", async () => {
  const work = vi.fn(() => Promise.resolve());
  const stop = whileVisible(1000, work);
  await vi.advanceTimersByTimeAsync(2000);
  expect(work).toHaveBeenCalledTimes(3);
  stop();
  await vi.advanceTimersByTimeAsync(5000);
  expect(work).toHaveBeenCalledTimes(3);
});

test("nothing is polled while hidden, and immediately when visible", async () => {
  const work = vi.fn(() => Promise.resolve());
  const stop = whileVisible(1000, work);
  show("hidden");
  await vi.advanceTimersByTimeAsync(10_000);
  expect(work).toHaveBeenCalledTimes(1);
  show("visible");
  expect(work).toHaveBeenCalledTimes(2);
  stop();
});

test("slow work is never done twice at a time", async () => {
  let done: () => void = () => undefined;
  const work = vi.fn(() => new Promise<void>((resolve) => (done = resolve)));
  const stop = whileVisible(1000, work);
  await vi.advanceTimersByTimeAsync(5000);
  show("visible");
  expect(work).toHaveBeenCalledTimes(1);
  done();
  await vi.advanceTimersByTimeAsync(1000);
  expect(work).toHaveBeenCalledTimes(2);
  stop();
});

test("work that is cut off by the end is no failure", async () => {
  const stop = whileVisible(
    1000,
    (signal) =>
      new Promise<void>((_, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")));
      }),
  );
  stop();
  // A failure would reach the test as an unhandled rejection.
  await vi.advanceTimersByTimeAsync(0);
});
