// Apps beside the chat: addresses, launches, and what they did as lines of the chat.
import {
  Apps,
  Http,
  type AppEntry,
  type AppFrame,
  type AppEvent,
} from "@gangway/client";
import { beforeEach, expect, test } from "vitest";
import { launchedIn } from "../src/apps/address.js";
import { isAppEntry, isSilent, lineOf, outcomesIn } from "../src/apps/lines.js";
import { tell } from "../src/applets/words.js";
import { AppsState } from "../src/apps/apps.svelte.js";
import { LaunchState } from "../src/apps/launch.svelte.js";

type Answer = (method: string, path: string, body: unknown) => unknown;

/** A server of one function. */
function apps(answer: Answer): Apps {
  return new Apps(
    new Http({
      fetch: async (input, init = {}) => {
        const body: unknown = init.body
          ? JSON.parse(init.body as string)
          : undefined;
        const { method = "GET" } = init;
        const result = await answer(method, input as string, body);
        return result instanceof Response ? result : Response.json(result);
      },
    }),
  );
}

const AT = "2026-01-02T03:04:05Z";
const LAUNCH = `l-${"0a".repeat(16)}`;

function entry(seq: number, news: AppEvent): AppEntry {
  const about = { seq, at: AT, launchId: LAUNCH, app: "golf" };
  return { role: "app", streamId: "", hidden: false, ...about, news };
}

const request: AppEvent = {
  what: "request",
  requestId: "r",
  action: "save-file",
  params: { filename: "x" },
};
const answer: AppEvent = {
  what: "answer",
  requestId: "r",
  result: null,
  code: null,
  error: null,
  by: "demo",
};
const said: AppEvent = {
  what: "event",
  id: "e",
  event: "game-over",
  payload: { won: true },
  declared: true,
  turn: false,
};

beforeEach(() => history.replaceState(null, "", "/"));

test("an address names an app, and a launch if it is one", () => {
  expect(launchedIn("?app=card-game")).toEqual({
    app: "card-game",
    launch: null,
  });
  expect(launchedIn(`?app=a&launch=${LAUNCH}`)?.launch).toBe(LAUNCH);
  for (const bad of ["", "?app=", "?app=A", "?app=../x", "?app=a-", "?x=a"]) {
    expect(launchedIn(bad)).toBeNull();
  }
  expect(launchedIn("?app=a&launch=../../x")?.launch).toBeNull();
});

test("a new launch is made once in its session, and loaded again under a fresh address", async () => {
  const asked: unknown[] = [];
  const state = new LaunchState(
    apps((method, path, body) => {
      asked.push([method, path, body]);
      return path.endsWith("/launch")
        ? { launchId: LAUNCH, url: "http://a.localhost/1", warnings: ["w"] }
        : { url: "http://a.localhost/2" };
    }),
  );
  state.point({ app: "a", launch: null });
  await state.show("s1");
  expect([state.id, state.url, state.warnings]).toEqual([
    LAUNCH,
    "http://a.localhost/1",
    ["w"],
  ]);
  await state.show("s1");
  expect(state.url).toBe("http://a.localhost/2");
  expect(state.loads).toBe(2);
  expect(asked).toEqual([
    ["POST", "/api/apps/a/launch", { session: "s1" }],
    ["POST", `/api/launches/${LAUNCH}/open`, {}],
  ]);
});

test("a launch that is refused says why, and another app begins clean", async () => {
  const refused = { error_code: "not_launchable", message: "It is not." };
  const state = new LaunchState(
    apps(() => Response.json(refused, { status: 403 })),
  );
  state.point({ app: "a", launch: null });
  await state.show("s1");
  expect([state.url, state.error?.message]).toEqual([null, "It is not."]);
  state.point({ app: "b", launch: null });
  expect(state.error).toBeNull();
});

test("an answer for an app that was left is no matter", async () => {
  let answer: (value: unknown) => void = () => undefined;
  const state = new LaunchState(
    apps(() => new Promise((resolve) => (answer = resolve))),
  );
  state.point({ app: "a", launch: null });
  const shown = state.show("s1");
  state.point({ app: "b", launch: null });
  answer({ launchId: LAUNCH, url: "http://a.localhost/", warnings: [] });
  await shown;
  expect([state.app, state.id, state.url]).toEqual(["b", null, null]);
});

