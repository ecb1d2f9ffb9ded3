// P19: apps in frames of other people's pages, and frames that mean harm.
import type { LaunchedApp, MountOptions } from "@gangway/client";
import type { Frame as PageFrame, Page } from "@playwright/test";
import { Agent, call, launch, OUTSIDE, probe } from "../context.js";
import { stranger, type Stranger } from "../embedding.js";
import { expect, test as base } from "../fixtures.js";
import type { Server } from "../server.js";

interface Hosts {
  host: Stranger;
  evil: Stranger;
}

const test = base.extend<Hosts>({
  // eslint-disable-next-line no-empty-pattern -- Playwright wants a pattern
  host: async ({}, use) => {
    const host = await stranger();
    await use(host);
    host.stop();
  },
  // eslint-disable-next-line no-empty-pattern -- Playwright wants a pattern
  evil: async ({}, use) => {
    const evil = await stranger();
    await use(evil);
    evil.stop();
  },
  settings: async ({ host }, use) => {
    await use({
      apps: { probe: probe() },
      allowedOrigins: [host.origin],
      withKey: true,
    });
  },
});

// Other hosts are what this is about, and refused frames are reported by the browser.
test.afterEach(({ strangers, complaints }) => {
  strangers.length = 0;
  complaints.length = 0;
});

type MountWish = LaunchedApp & Pick<MountOptions, "server" | "key">;

interface HostWindow {
  ready?: boolean;
  mount: (options: MountWish) => void;
  problems: string[];
}

/** A launch that somebody's page may frame, as its script is given it. */
async function launchFor(
  server: Server,
  { origin }: Stranger,
): Promise<MountWish> {
  const launched = await launch(server, "probe", {
    agent: OUTSIDE,
    embedOrigin: origin,
  });
  return { ...launched, server: server.url, key: server.key };
}

async function openHost(page: Page, host: Stranger): Promise<void> {
  await page.goto(host.origin);
  await page.waitForFunction(
    () => (window as unknown as HostWindow).ready === true,
  );
}

async function mount(page: Page, options: MountWish): Promise<PageFrame> {
  await page.evaluate(
    (given) => (window as unknown as HostWindow).mount(given),
    options,
  );
  const element = await page.waitForSelector("#app");
  const frame = await element.contentFrame();
  if (!frame) throw new Error("there is no frame");
  await frame.waitForFunction(() => window.firstSaw !== undefined);
  return frame;
}

test("an embedded app talks to its agent through one port", async ({
  page,
  server,
  host,
}) => {
  const options = await launchFor(server, host);
  const { launchId } = options;
  const agent = await Agent.attach(server, launchId);
  await openHost(page, host);
  const frame = await mount(page, options);
  const done = call(frame, "emit", "user-action", { a: 1 });
  expect(await agent.take("user-action")).toMatchObject({ payload: { a: 1 } });
  expect(await done).toEqual({});
  agent.tell("ping-page", { n: 1 });
  await expect
    .poll(() => frame.evaluate(() => window.received))
    .toEqual([{ n: 1 }]);
  // What the agent says comes through the port, which the app never sees, nor a message at all.
  await frame.evaluate(() => {
    addEventListener("message", () => window.received?.push("a message"));
  });
  agent.tell("ping-page", { n: 2 });
  await expect
    .poll(() => frame.evaluate(() => window.received))
    .toEqual([{ n: 1 }, { n: 2 }]);
});

test("P19: of hostile frames beside, inside and around the app, none is acted on", async ({
  page,
  server,
  host,
  evil,
}) => {
  // More than thirty frames send without a pause.
  test.setTimeout(120_000);
  const options = await launchFor(server, host);
  const { launchId } = options;
  const agent = await Agent.attach(server, launchId);
  await openHost(page, host);
  // They are there before the app is, so that none comes too late.
  await page.evaluate(
    ([foreign, own, id]) => {
      const add = (src: string, sandbox?: string) => {
        const frame = document.createElement("iframe");
        if (sandbox !== undefined) frame.setAttribute("sandbox", sandbox);
        frame.src = src;
        document.body.append(frame);
      };
      for (let at = 0; at < 6; at += 1) {
        add(`${foreign}/hostile?at=sibling&launch=${id}`);
        // The right origin, but not the page around the app.
        add(`${own}/hostile?at=sibling&launch=${id}`);
        add(`${foreign}/hostile?at=nest&launch=${id}`);
        add(`${own}/hostile?at=sibling&launch=${id}`, "allow-scripts");
      }
      // The page around the app, but never the right message.
      const app = document.getElementById("app") as HTMLIFrameElement;
      const received: string[] = [];
      Object.assign(window, { received });
      const port = () => {
        const { port1, port2 } = new MessageChannel();
        port1.onmessage = ({ data }) => received.push(String(data));
        port1.postMessage('{"type":"agent-event","event":"evil","seq":1}');
        return port2;
      };
      setInterval(() => {
        const say = (data: unknown, ...ports: MessagePort[]) =>
          app.contentWindow?.postMessage(data, "*", ports);
        say({ type: "gangway-port", launchId: `${id}x` }, port());
        say({ type: "gangway-port", launchId: id });
        say({ type: "gangway-port", launchId: id }, port(), port());
        say("gangway-port", port());
        say(["gangway-port", id], port());
        say({ type: "agent-event", event: "evil", payload: 1, seq: 1 });
      }, 100);
    },
    [evil.origin, host.origin, launchId] as const,
  );
  const frame = await mount(page, options);
  await frame.evaluate(
    ([foreign, id]) => {
      const context = window.__AGENT_CONTEXT__;
      context?.on("evil", () => window.received?.push("evil"));
      for (let at = 0; at < 6; at += 1) {
        const child = document.createElement("iframe");
        child.src = `${foreign}/hostile?at=child&launch=${id}`;
        document.body.append(child);
      }
      // The app itself is no page around it either, and what a script makes is nobody's word.
      const { port1, port2 } = new MessageChannel();
      port1.onmessage = () => window.received?.push("own port");
      const data = { type: "gangway-port", launchId: id };
      window.postMessage(data, "*", [port2]);
      const made = {
        data,
        source: parent,
        ports: [new MessageChannel().port1],
      };
      window.dispatchEvent(new MessageEvent("message", made));
    },
    [evil.origin, launchId] as const,
  );
  const hostile = () =>
    page.frames().filter((each) => each.url().includes("/hostile"));
  const attempts = async () => {
    let sum = 0;
    for (const each of hostile()) {
      sum += await each.evaluate(
        () => (window as unknown as { attempts?: number }).attempts ?? 0,
      );
    }
    return sum;
  };
  const before = await attempts();
  await expect
    .poll(attempts, { timeout: 60_000 })
    .toBeGreaterThan(before + 1_000);
  // Six each of four kinds beside it, six more inside those, and six inside the app.
  await expect.poll(() => hostile().length).toBeGreaterThanOrEqual(30);
  const done = call(frame, "emit", "still-mine", { a: 1 });
  await agent.take("still-mine");
  expect(await done).toEqual({});

  expect(await frame.evaluate(() => window.received)).toEqual([]);
  for (const each of [...hostile(), page.mainFrame()]) {
    expect(await each.evaluate(() => window.received), each.url()).toEqual([]);
  }
  const events = agent.received.filter(({ type }) => type === "weblet-event");
  expect(events).toHaveLength(1);
});

