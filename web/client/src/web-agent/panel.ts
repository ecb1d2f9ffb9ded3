// The chat that a page opens: a frame of Gangway's origin at the right of the page.
import type { Builtins } from "./builtins.js";

const WIDTH = "400px";
/** Up to here a panel takes the whole width. */
const PHONE = 600;

export interface Panels {
  show(chatId: string, url: string): void;
  hide(chatId: string): void;
  hideAll(): void;
}

export function makePanels(built: Builtins, server: string): Panels {
  let frames = built.create(null) as Record<string, HTMLIFrameElement>;

  function hide(chatId: string): void {
    const frame = frames[chatId];
    if (!frame) return;
    built.remove(frame);
    // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- it has no prototype
    delete frames[chatId];
  }

  return {
    show(chatId, url) {
      hide(chatId);
      const frame = built.element("iframe");
      frame.src = server + url;
      frame.title = "Chat";
      frame.allow = "clipboard-write";
      const { style } = frame;
      style.position = "fixed";
      style.inset = "0 0 0 auto";
      style.zIndex = "2147483646";
      style.width = window.innerWidth <= PHONE ? "100%" : WIDTH;
      style.maxWidth = "100%";
      style.height = "100%";
      style.border = "0";
      style.boxShadow = "0 0 24px rgb(0 0 0 / 25%)";
      style.colorScheme = "normal";
      frames[chatId] = frame;
      built.append(document.documentElement, frame);
    },
    hide,
    hideAll() {
      for (const chatId in frames) hide(chatId);
      frames = built.create(null) as Record<string, HTMLIFrameElement>;
    },
  };
}