test("the page's address brings its launch back", () => {
  history.replaceState(null, "", `/?app=golf&launch=${LAUNCH}`);
  const state = new LaunchState(apps(() => ({})));
  expect([state.app, state.id]).toEqual(["golf", LAUNCH]);
});

test("an app is called by its title, or by its name", async () => {
  const listed = [
    { name: "golf", title: "Golf" },
    { name: "b", title: " " },
  ];
  const state = new AppsState(apps(() => ({ apps: listed })));
  expect(state.titleOf("golf")).toBe("golf");
  await state.load();
  expect(["golf", "b", "c"].map((name) => state.titleOf(name))).toEqual([
    "Golf",
    "b",
    "c",
  ]);
});

test("a request says what became of it", () => {
  const asked = entry(1, request);
  const words = (...news: AppEvent[]) => {
    const entries = [asked, ...news.map((each, at) => entry(at + 2, each))];
    return lineOf(asked, "Golf", outcomesIn(entries));
  };
  expect(words()?.words).toBe("Golf requested save-file");
  expect(words(answer)?.words).toBe("Golf requested and got save-file");
  expect(words({ ...answer, code: "E-AGT-004", error: "No." })).toMatchObject({
    words: "Golf requested and was denied save-file",
    refused: true,
  });
  expect(words({ ...answer, requestId: "other" })?.refused).toBe(false);
});

test("an event shows its receiver, once it was acknowledged", () => {
  const event = entry(1, said);
  const line = (...news: AppEvent[]) => {
    const entries = [event, ...news.map((each, at) => entry(at + 2, each))];
    return lineOf(event, "Golf", outcomesIn(entries));
  };
  expect(line()?.taker).toBeUndefined();
  expect(line({ what: "taken", id: "e", by: "tester" })).toMatchObject({
    words: "Golf sent game-over",
    taker: "tester",
  });
  expect(line({ what: "taken", id: "f", by: "tester" })?.taker).toBeUndefined();
  const silent = [said, request, answer, { what: "taken", id: "e", by: "x" }];
  expect(silent.map((news) => isSilent(entry(1, news as AppEvent)))).toEqual([
    ...[false, false, true, true],
  ]);
  expect(isSilent({ role: "user" })).toBe(false);
});

test("lines describe events, and an answer has no line of its own", () => {
  const words = (news: AppEvent) =>
    lineOf(entry(1, news), "Golf", outcomesIn([]))?.words;
  expect(words({ what: "launched", agent: "demo" })).toBe("demo launched Golf");
  expect(words(said)).toBe("Golf sent game-over");
  const source = { kind: "person" } as const;
  expect(words({ what: "told", event: "hint", payload: 1, source })).toBe(
    "The agent sent hint to Golf",
  );
  expect(words(answer)).toBeUndefined();
  const notify = { ...request, action: "notify" };
  expect(words({ ...notify, params: { message: "Your move." } })).toBe(
    "Golf: Your move.",
  );
  expect(words({ ...notify, params: null })).toBe("Golf requested notify");
  expect(isAppEntry(entry(1, said))).toBe(true);
  expect(isAppEntry({ role: "user" })).toBe(false);
});

test("the log shows everything, including events of a newer server", () => {
  const frame = (news: AppEvent): AppFrame => {
    const { role: _, ...rest } = entry(1, news);
    return { type: "app", ...rest };
  };
  const told = (news: AppEvent) => tell(frame(news), () => "Golf");
  expect(told(said)).toMatchObject({ what: "Golf sent game-over" });
  expect(told({ ...said, declared: false }).what).toMatch(/not declared/);
  expect(told(request).what).toBe("Golf requested save-file");
  expect(told({ what: "taken", id: "e", by: "demo" }).value).toBe("e");
  expect(told({ what: "launched", agent: "demo" }).value).toBeUndefined();
  const newer = { type: "later", seq: 1, at: AT } as unknown as AppFrame;
  expect(tell(newer, String).what).toBe("Event later");
});
