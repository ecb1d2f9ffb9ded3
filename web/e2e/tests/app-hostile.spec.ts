// An applet that means harm: it gets no further than its frame.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { openApp } from "../apps.js";
import { expect, test } from "../fixtures.js";

// The policy is meant to complain here; what must not happen is checked by the tests themselves.
test.afterEach(({ complaints, strangers }) => {
  complaints.length = 0;
  strangers.length = 0;
});

const SCRIPT = `
  import "gangway";
  const out = {};
  const tries = {
    parentDom: () => parent.document.body.innerHTML,
    topDom: () => top.document.title,
    frameElement: () => window.frameElement.id,
    parentLocation: () => parent.location.href,
    topNavigate: () => { top.location = "about:blank"; return "asked"; },
    localStorage: () => localStorage.setItem("x", "1"),
    sessionStorage: () => sessionStorage.setItem("x", "1"),
    cookie: () => { document.cookie = "x=1"; return document.cookie; },
    indexedDB: () => new Promise((yes, no) => {
      const asked = indexedDB.open("x");
      asked.onsuccess = () => yes("opened");
      asked.onerror = () => no(asked.error);
    }),
    caches: () => caches.open("x"),
    serviceWorker: () => navigator.serviceWorker.register("/applet.js"),
    fetchApi: () => fetch("/api/sessions").then((r) => r.text()),
    fetchOut: () => fetch(ELSEWHERE + "/fetch"),
    xhr: () => new Promise((yes, no) => {
      const x = new XMLHttpRequest();
      x.open("GET", ELSEWHERE + "/xhr");
      x.onload = () => yes("loaded");
      x.onerror = () => no(new Error("failed"));
      x.send();
    }),
    socket: () => new Promise((yes, no) => {
      const s = new WebSocket(location.origin.replace("http", "ws") + "/ws/applet?session=" + SESSION);
      s.onopen = () => yes("open");
      s.onerror = () => no(new Error("failed"));
    }),
    beacon: () => { navigator.sendBeacon(ELSEWHERE + "/beacon", "x"); throw new Error("see the server"); },
    image: () => new Promise((yes, no) => {
      const i = new Image();
      i.onload = () => yes("loaded");
      i.onerror = () => no(new Error("failed"));
      i.src = ELSEWHERE + "/image.png";
    }),
    script: () => import(ELSEWHERE + "/script.js"),
    style: () => new Promise((yes, no) => {
      const l = document.createElement("link");
      l.rel = "stylesheet";
      l.onload = () => yes("loaded");
      l.onerror = () => no(new Error("failed"));
      l.href = ELSEWHERE + "/style.css";
      document.head.append(l);
    }),
    popup: () => { if (window.open(ELSEWHERE + "/popup") === null) throw new Error("refused"); return "opened"; },
  };
  for (const [name, attempt] of Object.entries(tries)) {
    try {
      out[name] = "did: " + await Promise.race([
        attempt(),
        new Promise((_, no) => setTimeout(() => no(new Error("nothing happened")), 3000)),
      ]);
    } catch (error) {
      out[name] = "failed";
    }
    document.getElementById("out").textContent = JSON.stringify(out);
  }
  // Last, when the test has read the results: a frame whose navigation is refused is gone.
  document.getElementById("out").onclick = () => {
    const form = document.createElement("form");
    form.action = ELSEWHERE + "/form";
    document.body.append(form);
    form.submit();
  };
  document.getElementById("out").dataset.done = "yes";
`;

function hostile(elsewhere: string): Record<string, string> {
  return {
    "meta.json": JSON.stringify({ slug: "hostile", name: "Hostile" }),
    "content.html": '<pre id="out"></pre>',
    "script.js": SCRIPT.replaceAll(
      "ELSEWHERE",
      JSON.stringify(elsewhere),
    ).replace("SESSION", '"x"'),
  };
}

async function listen(): Promise<{
  url: string;
  received: string[];
  stop: () => void;
}> {
  const received: string[] = [];
  const server = createServer((request, response) => {
    received.push(request.url ?? "");
    response.setHeader("access-control-allow-origin", "*");
    response.end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    stop: () => void server.close(),
  };
}

test("it reaches neither the chat, nor storage, nor cookies, nor any network", async ({
  page,
  server,
}) => {
  const elsewhere = await listen();
  await server.writeApplet("hostile", hostile(elsewhere.url));
  await page.goto(server.url);
  await page.evaluate(() => localStorage.setItem("secret", "yes"));
  const { frame } = await openApp(page, server, "hostile");
  const out = frame.locator("#out");
  await expect(out).toHaveAttribute("data-done", "yes", { timeout: 60_000 });
  const said = await out.textContent();
  const results = JSON.parse(said ?? "{}") as Record<string, string>;
  expect(Object.keys(results).length).toBeGreaterThan(17);
  for (const [name, result] of Object.entries(results)) {
    if (name === "topNavigate") continue;
    expect(result, name).toBe("failed");
  }
  await out.dispatchEvent("click");
  await expect(out).toHaveCount(0);
  expect(elsewhere.received).toEqual([]);
  await expect(page).toHaveURL(/applet=hostile/);
  elsewhere.stop();
});

test("a frame that leaves its applet gets no further, and no port", async ({
  page,
  server,
  complaints,
}) => {
  const elsewhere = await listen();
  await server.writeApplet("hostile", {
    ...hostile(elsewhere.url),
    "script.js": `setTimeout(() => (location.href = ${JSON.stringify(`${elsewhere.url}/away?stolen=1`)}), 500);`,
  });
  await openApp(page, server, "hostile");
  // The browser says what it refused.
  await expect.poll(() => complaints.join("\n")).toContain(elsewhere.url);
  expect(elsewhere.received).toEqual([]);
  expect(
    page.frames().some((each) => each.url().startsWith(elsewhere.url)),
  ).toBe(false);
  elsewhere.stop();
});

test("a flood of messages is cut off, and the chat keeps working", async ({
  page,
  server,
}) => {
  await server.writeApplet("hostile", {
    ...hostile("http://127.0.0.1:1"),
    // The port belongs to the library, which the script can still make it give away.
    "script.js": `
      const post = MessagePort.prototype.postMessage;
      MessagePort.prototype.postMessage = function (...said) {
        MessagePort.prototype.postMessage = post;
        for (let at = 0; at < 20_000; at += 1) post.call(this, { type: "ping", id: at });
        post.apply(this, said);
      };
      listFiles().catch(() => undefined);`,
  });
  await openApp(page, server, "hostile");
  await expect(
    page.getByText("The applet sent too many messages."),
  ).toBeVisible();
  await expect(page.getByRole("textbox", { name: "Message" })).toBeEditable();
});
