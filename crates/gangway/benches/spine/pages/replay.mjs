// Opens the replay of long sessions in Chromium, scrolls and steps: node replay.mjs PLAYWRIGHT-CORE '{…}'
import { pathToFileURL } from "node:url";

const [playwright, told] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(`${playwright}/index.mjs`).href);
const { chromium: executablePath, gangway, token, sessions, opens } = JSON.parse(told);

const headers = { "content-type": "application/json", authorization: `Bearer ${token}` };
const ask = async (path, body) => {
  const post = body && { method: "POST", body: JSON.stringify(body) };
  const answer = await fetch(gangway + path, { headers, ...post });
  if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  return answer;
};

/** Fills a session with at least so many events, a few hundred for each message. */
async function filled(events) {
  const { sessionId } = await (await ask("/api/sessions", {})).json();
  for (let there = 0; there < events; ) {
    const { streamId } = await (
      await ask(`/api/sessions/${sessionId}/messages`, { prompt: "Go on" })
    ).json();
    // Read to its end, so that the turn is over.
    const told = await (await ask(`/api/stream/${streamId}`)).text();
    there = Math.max(...[...told.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id)));
  }
  return sessionId;
}

/** Runs in the page before anything else: when the first step is there to see, and the longest task. */
function watch() {
  window.seen = { first: null, longest: 0 };
  new PerformanceObserver((list) => {
    for (const { duration } of list.getEntries()) {
      window.seen.longest = Math.max(window.seen.longest, duration);
    }
  }).observe({ type: "longtask", buffered: true });
  const look = () => {
    if (document.querySelector("[role=option]")) {
      // What is in the page now is painted by the frame after this one.
      requestAnimationFrame(() => (window.seen.first ??= performance.now()));
    } else requestAnimationFrame(look);
  };
  requestAnimationFrame(look);
}

/** Opens a replay, waits until it has all of its events, scrolls through it and steps. */
async function open(session) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 } });
  await context.addInitScript((token) => {
    if (token) localStorage.setItem("gangway.login", token);
  }, token);
  await context.addInitScript(watch);
  const page = await context.newPage();
  await page.goto(`${gangway}/replay/${session}`);
  // It can be exported once it has all of it.
  await page.locator("button:enabled", { hasText: "Export" }).waitFor({ timeout: 120_000 });
  const loaded = await page.evaluate(() => performance.now());
  const opening = await page.evaluate(() => {
    const { seen } = window;
    const opening = { ...seen };
    seen.longest = 0;
    return opening;
  });
  const frames = await page.evaluate(scroll);
  const scrolling = await page.evaluate(() => window.seen.longest);
  await page.evaluate(() => (window.seen.longest = 0));
  for (const key of ["End", "ArrowLeft", "Home", "ArrowRight", "End", "ArrowLeft"]) {
    await page.keyboard.press(key);
    await page.waitForTimeout(50);
  }
  const stepping = await page.evaluate(() => window.seen.longest);
  await context.close();
  return { first: opening.first, loaded, opening: opening.longest, scrolling, stepping, frames };
}

/** Runs in the page: scrolls through all of it in a hundred frames; the milliseconds of each. */
async function scroll() {
  const list = document.querySelector("[role=listbox]");
  const frame = () => new Promise((resolve) => requestAnimationFrame(resolve));
  const times = [];
  let last = await frame();
  for (let nth = 0; nth <= 100; nth += 1) {
    list.scrollTop = (list.scrollHeight * nth) / 100;
    const now = await frame();
    times.push(now - last);
    last = now;
  }
  return times;
}

const browser = await chromium.launch({ executablePath });
try {
  const seen = [];
  for (const events of sessions) {
    const session = await filled(events);
    // The first one also reads the scripts of the page.
    await open(session);
    for (let nth = 0; nth < opens; nth += 1) seen.push({ events, ...(await open(session)) });
  }
  console.log(JSON.stringify(seen));
} finally {
  await browser.close();
}
