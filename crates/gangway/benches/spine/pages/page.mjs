// Opens a page of another origin in Chromium and has it use Gangway: node page.mjs PLAYWRIGHT-CORE '{…}'
//
// The page loads Gangway's script as any page does, so that all of the way is there: the script, its frame, the socket,
// the server. Its headers give scripts a fine clock.
import { execFile } from "node:child_process";
import http from "node:http";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const [playwright, told] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(`${playwright}/index.mjs`).href);
const { chromium: executablePath, gangway, token, model, echo, tokens, calls, answers } = JSON.parse(told);

const TOOL = "echo/echo";

/** The page, on a port and so on an origin of its own. */
const site = http.createServer((_, answer) => {
  answer.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
  });
  answer.end(`<!doctype html><title>A page</title><script src="${gangway}/gangway.js"></script>`);
});
await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${site.address().port}`;

const scopes = { "mcp:tools.call": "granted-always", "model:prompt": "granted-always" };
const granted = await fetch(`${gangway}/api/permissions`, {
  method: "PATCH",
  headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
  body: JSON.stringify({ origin, scopes, allowedTools: [TOOL] }),
});
if (!granted.ok) throw new Error(`nothing is granted: ${await granted.text()}`);

/** Runs in the page: calls and echoes in turn, the milliseconds of each. */
async function call({ tool, echo, calls }) {
  if (!crossOriginIsolated) throw new Error("the clock is not fine");
  const socket = new WebSocket(echo);
  await new Promise((resolve, reject) => {
    socket.onopen = resolve;
    socket.onerror = () => reject(new Error("no echo"));
  });
  const echoed = (text) =>
    new Promise((resolve) => {
      socket.onmessage = ({ data }) => resolve(data);
      socket.send(text);
    });
  const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
  const times = { calls: [], echoes: [] };
  // The first ones also connect.
  for (let nth = -20; nth < calls; nth += 1) {
    const text = `hello ${nth}`;
    let begin = performance.now();
    const said = await agent.tools.call({ tool, args: { text } });
    const called = performance.now() - begin;
    if (!JSON.stringify(said).includes(text)) throw new Error(`it said ${JSON.stringify(said)}`);
    begin = performance.now();
    if ((await echoed(text)) !== text) throw new Error("the echo is wrong");
    const echoing = performance.now() - begin;
    if (nth >= 0) {
      times.calls.push(called);
      times.echoes.push(echoing);
    }
    // Below the pace at which a page is held back.
    await pause(8);
  }
  socket.close();
  return times;
}

/** Runs in the page: one answer; tokens a second from the question to the last token. */
async function stream(tokens) {
  const session = await ai.createTextSession();
  const begin = performance.now();
  let end = begin;
  let text = "";
  for await (const { type, token } of session.promptStreaming("hello")) {
    if (type !== "token") continue;
    text += token;
    end = performance.now();
  }
  await session.destroy();
  const came = text.split("@").length >> 1;
  if (came !== tokens) throw new Error(`${came} of ${tokens} tokens came`);
  return (tokens / (end - begin)) * 1000;
}

/** The same by curl, from the model itself. */
async function read() {
  const messages = [{ role: "user", content: "hello" }];
  const wish = JSON.stringify({ model: "fake", messages, stream: true });
  const { stdout } = await promisify(execFile)(
    "curl",
    ["--silent", "--show-error", "--no-buffer", "--json", wish, "--write-out", "\n%{time_total}", model],
    { maxBuffer: 64 << 20 },
  );
  const came = stdout.split('"content":"@').length - 1;
  if (came !== tokens) throw new Error(`${came} of ${tokens} tokens came`);
  return tokens / Number(stdout.slice(stdout.lastIndexOf("\n")));
}

const browser = await chromium.launch({ executablePath });
try {
  const page = await browser.newPage();
  await page.goto(origin);
  const seen = await page.evaluate(call, { tool: TOOL, echo, calls });
  seen.streamed = [];
  seen.read = [];
  // One answer passes unmeasured: it connects to the model, which later ones need not.
  await page.evaluate(stream, tokens);
  for (let nth = 0; nth < answers; nth += 1) {
    seen.read.push(await read());
    seen.streamed.push(await page.evaluate(stream, tokens));
  }
  console.log(JSON.stringify(seen));
} finally {
  await browser.close();
  site.close();
}
