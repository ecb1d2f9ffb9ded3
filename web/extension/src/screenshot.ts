// Screenshots of the active tab: of the very document that was allowed, and never larger than a message may be.
import { AgentApiError } from "@gangway/client/extension";
import type { Screenshot } from "@gangway/client/web-agent";
import type { Where } from "./read-tab.js";

/** The longest side, in pixels. */
const MAX_SIDE = 1_280;
/** Characters of the data URL; native messaging takes 1 MiB in the one direction. */
const MAX_CHARS = 700_000;
/** An active tab is rendered much sooner; an invisible frame is not rendered at all. */
const DRAWN_MS = 2_000;
const FRAME_DRAWN_MS = 500;

/** What shows others in the page. No style of the page overrules a person's own. */
const NO_FRAMES =
  "iframe, frame, object, embed, fencedframe { visibility: hidden !important }";
/** For the documents in frames: the style above does not reach frames in shadow trees. */
const BLANK =
  ":root { opacity: 0 !important } :root, body { background: none !important }";

export interface ScreenshotRequest {
  format?: "png" | "jpeg" | undefined;
  quality?: number | undefined;
}

export interface ShotOptions extends ScreenshotRequest {
  /** Leaves frames blank, since they may show what is not the page's to see. */
  hidesFrames: boolean;
}

/** Takes a screenshot of the document at `where`, which must be in the front tab of its window from beginning to end. */
export async function takeScreenshot(
  where: Where,
  { hidesFrames, ...options }: ShotOptions,
): Promise<Screenshot> {
  const { tabId } = where;
  const { active, windowId } = await chrome.tabs.get(tabId);
  if (!active) throw notVisible();
  const seen = { moved: false };
  const activated = (to: { windowId: number }) => {
    if (to.windowId === windowId) seen.moved = true;
  };
  const updated = (id: number, { status }: { status?: string }) => {
    if (id === tabId && status === "loading") seen.moved = true;
  };
  chrome.tabs.onActivated.addListener(activated);
  chrome.tabs.onUpdated.addListener(updated);
  const committed = (to: { tabId: number }) => {
    if (to.tabId === tabId) seen.moved = true;
  };
  chrome.webNavigation.onCommitted.addListener(committed);
  const target = targetOf(where);
  const hidden = new Hidden();
  try {
    if (hidesFrames) await hidden.hide(target);
    if (!(await drawn(target, DRAWN_MS))) throw notVisible();
    const taken = await capture(tabId, windowId);
    // Whether the document is still the same and the tab stayed active, including its frames.
    await run(target, () => true, 0);
    const now = await chrome.tabs.get(tabId);
    if (seen.moved || !now.active) throw notVisible();
    return await shrink(taken, options);
  } finally {
    chrome.tabs.onActivated.removeListener(activated);
    chrome.tabs.onUpdated.removeListener(updated);
    chrome.webNavigation.onCommitted.removeListener(committed);
    await hidden.show();
  }
}

type Style = chrome.scripting.CSSInjection;

/** Frames that are left blank for a moment. */
class Hidden {
  readonly #styles: Style[] = [];

  async hide(page: Target): Promise<void> {
    const { tabId } = page;
    await this.#insert({ target: page, css: NO_FRAMES, origin: "USER" });
    const frames = (await chrome.webNavigation.getAllFrames({ tabId })) ?? [];
    const blank = new Set<number>();
    for (const { frameId, parentFrameId, url } of frames) {
      // What is in a blank frame is blank.
      if (frameId === 0 || blank.has(parentFrameId)) {
        if (frameId !== 0) blank.add(frameId);
        continue;
      }
      const target = { tabId, frameIds: [frameId] };
      try {
        await this.#insert({ target, css: BLANK, origin: "USER" });
        blank.add(frameId);
        await drawn(target, FRAME_DRAWN_MS);
      } catch {
        // Frames without an address hold what the page wrote.
        if (/^(about|data|blob|javascript):|^$/.test(url)) continue;
        throw new AgentApiError(
          "ERR_NOT_SUPPORTED",
          "This page has a frame that the extension cannot exclude from a screenshot.",
        );
      }
    }
  }

