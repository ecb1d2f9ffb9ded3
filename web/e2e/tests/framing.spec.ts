// P23: what an agent says reaches a browser's own EventSource byte for byte.
import { expect, test } from "../fixtures.js";
import { always } from "../scripts.js";

const PIECES = [
  "a\rb\nc\r\nd",
  "data: not a field\n\nid: 7\nevent: done\n\n",
  "\u2028 and \u2029 and \u0085",
  "nul \u0000 bell \u0007 escape \u001b",
  "emoji 🛳️ and \uFEFF and \uFFFD",
  ": a comment?\nretry: 1\n",
  "x".repeat(1_000_000),
];

test.use({
  settings: {
    // An EventSource cannot show a key.
    authentication: "open-to-this-machine",
    defaultAgent: "odd",
    scripts: { odd: always(...PIECES.map((delta) => ({ delta }))) },
  },
});

test("every character survives the way through EventSource", async ({
  page,
  server,
}) => {
  await page.goto(server.url);
  const got = await page.evaluate(async () => {
    const post = async (path: string, body: object) => {
      const headers = { "Content-Type": "application/json" };
      const init = { method: "POST", headers, body: JSON.stringify(body) };
      return (await fetch(path, init)).json() as Promise<
        Record<string, string>
      >;
    };
    const { sessionId } = await post("/api/sessions", {});
    const { streamId } = await post(`/api/sessions/${sessionId}/messages`, {
      prompt: "go",
    });
    const deltas: string[] = [];
    let whole = "";
    await new Promise<void>((resolve, reject) => {
      const source = new EventSource(`/api/stream/${streamId}`);
      const on = (name: string, hear: (data: Record<string, string>) => void) =>
        source.addEventListener(name, (event: MessageEvent<string>) =>
          hear(JSON.parse(event.data) as Record<string, string>),
        );
      on("assistant.message_delta", (data) => deltas.push(data["delta"] ?? ""));
      on("assistant.message", (data) => (whole = data["content"] ?? ""));
      on("done", () => {
        source.close();
        resolve();
      });
      source.onerror = () => reject(new Error("the stream broke"));
    });
    return { deltas, whole };
  });
  expect(got.deltas).toEqual(PIECES);
  expect(got.whole).toBe(PIECES.join(""));
});