test("what the agent says while the frame is loaded is not lost", async ({
  page,
  server,
  host,
}) => {
  const options = await launchFor(server, host);
  const agent = await Agent.attach(server, options.launchId);
  await openHost(page, host);
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => (release = resolve));
  // The page is written by then, and is not loaded before its script is there.
  await page.route("**/first.js", async (route) => {
    await held;
    await route.continue();
  });
  const asked = page.waitForRequest("**/first.js");
  const mounting = mount(page, options);
  await asked;
  for (const n of [1, 2, 3]) agent.tell("ping-page", { n });
  await expect
    .poll(() => agent.received.filter(({ type }) => type === "sent").length)
    .toBe(3);
  release();
  const frame = await mounting;
  await expect
    .poll(() => frame.evaluate(() => window.received))
    .toEqual([{ n: 1 }, { n: 2 }, { n: 3 }]);
});

test("a deleted launch ends in a frame too, and the parent page is notified", async ({
  page,
  server,
  host,
}) => {
  const options = await launchFor(server, host);
  await openHost(page, host);
  const frame = await mount(page, options);
  const emitted = call(frame, "emit", "user-action", {});
  await frame.evaluate(() => undefined);
  const path = `/api/sessions/${options.sessionId}`;
  const { status } = await server.fetch(path, { method: "DELETE" });
  expect(status).toBe(204);
  expect(await emitted).toMatchObject({
    code: "E-AGT-003",
    message: "This launch no longer exists",
  });
  const problems = () => (window as unknown as HostWindow).problems;
  expect(await page.evaluate(problems)).toEqual(["launch_gone"]);
});

test("a second port after the first changes nothing", async ({
  page,
  server,
  host,
}) => {
  const options = await launchFor(server, host);
  const { launchId } = options;
  const agent = await Agent.attach(server, launchId);
  await openHost(page, host);
  const frame = await mount(page, options);
  const first = call(frame, "emit", "first", {});
  await agent.take("first");
  await first;
  await page.evaluate((id) => {
    const app = document.getElementById("app") as HTMLIFrameElement;
    const { port1, port2 } = new MessageChannel();
    const received: string[] = [];
    Object.assign(window, { received });
    port1.onmessage = ({ data }) => received.push(String(data));
    const data = { type: "gangway-port", launchId: id };
    app.contentWindow?.postMessage(data, "*", [port2]);
  }, launchId);
  const second = call(frame, "emit", "second", {});
  await agent.take("second");
  expect(await second).toEqual({});
  expect(await page.evaluate(() => window.received)).toEqual([]);
});

test("a page that the launch was not made for cannot frame the app", async ({
  page,
  server,
  host,
  evil,
  complaints,
}) => {
  const { url } = await launchFor(server, host);
  await page.goto(evil.origin);
  await page.evaluate((src) => {
    (document.getElementById("app") as HTMLIFrameElement).src = src;
  }, url);
  await expect.poll(() => complaints.join("\n")).toContain("frame-ancestors");
  const framed = page.frames().filter((each) => each.url() === url);
  for (const frame of framed) {
    const seen = await frame
      .evaluate(() => typeof window.__AGENT_CONTEXT__)
      .catch(() => "refused");
    expect(seen).not.toBe("object");
  }
});

test("a server that dies and comes back is bridged in a frame too", async ({
  page,
  server,
  host,
}) => {
  const options = await launchFor(server, host);
  const { launchId } = options;
  await openHost(page, host);
  const frame = await mount(page, options);
  const done = call(frame, "emit", "user-action", { n: 1 });
  // What is asked of a frame is done in order: the event was said before the server died.
  await frame.evaluate(() => undefined);
  await server.kill();
  await server.launch();
  const agent = await Agent.attach(server, launchId);
  await agent.take("user-action");
  expect(await done).toEqual({});
});
