// embed.js in a page, and the test in place of the chat in its frame.
import { JSDOM, type DOMWindow } from "jsdom";
import { Script } from "node:vm";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { bundle } from "../scripts.js";
import type { Embed, EmbedOptions } from "../src/embed/embed.js";

let code: string;
let window: DOMWindow & {
  Gangway: { embed: (options: EmbedOptions) => Embed; other?: number };
};
let posted: [unknown, string][];

const URL_OF = "https://agents.example/embed/a1?token=T";

beforeAll(async () => {
  ({ code } = await bundle("embed.js"));
});

beforeEach(() => {
  const dom = new JSDOM("<div id=here></div><div id=there></div>", {
    url: "https://shop.example/page",
    runScripts: "outside-only",
  });
  window = dom.window as never;
  window.eval("window.Gangway = { other: 1 }");
  window.eval(code);
  posted = [];
});

/** Creates an embed whose frame records its messages. */
function embed(options: Partial<EmbedOptions> = {}): Embed {
  const made = window.Gangway.embed({ url: URL_OF, ...options });
  const frame = made.element.contentWindow;
  if (frame)
    frame.postMessage = (...said: unknown[]) => posted.push(said as never);
  return made;
}

function say(
  made: Embed,
  data: unknown,
  {
    origin = "https://agents.example",
    source = made.element.contentWindow,
  } = {},
): void {
  const init = { data, origin, source };
  window.dispatchEvent(new window.MessageEvent("message", init));
}

const ready = { source: "gangway", type: "ready" };

test("embed.js is one classic script of less than 2 kB gzipped, beside what is there", async () => {
  expect(() => new Script(code)).not.toThrow();
  const stream = new Blob([code])
    .stream()
    .pipeThrough(new CompressionStream("gzip"));
  const zipped = await new Response(stream).arrayBuffer();
  expect(zipped.byteLength).toBeLessThan(2_000);
  expect(window.Gangway.other).toBe(1);
});

test("the frame has the wishes and the origin of the page in its address", () => {
  const made = embed({
    container: "#here",
    theme: "dark",
    accent: "#a0f",
    font: "Inter",
    features: { file_upload: true, voice_mic: false },
  });
  const url = new URL(made.element.src);
  expect(Object.fromEntries(url.searchParams)).toEqual({
    token: "T",
    theme: "dark",
    accent: "#a0f",
    font: "Inter",
    file_upload: "1",
    voice_mic: "0",
    parent: "https://shop.example",
  });
  expect(made.element.parentElement?.id).toBe("here");
  expect(made.element.title).toBe("Chat");
  expect(made.element.allow).toContain("microphone");
  expect(made.element.referrerPolicy).toBe("no-referrer");
});

test("without a container it floats, and loads when it is opened first", () => {
  const made = embed();
  expect(made.element.isConnected).toBe(false);
  made.open();
  expect(made.element.parentElement).toBe(window.document.body);
  expect(made.element.style.position).toBe("fixed");
  expect(made.element.style.display).toBe("");
  made.close();
  expect(made.element.style.display).toBe("none");
  expect(made.element.isConnected).toBe(true);
});

test("messages before the chat is ready are sent then, in order, only to its origin", () => {
  const made = embed({ container: "#here" });
  made.send("one");
  made.style({ accent: "red" });
  expect(posted).toEqual([]);
  say(made, ready);
  made.send("two");
  expect(posted).toEqual([
    [
      { target: "gangway", type: "send", text: "one" },
      "https://agents.example",
    ],
    [
      { target: "gangway", type: "style", variables: { accent: "red" } },
      "https://agents.example",
    ],
    [
      { target: "gangway", type: "send", text: "two" },
      "https://agents.example",
    ],
  ]);
});

test("events come from the frame and its origin, until unsubscribed", () => {
  const made = embed({ container: "#here" });
  const other = embed({ container: "#there" });
  const received: unknown[] = [];
  const off = made.on("state", (event) => received.push(event.state));
  const state = { source: "gangway", type: "state", state: "idle" };
  say(made, state, { origin: "https://evil.example" });
  say(made, state, { source: other.element.contentWindow });
  say(made, state, { source: null });
  say(made, { ...state, source: "other" });
  say(made, "gangway");
  say(made, null);
  expect(received).toEqual([]);
  say(made, state);
  expect(received).toEqual(["idle"]);
  off();
  say(made, state);
  expect(received).toEqual(["idle"]);
});

test("a ready from elsewhere lets nothing out", () => {
  const made = embed({ container: "#here" });
  made.send("secret");
  say(made, ready, { origin: "https://evil.example" });
  expect(posted).toEqual([]);
});

test("the frame grows with what is in it only where that is wished", () => {
  const resize = { source: "gangway", type: "resize", height: 321 };
  const still = embed({ container: "#there" });
  say(still, resize);
  expect(still.element.style.height).toBe("100%");
  const grows = embed({ container: "#here", autoHeight: true });
  say(grows, { ...resize, height: "1px;color:red" });
  expect(grows.element.style.height).toBe("100%");
  say(grows, resize);
  expect(grows.element.style.height).toBe("321px");
});

test("an address that is none, and a container that is not there, are refused", () => {
  expect(() => embed({ url: "javascript:alert(1)" })).toThrow(
    "not a valid http or https URL",
  );
  expect(() => embed({ container: "#nowhere" })).toThrow("matches no element");
});

test("a removed chat sends no more events", () => {
  const made = embed({ container: "#here" });
  const received: unknown[] = [];
  made.on("ready", () => received.push("ready"));
  const source = made.element.contentWindow;
  made.remove();
  say(made, ready, { source });
  expect(received).toEqual([]);
  made.open();
  expect(made.element.isConnected).toBe(false);
});
