// Applets beside the chat: who may speak, how wide they are, which link opens them.
import {
  Applets,
  Http,
  type EventFrame,
  type FeedFrame,
  type AppletConsent,
} from "@gangway/client";
import { beforeEach, expect, test, vi } from "vitest";
import { boundsOf, moved, within } from "../src/applets/share.js";
import { appletIn, appletOfLink, slugOf } from "../src/applets/slug.js";
import { tell } from "../src/applets/words.js";
import { drawBlock, options } from "@gangway/kit/markdown/render.js";
import { GalleryState } from "../src/applets/gallery.svelte.js";
import { SpeakersState } from "../src/applets/speakers.svelte.js";
import { SplitState } from "../src/applets/split.svelte.js";
import { Lexer } from "marked";

type Answer = (method: string, path: string, body: unknown) => unknown;

/** A server of one function. */
function applets(answer: Answer): Applets {
  return new Applets(
    new Http({
      fetch: async (input, init = {}) => {
        const body: unknown = init.body
          ? JSON.parse(init.body as string)
          : undefined;
        const result = await answer(
          init.method ?? "GET",
          input as string,
          body,
        );
        return result instanceof Response ? result : Response.json(result);
      },
    }),
  );
}

const AT = "2026-01-02T03:04:05Z";

function asks(applet: string): FeedFrame {
  return { type: "applet.asks", seq: 1, at: AT, applet, prompt: "Hm?" };
}

function speaker(
  slug: string,
  fields: Partial<AppletConsent> = {},
): AppletConsent {
  return { slug, name: slug.toUpperCase(), speak: "ask", ...fields };
}

beforeEach(() => localStorage.clear());

test("a burst of frames makes one request, and one more for what came meanwhile", async () => {
  let requests = 0;
  const open: (() => void)[] = [];
  const speakers = new SpeakersState(
    applets(async () => {
      requests += 1;
      await new Promise<void>((resolve) => open.push(resolve));
      return { applets: [speaker(`a${requests}`)] };
    }),
  );
  speakers.of("s1");
  for (let i = 0; i < 5; i += 1) speakers.received(asks("a"));
  expect(requests).toBe(1);
  open.shift()?.();
  await vi.waitFor(() => expect(requests).toBe(2));
  open.shift()?.();
  await vi.waitFor(() => expect(speakers.all[0]?.slug).toBe("a2"));
  expect(requests).toBe(2);
});

test("only frames that change who may speak are asked about", async () => {
  let requests = 0;
  const speakers = new SpeakersState(
    applets(() => {
      requests += 1;
      return { applets: [speaker("notes")] };
    }),
  );
  speakers.of("s1");
  await speakers.load();
  const state = {
    type: "applet.state",
    seq: 2,
    at: AT,
    version: 1,
    patch: {},
    source: { kind: "person" },
  } as const;
  speakers.received({ ...state, applet: "notes" });
  speakers.received({
    type: "done",
    seq: 3,
    at: AT,
    streamId: "t",
    outcome: "completed",
    usage: null,
    idle: true,
  });
  expect(requests).toBe(1);
  speakers.received({ ...state, applet: "board" });
  expect(requests).toBe(2);
});

test("a decision is sent once, and a list that is older than it changes nothing", async () => {
  const sent: unknown[] = [];
  const reading: ((value: unknown) => void)[] = [];
  const speakers = new SpeakersState(
    applets((method, path, body) => {
      if (method === "GET") return new Promise((r) => reading.push(r));
      sent.push([path, body]);
      return { applets: [speaker("notes", { speak: "allowed" })] };
    }),
  );
  speakers.of("s 1");
  const read = speakers.load();
  const decided = speakers.decide("notes", "allow");
  expect(await speakers.decide("notes", "deny")).toBe(false);
  expect(await decided).toBe(true);
  reading[0]?.({ applets: [speaker("notes")] });
  await read;
  expect(sent).toEqual([
    ["/api/sessions/s%201/applets/notes", { speak: "allow" }],
  ]);
  expect(speakers.all[0]?.speak).toBe("allowed");
});

test("a decision that did not arrive says why and can be made again", async () => {
  const body = { error_code: "gone", message: "Too late.", retryable: false };
  const answers: unknown[] = [
    Response.json(body, { status: 404 }),
    { applets: [] },
  ];
  const speakers = new SpeakersState(applets(() => answers.shift()));
  speakers.of("s1");
  expect(await speakers.decide("notes", "once")).toBe(false);
  expect(speakers.problem?.message).toBe("Too late.");
  expect(await speakers.decide("notes", "once")).toBe(true);
  expect(speakers.problem).toBeNull();
});

