// In each document, beside the page: brokers between the page's script and the background, and outlives both of their troubles.
import {
  AgentApiError,
  type Leave,
  type Read,
  type TabCall,
  declaredServers,
  errorFrom,
  serve,
} from "@gangway/client/extension";
import { perform, type Action } from "./act.js";
import { PortConnection } from "./connection.js";
import {
  HANDOVER,
  type ActAnswer,
  type ActHere,
  type ContentRequest,
  type ListServers,
  type ReadAnswer,
  type ShotAnswer,
} from "./content-wire.js";

// The background attaches the real one.
const NO_TAB = "0".repeat(32);

let leave: Leave | null = null;
let hasAsked = false;

document.addEventListener(
  HANDOVER,
  (event) => {
    const [mother] = (event as MessageEvent).ports;
    if (!mother) return;
    mother.onmessage = ({ ports }: MessageEvent) => {
      if (ports[0]) broker(ports[0]);
    };
  },
  { once: true },
);

/** The page has one connection: a new one takes the place of the last. */
function broker(port: MessagePort): void {
  leave?.();
  const { origin } = self;
  leave = serve(port, {
    origin,
    connect: () => {
      // The background may have lost what it knew.
      offer();
      return new PortConnection(() => chrome.runtime.connect({ name: "page" }));
    },
    hello: () => ({ type: "hello", v: 1, origin, tab: NO_TAB }),
    // The bridge is let in as the person's own program: there is nothing to keep.
    saveToken: () => undefined,
    read: (_page, done) => {
      void ask<ReadAnswer>({ type: "read" }).then((answer) => {
        if (answer && "text" in answer) done(answer.text);
        else done(null, unread(answer?.error));
      });
    },
    act: (method, params, done) => void act(method, params as Fields, done),
    ask: (id) => {
      const first = !hasAsked;
      hasAsked = true;
      // In this world no page can pretend that there was a click.
      const clicked = navigator.userActivation.isActive;
      void ask({ type: "ask", ask: id, clicked, first });
    },
    openChat: (chatId, url) => void ask({ type: "chat", chatId, url }),
  });
}

type Fields = Record<string, unknown>;

/** Does what the page was allowed a moment ago, in this document and no other. */
async function act(method: TabCall, params: Fields, done: Read): Promise<void> {
  try {
    if (method === "tab.screenshot") done(await screenshot(params));
    else done(perform(actionOf(method, params)));
  } catch (error) {
    done(null, error instanceof AgentApiError ? error : undone());
  }
}

/** Does what an agent of the person wants of this page, if it is the one that was meant. */
function actHere({ action, origin }: ActHere): ActAnswer {
  try {
    if (self.origin !== origin) {
      const words = `This page is no longer on ${origin}. Read it again.`;
      throw new AgentApiError("ERR_TAB_CHANGED", words);
    }
    return { result: perform(action) };
  } catch (error) {
    const known = error instanceof AgentApiError ? error : undone();
    return { error: known.toJSON() };
  }
}

function actionOf(
  method: Exclude<TabCall, "tab.screenshot">,
  { target, value }: Fields,
): Action {
  const type = method.slice("tab.".length) as Action["type"];
  return { type, target, value } as Action;
}

async function screenshot({ format, quality }: Fields): Promise<unknown> {
  const answer = await ask<ShotAnswer>({
    type: "screenshot",
    format: format === "png" ? "png" : "jpeg",
    quality: typeof quality === "number" ? quality : undefined,
  });
  if (answer && "shot" in answer) return answer.shot;
  throw answer ? errorFrom(answer.error) : undone();
}

function undone(): AgentApiError {
  const words = "The extension could not do this. Reload the page.";
  return new AgentApiError("ERR_INTERNAL", words);
}

async function ask<T>(message: ContentRequest): Promise<T | null> {
  try {
    return await chrome.runtime.sendMessage<ContentRequest, T>(message);
  } catch {
    // The background is gone: the connection reports it too.
    return null;
  }
}

function unread(error = "The page could not be read."): AgentApiError {
  return new AgentApiError("ERR_INTERNAL", error);
}

/** Reports how many servers the page offers, if any. */
function offer(): void {
  if (window.top !== window) return;
  const count = declaredServers().length;
  if (count > 0) void ask({ type: "servers", count });
}

if (window.top === window) {
  void ask({ type: "fresh" });
  addEventListener("pageshow", ({ persisted }) => {
    if (persisted) void ask({ type: "fresh" });
    offer();
  });
  // Only pages of the extension speak here.
  chrome.runtime.onMessage.addListener(
    (message: ListServers | ActHere, _sender, answer) =>
      answer(message.type === "act" ? actHere(message) : declaredServers()),
  );
}
