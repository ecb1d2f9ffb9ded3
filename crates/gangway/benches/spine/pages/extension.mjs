// Has a page use Gangway through the extension, in Chromium and in Firefox: node extension.mjs WEB '{…}'
//
// Nothing of Gangway's is in the page itself: a call goes by way of the content script, the background, the bridge and the
// server to a tool, and back. Between the calls a bare WebSocket sends the same words back.
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";

const [web, told] = process.argv.slice(2);
const { chromium, firefox, binary, data, gangway, token, echo, calls } = JSON.parse(told);
const run = promisify(execFile);
const load = (path) => import(pathToFileURL(join(web, "node_modules", path)).href);

const TOOL = "echo/echo";

/** The page, on a port and so on an origin of its own, with headers that give scripts a fine clock. */
const site = http.createServer((_, answer) => {
  answer.writeHead(200, {
    "content-type": "text/html; charset=utf-8",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
  });
  answer.end("<!doctype html><title>A page</title>");
});
await new Promise((resolve) => site.listen(0, "127.0.0.1", resolve));
const origin = `http://127.0.0.1:${site.address().port}`;

const granted = await fetch(`${gangway}/api/permissions`, {
  method: "PATCH",
  headers: { "content-type": "application/json", authorization: `Bearer ${token}` },
  body: JSON.stringify({ origin, scopes: { "mcp:tools.call": "granted-always" }, allowedTools: [TOOL] }),
});
if (!granted.ok) throw new Error(`nothing is granted: ${await granted.text()}`);

/** Runs in the page: calls and echoes in turn, the milliseconds of each. */
async function measure({ tool, echo, calls }) {
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
  // The first ones also start the bridge.
  for (let nth = -20; nth < calls; nth += 1) {
    const text = `hello ${nth}`;
    let begin = performance.now();
    const said = await window.agent.tools.call({ tool, args: { text } });
    const called = performance.now() - begin;
    if (!JSON.stringify(said).includes(text)) throw new Error(`it said ${JSON.stringify(said)}`);
    begin = performance.now();
    if ((await echoed(text)) !== text) throw new Error("the echo is wrong");
    const echoing = performance.now() - begin;
    if (nth >= 0) {
      times.calls.push(called);
      times.echoes.push(echoing);
    }
    // So that no limit of the server's is what is measured.
    await pause(10);
  }
  return times;
}

const wish = { tool: TOOL, echo, calls };
const folder = (browser) => join(web, "extension", "dist", browser);
const introduce = (browser, dir) =>
  run(binary, ["bridge", "install", "--data", data, "--browser", browser, "--dir", dir]);

async function inChromium() {
  const { chromium: driver } = await load("playwright-core/index.mjs");
  const profile = await mkdtemp(join(tmpdir(), "gangway-bench-"));
  await introduce("chromium", join(profile, "NativeMessagingHosts"));
  const extension = folder("chromium");
  const context = await driver.launchPersistentContext(profile, {
    executablePath: chromium,
    args: [`--disable-extensions-except=${extension}`, `--load-extension=${extension}`],
  });
  try {
    const page = await context.newPage();
    await page.goto(origin);
    return await page.evaluate(measure, wish);
  } finally {
    await context.close();
    await rm(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function inFirefox() {
  if (!firefox || !existsSync(firefox)) return null;
  const { launch } = await load("puppeteer-core/lib/esm/puppeteer/puppeteer-core.js");
  const home = await mkdtemp(join(tmpdir(), "gangway-bench-"));
  await introduce("firefox", join(home, ".mozilla", "native-messaging-hosts"));
  const browser = await launch({
    browser: "firefox",
    executablePath: firefox,
    headless: true,
    // A long run of calls is one command to the browser.
    protocolTimeout: 600_000,
    env: { ...process.env, HOME: home },
  });
  try {
    await browser.installExtension(folder("firefox"));
    const page = await browser.newPage();
    await page.goto(origin);
    return await page.evaluate(measure, wish);
  } finally {
    await browser.close();
    await rm(home, { recursive: true, force: true, maxRetries: 5 });
  }
}

const seen = { chromium: await inChromium(), firefox: await inFirefox() };
site.close();
console.log(JSON.stringify(seen));
