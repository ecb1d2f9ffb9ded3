// Asking from a frame of another site: the parent page delegates that, by an attribute of the frame.
import type { Builtins } from "./builtins.js";
import type { Link } from "./link.js";

/** Says that the page in a frame may ask the person; its value, or else the frame's `src`, names the origin. */
export const ATTRIBUTE = "data-gangway-delegate";

// A parent page that delegates may have to connect first.
const ANSWER_MS = 1_500;

type Said = { gangway?: string; token?: string } | null;

export interface Delegation {
  /** Asks the parent page, once, and gives up soon where it does not delegate; absent where there is none. */
  obtain?: () => Promise<void>;
}

export function makeDelegation(built: Builtins, link: Link): Delegation {
  /** Whether the author of this page lets pages of this origin in that frame ask. */
  const delegates = (to: unknown, origin: string) => {
    for (const frame of document.querySelectorAll("iframe")) {
      if (frame.contentWindow !== to) continue;
      // What shares this page's origin can do whatever this page can.
      if (origin === built.origin) return true;
      const named = frame.getAttribute(ATTRIBUTE);
      const url = named === "" ? frame.src : (named ?? "");
      return built.URL.canParse(url) && new built.URL(url).origin === origin;
    }
    return false;
  };

  const listen = (
    onMessage: (message: Said, source: Window, origin: string) => void,
  ) =>
    built.listen(window, "message", (event) => {
      const { data, source, origin } = event as MessageEvent<Said>;
      onMessage(data, source as Window, origin);
    });

  listen((message, source, origin) => {
    if (message?.gangway !== "delegate" || !delegates(source, origin)) return;
    link.call("frame.delegate", { origin }).then(
      (made) => {
        source.postMessage(
          { gangway: "delegation", ...(made as object) },
          origin,
        );
      },
      // Then the frame gets the reason as the error of its own call.
      () => undefined,
    );
  });

  const { parent } = window;
  if (parent === window) return {};
  let obtained: Promise<void> | null = null;
  let answer: (token?: string) => void = () => undefined;
  listen((message, source) => {
    if (source === parent && message?.gangway === "delegation")
      answer(message.token);
  });

  const ask = async () => {
    const token = await new built.Later<string | undefined>((resolve) => {
      answer = resolve;
      built.setTimeout(resolve, ANSWER_MS);
      // It says nothing but that there is a page which would ask; who is around it is not known here.
      parent.postMessage({ gangway: "delegate" }, "*");
    });
    try {
      if (token) {
        await link.call("frame.accept", { token });
        return;
      }
    } catch {
      // Then the call that follows says why it may not ask.
    }
    // A parent page that delegates later is asked again.
    obtained = null;
  };

  return { obtain: () => (obtained ??= ask()) };
}
