// The extension's background: everything that pages and the extension's own windows want of the bridge passes here.
import { Badges } from "./badge.js";
import { Bridge, type NativePort } from "./bridge.js";
import { browserName } from "./browser.js";
import { AgentApiError } from "@gangway/client/extension";
import type {
  ContentRequest,
  OwnPageRequest,
  ReadAnswer,
  ShotAnswer,
} from "./content-wire.js";
import { serveOwn } from "./own-pages.js";
import { servePage } from "./pages.js";
import { isReadable, readTab } from "./read-tab.js";
import { takeScreenshot, type ScreenshotRequest } from "./screenshot.js";
import { isOwn, originOf } from "./sender.js";
import { HOST } from "./wire.js";
import { OwnWindows } from "./windows.js";

const { runtime, action, tabs, windows } = chrome;
const session = chrome.storage.session;
const self = { id: runtime.id, root: runtime.getURL("") };

const bridge = new Bridge({
  connect: () => runtime.connectNative(HOST),
  whyClosed: (port: NativePort & { error?: { message?: string } }) =>
    // Chromium keeps it in the one place, Firefox in the other.
    runtime.lastError?.message ?? port.error?.message ?? "",
  browser: browserName(),
  version: runtime.getManifest().version,
});

const badges = new Badges((tabId, { text, color, title }) => {
  // The tab may be gone by now.
  const ignore = () => undefined;
  action.setBadgeText({ tabId, text }).catch(ignore);
  action.setBadgeBackgroundColor({ tabId, color }).catch(ignore);
  action.setTitle({ tabId, title }).catch(ignore);
});

bridge.listen({
  state({ state, trouble }) {
    badges.trouble(trouble);
    if (state === "up") void ownWindows.settle();
  },
  status(status) {
    if (status.about !== "asks" || status.frame.type !== "asks") return;
    const askers = status.frame.asks.map(({ asker }) => asker);
    badges.asks(askers.flatMap((one) => ("origin" in one ? one.origin : [])));
  },
});

const ownWindows = new OwnWindows({
  bridge,
  async open(url, size) {
    const made = await windows.create({ url, type: "popup", ...size });
    return made?.id ?? -1;
  },
  focus: async (id) => {
    await windows.update(id, { focused: true });
  },
  store: {
    get: async (key) => (await session.get(key))[key],
    set: (key, value) => session.set({ [key]: value }),
    remove: (key) => session.remove(key),
  },
});

let secret: Promise<string> | null = null;

/** Made once for as long as the browser runs, though this background may die and live again. */
async function makeSecret(): Promise<string> {
  const kept = (await session.get("secret"))["secret"];
  if (typeof kept === "string") return kept;
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  const made = [...bytes].map((byte) => byte.toString(16).padStart(2, "0"));
  const text = made.join("");
  await session.set({ secret: text });
  return text;
}

runtime.onConnect.addListener((port) => {
  if (port.name === "own" && isOwn(port.sender, self)) serveOwn(port, bridge);
  else if (port.name === "page") {
    servePage(port, {
      bridge,
      secret: () => (secret ??= makeSecret()),
      changed: (tab, origin, by) => badges.page(tab, origin, by),
      count: (tab) => badges.count(tab),
    });
  } else port.disconnect();
});

type Asked = ContentRequest | OwnPageRequest;

runtime.onMessage.addListener((message: Asked, sender, answer) => {
  if (message.type === "answer") {
    if (isOwn(sender, self)) void ownWindows.answer(message.ask);
    return;
  }
  const origin = originOf(sender);
  const tab = sender.tab?.id;
  if (origin === null || tab === undefined) return;
  switch (message.type) {
    case "ask":
      if (mayOpen(message, sender.frameId)) {
        void ownWindows.ask(message.ask, origin, tab);
      }
      return;
    case "chat":
      void ownWindows.chat(message.chatId, message.url, origin, tab);
      return;
    case "fresh":
      if (sender.frameId === 0) badges.fresh(tab);
      return;
    case "servers":
      badges.servers(tab, Math.min(message.count, 99));
      return;
    case "read":
      void read(tab, sender).then(answer);
      return true;
    case "screenshot":
      void screenshot(tab, sender, message).then(answer);
      return true;
  }
});

/** Who did not click gets no window, but for the first question of the page itself; the others are on the badge, in the popup and in the side panel. */
function mayOpen(
  { ask, clicked, first }: Extract<ContentRequest, { type: "ask" }>,
  frame: number | undefined,
): boolean {
  if (!/^[\w-]{1,64}$/.test(ask)) return false;
  return clicked || (first && frame === 0);
}

async function read(
  tabId: number,
  { url, frameId, documentId }: chrome.runtime.MessageSender,
): Promise<ReadAnswer> {
  if (!isReadable(url)) {
    return { error: "Only http and https pages can be read." };
  }
  try {
    return { text: await readTab({ tabId, frameId, documentId }) };
  } catch (error) {
    return { error: error instanceof Error ? error.message : String(error) };
  }
}

async function screenshot(
  tabId: number,
  { url, frameId, documentId }: chrome.runtime.MessageSender,
  request: ScreenshotRequest,
): Promise<ShotAnswer> {
  try {
    if (frameId !== 0 || !isReadable(url)) {
      const words =
        "Screenshots work only for the top-level page of a tab, not for a frame.";
      throw new AgentApiError("ERR_NOT_SUPPORTED", words);
    }
    const where = { tabId, frameId, documentId };
    const { format, quality } = request;
    const options = { format, quality, hidesFrames: true };
    return { shot: await takeScreenshot(where, options) };
  } catch (error) {
    if (error instanceof AgentApiError) return { error: error.toJSON() };
    const message = error instanceof Error ? error.message : String(error);
    return { error: { code: "ERR_INTERNAL", message } };
  }
}

windows.onRemoved.addListener((id) => void ownWindows.closed(id));
tabs.onRemoved.addListener((id) => badges.forget(id));

runtime.onInstalled.addListener(({ reason }) => {
  if (reason !== "install") return;
  void tabs.create({ url: runtime.getURL("install.html") });
});