  async show(): Promise<void> {
    for (const style of this.#styles) {
      // The document may be gone.
      await chrome.scripting.removeCSS(style).catch(() => undefined);
    }
  }

  async #insert(style: Style): Promise<void> {
    await chrome.scripting.insertCSS(style);
    this.#styles.push(style);
  }
}

type Target = chrome.scripting.InjectionTarget;

function targetOf({ tabId, frameId = 0, documentId }: Where): Target {
  return documentId === undefined
    ? { tabId, frameIds: [frameId] }
    : { tabId, documentIds: [documentId] };
}

async function run<T>(
  target: Target,
  func: (ms: number) => T,
  ms: number,
): Promise<Awaited<T> | undefined> {
  try {
    const [done] = await chrome.scripting.executeScript({
      ...{ target, func, args: [ms] as [number] },
    });
    return done?.result;
  } catch {
    throw notVisible();
  }
}

/** Waits until the document was drawn with what was just changed; false if it is not drawn. */
async function drawn(target: Target, ms: number): Promise<boolean> {
  const isDrawn = await run(
    target,
    (ms) =>
      new Promise<boolean>((done) => {
        setTimeout(() => done(false), ms);
        requestAnimationFrame(() => requestAnimationFrame(() => done(true)));
      }),
    ms,
  );
  return isDrawn === true;
}

/** Firefox can say which tab is meant. */
interface Capturing {
  captureTab?: (tabId: number, options: object) => Promise<string>;
}

async function capture(tabId: number, windowId: number): Promise<string> {
  const options = { format: "png" as const };
  try {
    const { captureTab } = chrome.tabs as Capturing;
    if (captureTab) return await captureTab(tabId, options);
    return await chrome.tabs.captureVisibleTab(windowId, options);
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    // Chromium takes two in a second.
    if (/quota|MAX_CAPTURE/i.test(words)) {
      throw new AgentApiError(
        "ERR_RATE_LIMITED",
        "Too many screenshots per second. Wait a moment.",
      );
    }
    throw new AgentApiError(
      "ERR_TAB_NOT_VISIBLE",
      `The browser could not take a screenshot of this tab: ${words}`,
    );
  }
}

/** The screenshot as it may be passed on: smaller, or with less quality, until it fits. */
async function shrink(
  dataUrl: string,
  { format = "jpeg", quality = 0.8 }: ScreenshotRequest,
): Promise<Screenshot> {
  const whole = await createImageBitmap(bytesIn(dataUrl));
  let scale = Math.min(1, MAX_SIDE / Math.max(whole.width, whole.height));
  let left = quality;
  for (;;) {
    const width = Math.max(1, Math.round(whole.width * scale));
    const height = Math.max(1, Math.round(whole.height * scale));
    const canvas = new OffscreenCanvas(width, height);
    canvas.getContext("2d")?.drawImage(whole, 0, 0, width, height);
    const type = `image/${format}`;
    const blob = await canvas.convertToBlob({ type, quality: left });
    const text = await urlOf(blob, type);
    if (text.length <= MAX_CHARS) return { dataUrl: text, width, height };
    if (format === "jpeg" && left > 0.4) left = 0.4;
    else scale *= 0.7;
  }
}

function bytesIn(dataUrl: string): Blob {
  const text = atob(dataUrl.slice(dataUrl.indexOf(",") + 1));
  return new Blob([Uint8Array.from(text, (one) => one.charCodeAt(0))]);
}

async function urlOf(blob: Blob, type: string): Promise<string> {
  const bytes = new Uint8Array(await blob.arrayBuffer());
  let text = "";
  // As many as a call takes arguments.
  for (let at = 0; at < bytes.length; at += 8_192) {
    text += String.fromCharCode(...bytes.subarray(at, at + 8_192));
  }
  return `data:${type};base64,${btoa(text)}`;
}

function notVisible(): AgentApiError {
  return new AgentApiError(
    "ERR_TAB_NOT_VISIBLE",
    "A screenshot needs the tab to stay active in its window. Try again.",
  );
}
