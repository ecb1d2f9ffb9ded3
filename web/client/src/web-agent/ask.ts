// Brings the person to Gangway's own window that asks them; where the browser wants a click for that, a bar waits for it.
import type { Builtins } from "./builtins.js";

const SIZE = "popup,width=460,height=640";

const STYLE = `
:host { all: initial; }
div {
  position: fixed; inset: 0 0 auto 0; z-index: 2147483647;
  display: flex; flex-wrap: wrap; gap: 12px; align-items: center; justify-content: center;
  padding: 10px 16px; background: #17212b; color: #fff;
  font: 15px/1.4 system-ui, sans-serif; box-shadow: 0 2px 12px rgb(0 0 0 / 35%);
}
button {
  padding: 6px 14px; border: 0; border-radius: 8px; background: #79aeff; color: #0b1420;
  font: inherit; font-weight: 600; cursor: pointer;
}
button:focus-visible { outline: 2px solid #fff; outline-offset: 2px; }`;

/** How often a window is looked at. */
const LOOK_MS = 250;

interface Asking {
  calls: number;
  /** Waits for a click where no window could be opened. */
  bar: HTMLElement | null;
  /** Says that the window seems to be closed. */
  closed: () => void;
}

/** Gives back a function that shows one question and ends that when what it gives back is called. */
export function makeAsker(
  built: Builtins,
  server: string,
): (url: string, closed: () => void) => () => void {
  const asking = built.create(null) as Record<string, Asking>;

  return (url, closed) => {
    // Two calls may wait for one answer: one window is enough.
    const one = (asking[url] ??= { calls: 0, bar: null, closed });
    one.calls += 1;
    if (one.calls === 1) {
      if (!show(url, one)) one.bar = makeBar(url, one);
    } else if (one.bar && show(url, one)) {
      // The same request again, this time with a click.
      built.remove(one.bar);
      one.bar = null;
    }
    let over = false;
    return () => {
      if (over) return;
      over = true;
      one.calls -= 1;
      if (one.calls > 0) return;
      if (one.bar) built.remove(one.bar);
      // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- it has no prototype
      delete asking[url];
    };
  };

  function show(url: string, one: Asking): boolean {
    const opened = built.open(server + url, "_blank", SIZE);
    if (opened === null) return false;
    const look = () => {
      if (one.calls === 0) return;
      if (opened.closed) one.closed();
      else built.setTimeout(look, LOOK_MS);
    };
    built.setTimeout(look, LOOK_MS);
    return true;
  }

  function makeBar(url: string, one: Asking): HTMLElement {
    const host = built.element("div");
    const root = built.shadow(host, { mode: "closed" });
    const style = new CSSStyleSheet();
    style.replaceSync(STYLE);
    // A style element would need the leave of the page's policy.
    root.adoptedStyleSheets = [style];
    const bar = built.element("div");
    bar.setAttribute("role", "alert");
    const words = built.element("span");
    words.textContent = "This page requests access to Gangway.";
    const button = built.element("button");
    button.type = "button";
    button.textContent = "Review";
    built.listen(button, "click", (event) => {
      // A click of the page's own opens nothing.
      if (!event.isTrusted || !show(url, one)) return;
      built.remove(host);
      one.bar = null;
    });
    built.append(bar, words);
    built.append(bar, button);
    built.append(root, bar);
    built.append(document.documentElement, host);
    return host;
  }
}
