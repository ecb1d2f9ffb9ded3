// The way to Gangway of a page that includes its script: a hidden frame of Gangway's origin.
import type { Builtins } from "./builtins.js";
import type { Way } from "./link.js";
import { unreachable } from "./reach.js";
import type { Greeting } from "./wire.js";

// A frame that has not answered by then is not Gangway's.
const FRAME_MS = 15_000;

export function throughFrame(built: Builtins, server: string): Way {
  let frame: HTMLIFrameElement | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return {
    open(missing) {
      const made = built.element("iframe");
      const { port1, port2 } = new built.Channel();
      frame = made;
      made.src = `${server}/broker`;
      made.title = "Gangway";
      made.style.display = "none";
      made.tabIndex = -1;
      built.listen(made, "load", () => greet(made, port2), { once: true });
      timer = built.setTimeout(() => {
        void unreachable(server).then(missing);
      }, FRAME_MS);
      built.append(document.documentElement, made);
      return port1;
    },
    stands: () => frame !== null && built.inPage(frame),
    answered: () => built.clearTimeout(timer),
    close() {
      built.clearTimeout(timer);
      if (frame) built.remove(frame);
      frame = null;
    },
  };

  function greet(made: HTMLIFrameElement, port: MessagePort): void {
    const hello: Greeting = { gangway: "hello", v: 1, tab: tabId(built) };
    // Where the frame shows anything else, the browser drops the greeting.
    if (made.contentWindow) {
      built.postTo(made.contentWindow, hello, server, port);
    }
  }
}

const TAB_KEY = "gangway-tab";

/** The same for every page of this origin in this tab; what is granted once ends with it. */
function tabId(built: Builtins): string {
  let tab = "";
  try {
    tab = sessionStorage.getItem(TAB_KEY) ?? "";
    if (!/^[0-9a-f]{32}$/.test(tab)) {
      tab = built.id();
      sessionStorage.setItem(TAB_KEY, tab);
    }
  } catch {
    // A page without storage has a tab of its own each time.
    tab ||= built.id();
  }
  return tab;
}
