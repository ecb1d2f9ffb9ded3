// What the Models page keeps, and what it does not.
import { Http, Models } from "@gangway/client";
import { expect, test, vi } from "vitest";
import { ActivityState } from "../src/models/activity.svelte.js";
import { ModelsState } from "../src/models/models.svelte.js";
import { ProvidersState } from "@gangway/kit/models/providers.svelte.js";
import { TrialState } from "../src/models/trial.svelte.js";
import { WeightsState } from "../src/models/weights.svelte.js";

type Answer = (path: string, init: RequestInit) => unknown;

/** A server of one function; what it throws is a refusal. */
function http(answer: Answer): Http {
  return new Http({
    fetch: async (input, init = {}) => {
      const body = await answer(input as string, init);
      return body instanceof Response ? body : Response.json(body);
    },
  });
}

function refusal(code: string): Response {
  const body = { error_code: code, message: "No.", retryable: false };
  return Response.json(body, { status: 409 });
}

test("of several quick choices the last one counts, one request at a time", async () => {
  const sent: unknown[] = [];
  const waiting: (() => void)[] = [];
  const models = new Models(
    http(async (_, init) => {
      const { model } = JSON.parse(init.body as string) as { model: string };
      sent.push(model);
      await new Promise<void>((resolve) => waiting.push(resolve));
      return { providers: [], choice: model };
    }),
  );
  const state = new ProvidersState(models);
  const choosing = state.choose("a");
  void state.choose("b");
  void state.choose("c");
  expect(state.wanted).toEqual({ model: "c" });
  await vi.waitFor(() => expect(waiting).toHaveLength(1));
  waiting[0]?.();
  await vi.waitFor(() => expect(waiting).toHaveLength(2));
  waiting[1]?.();
  await choosing;
  expect(sent).toEqual(["a", "c"]);
  expect(state.choice).toBe("c");
  expect(state.wanted).toBeNull();
});

test("a choice that is refused goes back to what it was", async () => {
  const state = new ProvidersState(new Models(http(() => refusal("nope"))));
  state.choice = "a";
  await state.choose("b");
  expect(state.choice).toBe("a");
  expect(state.wanted).toBeNull();
  expect(state.problem?.message).toBe("No.");
});

/** Everything that a page could read from the state, errors with their causes. */
function readable(state: ProvidersState): string {
  const { all, models, choice, wanted, error, problem } = state;
  const errors = [error, problem].map((each) =>
    each ? [each.message, each.stack, each.details, String(each.cause)] : [],
  );
  const rest = { all, models, choice, wanted, default: state.default };
  return JSON.stringify([rest, errors]);
}

test("a saved key stays nowhere in the state", async () => {
  const state = new ProvidersState(
    new Models(
      http((path) =>
        path === "/api/models" ? { models: [] } : { providers: [] },
      ),
    ),
  );
  await state.setKey("work", "sk-secret");
  expect(state.loaded).toBe(true);
  expect(readable(state)).not.toContain("sk-secret");
});

test("an error does not contain the rejected key", async () => {
  const state = new ProvidersState(
    new Models(http(() => refusal("key_from_environment"))),
  );
  const error: unknown = await state
    .setKey("work", "sk-secret")
    .catch((error: unknown) => error);
  expect(error).toMatchObject({ code: "key_from_environment" });
  expect(`${String(error)} ${JSON.stringify(error)}`).not.toContain("secret");
  expect(readable(state)).not.toContain("sk-secret");
});

test("new weights are announced once, existing ones are not", async () => {
  let names = ["old"];
  const changed = vi.fn();
  const state = new WeightsState(
    new Models(
      http(() => ({
        weights: names.map((name) => ({ name, bytes: 1 })),
        catalog: [],
        pulls: [],
      })),
    ),
    changed,
  );
  await state.load();
  expect(changed).not.toHaveBeenCalled();
  names = ["old", "new"];
  await state.load();
  await state.load();
  expect(changed).toHaveBeenCalledTimes(1);
  expect(state.arrived).toBe("new is downloaded.");
});

test("memory is remembered for a minute, and gaps stay gaps", async () => {
  vi.useFakeTimers();
  const answers = [10, undefined, 30, 40];
  const state = new ActivityState(
    new Models(
      http(() => ({
        ...{ active: 0, tokens: [1, 2], memoryBytes: answers.shift() },
        embedded: { engine: "ready", memoryBytes: 0, active: 0, waiting: 0 },
      })),
    ),
  );
  for (const pause of [1, 1, 59, 0]) {
    await state.load();
    vi.advanceTimersByTime(pause * 1000);
  }
  vi.useRealTimers();
  expect(state.process).toEqual([
    { age: 59, value: 30 },
    { age: 0, value: 40 },
  ]);
  expect(state.tokens).toEqual([
    { age: 1, value: 1 },
    { age: 0, value: 2 },
  ]);
});

test("a burst has no speed", () => {
  const trial = new TrialState(http(() => ({})));
  trial.usage = { input: 1, output: 41 };
  trial.pace = { firstMs: 5, writingMs: 2 };
  expect(trial.speed).toBeNull();
  trial.pace = { firstMs: 5, writingMs: 1000 };
  expect(trial.speed).toBe(40);
});

test("a try that is stopped keeps what was said", async () => {
  const event = 'data: {"choices":[{"delta":{"content":"Half"}}]}\n\n';
  const trial = new TrialState(
    http((_, init) => {
      const body = new ReadableStream<Uint8Array>({
        start(control) {
          control.enqueue(new TextEncoder().encode(event));
          init.signal?.addEventListener("abort", () =>
            control.error(init.signal?.reason),
          );
        },
      });
      return new Response(body);
    }),
  );
  const asking = trial.ask("Hi", undefined);
  await vi.waitFor(() => expect(trial.text).toBe("Half"));
  trial.stop();
  await asking;
  expect(trial.ended).toBe("stopped");
  expect(trial.error).toBeNull();
  expect(trial.running).toBe(false);
});

test("a download that was started elsewhere is shown while the page is open", async () => {
  vi.useFakeTimers();
  let pulls: object[] = [];
  const state = new ModelsState(
    http((path) =>
      path.startsWith("/api/weights")
        ? { weights: [], catalog: [], pulls }
        : { active: 0, tokens: [], embedded: {}, providers: [] },
    ),
  );
  const unfollow = state.follow();
  await vi.advanceTimersByTimeAsync(10);
  expect(state.weights.pulls).toEqual([]);
  pulls = [{ name: "small", step: "fetching", fetched: 1, total: 2 }];
  await vi.advanceTimersByTimeAsync(1_100);
  expect(state.weights.pulls).toEqual(pulls);
  unfollow();
  vi.useRealTimers();
});
