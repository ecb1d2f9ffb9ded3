// Loads launched pages in Chromium and tells how long our script took: node inject.mjs PLAYWRIGHT-CORE '{…}'
//
// The page comes from the real server and is loaded under its real address. On the way a mark is put before our script
// and one after it, and headers that give scripts a fine clock. Every load is in a browser profile of its own, so that
// no script was ever compiled before.
import http from "node:http";
import { pathToFileURL } from "node:url";

const [playwright, told] = process.argv.slice(2);
const { chromium } = await import(pathToFileURL(`${playwright}/index.mjs`).href);
const { loads, chromium: executablePath, small, large } = JSON.parse(told);

/** Names below localhost are for browsers alone. */
function fetched({ url, cookie }) {
  const { host, port, pathname, search } = new URL(url);
  const headers = { host, cookie, accept: "text/html" };
  const path = pathname + search;
  return new Promise((resolve, reject) => {
    http
      .get({ host: "127.0.0.1", port, path, headers }, (answer) => {
        let text = "";
        answer.setEncoding("utf8");
        answer.on("data", (piece) => (text += piece));
        answer.on("end", () => resolve(text));
      })
      .on("error", reject);
  });
}

/** The page with marks around its first script, which is ours. */
function marked(page, { empty }) {
  const from = page.indexOf("<script nonce=");
  const to = page.indexOf("</script>", from) + "</script>".length;
  if (from < 0 || !page.slice(from, to).includes("launchId")) {
    throw new Error("the page has no script of ours");
  }
  const first = "let at = performance.now(); void __AGENT_CONTEXT__.data.expenses.length; window.first = performance.now() - at";
  return [
    page.slice(0, from),
    "<script>window.before = performance.now()</script>",
    empty ? "<script></script>" : page.slice(from, to),
    "<script>window.after = performance.now()</script>",
    empty ? "" : `<script>{ ${first} }</script>`,
    page.slice(to),
  ].join("");
}

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-embedder-policy": "require-corp",
};

async function load(browser, { url }, page) {
  const context = await browser.newContext();
  const tab = await context.newPage();
  const session = await context.newCDPSession(tab);
  await session.send("Fetch.enable", {
    patterns: [{ urlPattern: "*launch=*", resourceType: "Document" }],
  });
  session.on("Fetch.requestPaused", ({ requestId }) => {
    const responseHeaders = Object.entries(HEADERS).map(([name, value]) => ({ name, value }));
    const body = Buffer.from(page).toString("base64");
    void session.send("Fetch.fulfillRequest", { requestId, responseCode: 200, responseHeaders, body });
  });
  await tab.goto(url);
  const seen = await tab.evaluate(() => ({
    isolated: crossOriginIsolated,
    context: typeof __AGENT_CONTEXT__,
    time: window.after - window.before,
    first: window.first,
  }));
  await context.close();
  if (!seen.isolated) throw new Error("the clock is not fine");
  return seen;
}

const pages = {
  empty: [small, marked(await fetched(small), { empty: true })],
  small: [small, marked(await fetched(small), { empty: false })],
  large: [large, marked(await fetched(large), { empty: false })],
};
const times = { empty: [], small: [], large: [], first: [] };
const browser = await chromium.launch({ executablePath });
try {
  // The first load of all also starts parts of the browser.
  for (let nth = -1; nth < loads; nth += 1) {
    for (const [name, [launched, page]] of Object.entries(pages)) {
      const seen = await load(browser, launched, page);
      if ((seen.context === "object") !== (name !== "empty")) {
        throw new Error(`the page ${name} has a context of the kind ${seen.context}`);
      }
      if (nth < 0) continue;
      times[name].push(seen.time);
      if (name === "large") times.first.push(seen.first);
    }
  }
} finally {
  await browser.close();
}
console.log(JSON.stringify(times));
