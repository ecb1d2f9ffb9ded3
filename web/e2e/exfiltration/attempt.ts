// Lets an applet try every channel, and says what got out.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import type { Tab } from "../context.js";
import type { Server } from "../server.js";
import { ELEMENTS } from "./elements.js";
import { NAVIGATION } from "./navigation.js";
import { REQUESTS } from "./requests.js";
import { openSink, type Channel, type Sink } from "./sink.js";
import { WEBRTC } from "./webrtc.js";

export const CHANNELS = [...REQUESTS, ...WEBRTC, ...ELEMENTS, ...NAVIGATION];

/** What an applet's frame may do, as its host says. */
const SANDBOX = "allow-scripts allow-forms allow-modals allow-downloads";
/** Frames that are open at a time. */
const BATCH = 20;
/** WebRTC looks for candidates for a while before it asks servers. */
const SETTLE_MS = 2_500;

export interface Attempts {
  /** Channels whose code ran. */
  ran: string[];
  /** Channels of which a sink received. */
  received: string[];
  /** The host of each channel, to look for in the browser's log of name lookups. */
  hosts: Map<string, string>;
}

/** Tries all of them in applets, in frames of one of our own pages. */
export async function inApplets(
  server: Server,
  openTab: () => Promise<Tab>,
  domain: string,
): Promise<Attempts> {
  const sinks = await openSinks(domain);
  for (const channel of CHANNELS) {
    await server.writeApplet(channel.name, appletOf(channel, sinks));
  }
  const made = await server.post("/api/sessions", { agent: "demo" });
  const { sessionId } = (await made.json()) as { sessionId: string };
  const batch = (names: string[]) => ({
    names,
    socket: `/ws/applet?session=${sessionId}&token=${server.token}`,
    sandbox: SANDBOX,
  });
  return attempt(sinks, openTab, `${server.url}/models`, batch);
}

/** Tries all of them in a page that nothing protects: what gets out of it shows that the channels work. */
export async function unprotected(
  openTab: () => Promise<Tab>,
  domain: string,
): Promise<Attempts> {
  const sinks = await openSinks(domain);
  const pages = createServer((request, response) => {
    const [name, ending] = (request.url ?? "").slice(1).split(".");
    const channel = CHANNELS.find((each) => each.name === name);
    const files = channel ? appletOf(channel, sinks) : {};
    const kind = ending ? "text/javascript" : "text/html";
    response.setHeader("content-type", `${kind}; charset=utf-8`);
    const script = `<script type="module" src="/${name}.js"></script>`;
    const page = `<!doctype html><body>${files["content.html"] ?? ""}${script}`;
    response.end(ending ? files["script.js"] : page);
  });
  pages.listen(0, "127.0.0.1");
  await once(pages, "listening");
  const { port } = pages.address() as AddressInfo;
  const batch = (names: string[]) => ({ names, socket: "", sandbox: null });
  const url = `http://127.0.0.1:${port}`;
  const attempts = await attempt(sinks, openTab, `${url}/`, batch);
  pages.close();
  return attempts;
}

interface Batch {
  names: string[];
  /** The channel that says where a frame is; without it, at the channel's name. */
  socket: string;
  sandbox: string | null;
}

async function attempt(
  sinks: Map<string, Sink>,
  openTab: () => Promise<Tab>,
  url: string,
  batch: (names: string[]) => Batch,
): Promise<Attempts> {
  const names = CHANNELS.map(({ name }) => name);
  const settling: Promise<string[]>[] = [];
  for (let at = 0; at < names.length; at += BATCH) {
    const tab = await openTab();
    await tab.goto(url);
    await tab.evaluate(watch, null);
    for (const name of names.slice(at, at + BATCH)) {
      // A page that nothing protects may be gone by now.
      await tab.evaluate(show, batch([name])).catch(() => undefined);
    }
    settling.push(settle(tab));
  }
  const ran = (await Promise.all(settling)).flat();
  const hosts = new Map([...sinks].map(([name, { host }]) => [name, host]));
  const received = names.filter((name) => sinks.get(name)?.hits.length);
  for (const sink of sinks.values()) sink.close();
  return { ran, received, hosts };
}

/** Leaves a tab alone for a while, in which the next is opened; then what ran in it. */
async function settle(tab: Tab): Promise<string[]> {
  await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
  const ran = await tab.evaluate(seen, null).catch(() => []);
  await tab.close().catch(() => undefined);
  return ran;
}

/** The channels whose host a browser looked up, by what it logged. */
export function lookedUp({ hosts }: Attempts, log: string): string[] {
  const found = [...hosts].filter(([, host]) => {
    const name = host.replaceAll(".", "\\.");
    return new RegExp(`(^|[^-a-z.])${name}`, "m").test(log);
  });
  return found.map(([name]) => name);
}

async function openSinks(domain: string): Promise<Map<string, Sink>> {
  const sinks = CHANNELS.map(
    async ({ name }) => [name, await openSink(`${name}.${domain}`)] as const,
  );
  return new Map(await Promise.all(sinks));
}

function appletOf(
  channel: Channel,
  sinks: Map<string, Sink>,
): Record<string, string> {
  const { name, content, script } = channel;
  const to = sinks.get(name);
  if (!to) throw new Error(`There is no sink for ${name}.`);
  const report = `parent.postMessage({ ran: ${JSON.stringify(name)} }, "*");\n`;
  const inline = script ? "" : `<script>${report}</script>`;
  return {
    "meta.json": JSON.stringify({ slug: name, name }),
    "content.html": `${inline}${content?.(to) ?? ""}`,
    ...(script && { "script.js": report + script(to) }),
  };
}

declare global {
  interface Window {
    channelsRan?: string[];
  }
}

function watch(): void {
  const ran: string[] = [];
  window.channelsRan = ran;
  window.addEventListener("message", ({ data }: MessageEvent) => {
    const said = data as { ran?: unknown } | null;
    if (typeof said?.ran === "string") ran.push(said.ran);
  });
}

function seen(): string[] {
  return window.channelsRan ?? [];
}

async function show({ names, socket, sandbox }: Batch): Promise<void> {
  for (const name of names) {
    const frame = document.createElement("iframe");
    if (sandbox !== null) frame.setAttribute("sandbox", sandbox);
    frame.src = `/${name}`;
    if (socket) {
      const opened = new WebSocket(`${socket}&applet=${name}`);
      frame.src = await new Promise<string>((resolve, reject) => {
        opened.onerror = () => reject(new Error("The channel is refused."));
        opened.onmessage = ({ data }) => {
          const said = JSON.parse(data as string) as { frame?: string };
          if (said.frame) resolve(said.frame);
        };
      });
      opened.close();
    }
    document.body.append(frame);
  }
}