test("an applet without a name is called by its slug", async () => {
  const listed = [
    { slug: "calc", name: "Calculator", origin: "builtin" },
    { slug: "blank", name: "  ", origin: "data" },
  ];
  const gallery = new GalleryState(applets(() => ({ applets: listed })));
  expect(gallery.nameOf("calc")).toBe("calc");
  await gallery.load();
  expect(["calc", "blank", "gone"].map((slug) => gallery.nameOf(slug))).toEqual(
    ["Calculator", "blank", "gone"],
  );
});

test("both sides keep enough room, and half where there is none", () => {
  expect(boundsOf(1000)).toEqual({ least: 30, most: 70 });
  expect(boundsOf(400)).toEqual({ least: 50, most: 50 });
  expect(within(10, boundsOf(1000))).toBe(30);
  expect(within(90, boundsOf(1000))).toBe(70);
});

test.each([
  ["ArrowRight", false, 42],
  ["ArrowLeft", false, 38],
  ["ArrowRight", true, 50],
  ["ArrowLeft", true, 30],
  ["Home", false, 30],
  ["End", false, 70],
  ["Enter", false, 50],
  ["Escape", false, null],
])("%s (Shift: %s) moves the divider from 40 to %s", (key, shiftKey, to) => {
  expect(moved(40, { key, shiftKey }, boundsOf(1000))).toBe(to);
});

test("the width is remembered, and nonsense is not", () => {
  const split = new SplitState();
  split.set(63.21);
  split.keep();
  expect(new SplitState().share).toBe(63.2);
  for (const bad of ["x", "-4", "140", "NaN"]) {
    localStorage.setItem("gangway.split", bad);
    expect(new SplitState().share).toBe(50);
  }
});

test("only names that applets can have are names", () => {
  for (const good of ["a", "csv-explorer", "x1", "a".repeat(64)]) {
    expect(slugOf(good)).toBe(good);
  }
  for (const bad of ["", "-a", "a-", "A", "a b", "../x", "a".repeat(65)]) {
    expect(slugOf(bad)).toBeNull();
  }
  expect(appletIn("?applet=notes&x=1")).toBe("notes");
  expect(appletIn("?applet=")).toBeNull();
});

test("a link opens an applet only when it is one of this page", () => {
  const here = "http://127.0.0.1:3000";
  const of = (href: string) => appletOfLink(href, here);
  expect(of("/?applet=notes")).toBe("notes");
  expect(of(`${here}/?applet=notes`)).toBe("notes");
  for (const other of [
    "https://example.com/?applet=notes",
    "//example.com/?applet=notes",
    "/sessions/1?applet=notes",
    "/models",
    "/?applet=../x",
    "javascript:alert(1)//?applet=notes",
  ]) {
    expect(of(other)).toBeNull();
  }
});

test("a message can link to an applet, and to nothing else of this page", () => {
  const draw = (text: string) => {
    const element = document.createElement("div");
    const [block] = Lexer.lex(text, options);
    if (!block) throw new Error("There is no block.");
    drawBlock(element, block, true);
    return element.querySelector("a");
  };
  const link = draw("[Notes](/?applet=notes)");
  expect(link?.getAttribute("href")).toBe("/?applet=notes");
  expect(link?.target).toBe("");
  for (const other of ["/api/logout", "/?applet=x&y=1", "/\\evil.example"]) {
    expect(draw(`[x](${other})`)?.getAttribute("href") ?? null).toBeNull();
  }
  expect(draw("[x](https://example.com)")?.target).toBe("_blank");
});

test("the log shows who did what, with display names", () => {
  const nameOf = (slug: string) => slug.toUpperCase();
  const base = { seq: 1, at: AT };
  const message = {
    ...base,
    type: "user.message",
    streamId: "t",
    prompt: "[applet:x] hi",
  } as const;
  const told = (event: EventFrame) => tell(event, nameOf);
  expect(
    told({ ...message, source: { kind: "person" }, showInChat: true }),
  ).toEqual({ what: "You sent a message", text: "[applet:x] hi" });
  expect(
    told({
      ...message,
      source: { kind: "applet", slug: "notes" },
      showInChat: false,
    }).what,
  ).toBe("NOTES sent a background message");
  const state = {
    ...base,
    type: "applet.state",
    applet: "notes",
    version: 3,
    patch: { a: null },
    source: { kind: "agent", name: "ada" },
  } as const;
  expect(told(state)).toMatchObject({
    what: "State of NOTES, version 3, by Agent ada",
    value: { a: null },
  });
});
