// What the person's agents do in the active tab: only on pages of the web, never on Gangway's own, and only on the origin that was named.
import {
  isLocal,
  type BrowserAct,
  type BrowserAnswer,
  type JsonValue,
} from "@gangway/client";
import { AgentApiError } from "@gangway/client/extension";
import type { ActHere, ActAnswer } from "./content-wire.js";
import type { Action } from "./act.js";
import { readTab } from "./read-tab.js";
import { takeScreenshot } from "./screenshot.js";
import { originIn } from "./sender.js";

interface Front {
  id: number;
  url: string;
  title: string;
  origin: string;
}

/** Never throws: what goes wrong is the answer. */
export async function actInFront(act: BrowserAct): Promise<BrowserAnswer> {
  try {
    const front = await frontTab(act.own);
    return { result: (await perform(front, act.action)) as JsonValue };
  } catch (error) {
    if (error instanceof AgentApiError) {
      const { code, message } = error;
      return { error: { code, message } };
    }
    const message = error instanceof Error ? error.message : String(error);
    return { error: { code: "ERR_INTERNAL", message } };
  }
}

async function perform(
  front: Front,
  action: BrowserAct["action"],
): Promise<unknown> {
  const { id, origin } = front;
  switch (action.type) {
    case "read_page": {
      const page = await readTab({ tabId: id });
      const elements = await here(front, { type: "elements" });
      if (originIn(page.url) !== origin) throw changed(origin);
      return { ...page, elements };
    }
    case "screenshot": {
      const shot = await takeScreenshot({ tabId: id }, { hidesFrames: false });
      const now = await chrome.tabs.get(id);
      if (originIn(now.url ?? "") !== origin) throw changed(origin);
      return { ...shot, url: front.url, title: front.title };
    }
    case "click":
    case "fill":
      if (action.origin !== origin) throw changed(action.origin);
      return here(front, action);
  }
}

/** Sends it to the content script of the active tab, if that still has the same origin. */
async function here({ id, origin }: Front, action: Action): Promise<unknown> {
  let answer: ActAnswer;
  try {
    answer = await chrome.tabs.sendMessage<ActHere, ActAnswer>(
      id,
      { type: "act", action, origin },
      { frameId: 0 },
    );
  } catch {
    throw new AgentApiError(
      "ERR_NOT_SUPPORTED",
      "This page was opened before the extension was installed. Reload it.",
    );
  }
  if ("result" in answer) return answer.result;
  const { code, message } = answer.error;
  throw new AgentApiError(code, message);
}

/** The active tab of this window. */
async function frontTab(own: readonly string[]): Promise<Front> {
  const asked = { active: true, currentWindow: true };
  const [tab] = await chrome.tabs.query(asked);
  const { id, url = "", title = "" } = tab ?? {};
  const origin = originIn(url);
  if (id === undefined || origin === null) {
    throw new AgentApiError(
      "ERR_NOT_SUPPORTED",
      "The active tab does not show a web page.",
    );
  }
  if (isGangway(url, own)) {
    throw new AgentApiError(
      "ERR_PERMISSION_DENIED",
      "The active tab shows Gangway itself, which agents cannot use.",
    );
  }
  return { id, url, title, origin };
}

/** Whether a page is Gangway's own, by whichever of its names, or an app that it serves. */
export function isGangway(url: string, own: readonly string[]): boolean {
  const { origin, port } = new URL(url);
  return own.some(
    (one) =>
      one === origin ||
      (isLocal(one) && isLocal(url) && new URL(one).port === port),
  );
}

function changed(origin: string): AgentApiError {
  return new AgentApiError(
    "ERR_TAB_CHANGED",
    `The active tab no longer shows a page of ${origin}. Read it again.`,
  );
}
