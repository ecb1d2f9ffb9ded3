// Whether the person's agents may use the active tab: as long as the user allows it and the panel is open.
import type { BrowserAct } from "@gangway/client";
import { actInFront } from "../front-tab.js";
import type { Gangway } from "./gangway.svelte.js";

const WORDS: Record<BrowserAct["action"]["type"], string> = {
  read_page: "An agent read the page.",
  click: "An agent clicked on the page.",
  fill: "An agent filled in a field.",
  screenshot: "An agent took a screenshot of the page.",
};

export class AgentTab {
  readonly #gangway: Gangway;
  #stop: (() => void) | null = null;
  allowed = $state(false);
  /** A description of the last action. */
  last = $state("");

  constructor(gangway: Gangway) {
    this.#gangway = gangway;
  }

  allow(allowed: boolean): void {
    this.allowed = allowed;
    this.last = "";
    this.#stop?.();
    this.#stop = allowed
      ? this.#gangway.onBrowserAct(async (act) => {
          const answer = await actInFront(act);
          this.last = answer.error
            ? "An agent tried to use the page and failed."
            : WORDS[act.action.type];
          return answer;
        })
      : null;
  }
}
