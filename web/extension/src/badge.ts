// What the toolbar says about a tab: a question, a missing Gangway, use, or servers that the page offers.
import type { Trouble } from "./trouble.js";

export interface TabFacts {
  /** Documents that are connected, by origin; none, where something was missing. */
  pages: Map<string, number>;
  /** MCP servers that the page offers. */
  servers: number;
}

export interface Badge {
  text: string;
  color: string;
  title: string;
}

const QUIET: Badge = { text: "", color: "#1b5fd9", title: "Gangway" };

/** `asking`: the origins that have a question open. */
export function badgeOf(
  { pages, servers }: TabFacts,
  asking: ReadonlySet<string>,
  trouble: Trouble | null,
): Badge {
  const origins = [...pages.keys()];
  const connected = [...pages.values()].some((count) => count > 0);
  if (origins.some((origin) => asking.has(origin))) {
    return {
      text: "?",
      color: "#b25e00",
      title: "Gangway: this page requests permission; click to answer",
    };
  }
  if (trouble && origins.length > 0) {
    const title = "Gangway: setup required; click for details";
    return { text: "!", color: "#b3261e", title };
  }
  if (connected) {
    const title = "Gangway: this page is connected";
    return { text: "on", color: "#16703c", title };
  }
  if (servers === 0) return QUIET;
  const what = servers === 1 ? "an MCP server" : `${servers} MCP servers`;
  const title = `Gangway: this page offers ${what}`;
  return { ...QUIET, text: String(servers), title };
}

export class Badges {
  readonly #tabs = new Map<number, TabFacts>();
  readonly #show: (tab: number, badge: Badge) => void;
  #asking: ReadonlySet<string> = new Set();
  #trouble: Trouble | null = null;

  constructor(show: (tab: number, badge: Badge) => void) {
    this.#show = show;
  }

  page(tab: number, origin: string, by: 1 | -1): void {
    const facts = this.#facts(tab);
    const count = Math.max(0, (facts.pages.get(origin) ?? 0) + by);
    // If something is missing that the page needs, the badge shows it.
    if (count > 0 || this.#trouble) facts.pages.set(origin, count);
    else facts.pages.delete(origin);
    this.#draw(tab);
  }

  /** How many documents of a tab are connected. */
  count(tab: number): number {
    const pages = this.#tabs.get(tab)?.pages.values() ?? [];
    return [...pages].reduce((sum, count) => sum + count, 0);
  }

  servers(tab: number, count: number): void {
    this.#facts(tab).servers = count;
    this.#draw(tab);
  }

  asks(origins: string[]): void {
    this.#asking = new Set(origins);
    this.#drawAll();
  }

  trouble(trouble: Trouble | null): void {
    if (trouble?.missing === this.#trouble?.missing) return;
    this.#trouble = trouble;
    this.#drawAll();
  }

  /** A tab shows another page; documents that are still connected say themselves when they leave. */
  fresh(tab: number): void {
    const facts = this.#facts(tab);
    facts.servers = 0;
    for (const [origin, count] of facts.pages) {
      if (count === 0) facts.pages.delete(origin);
    }
    this.#draw(tab);
  }

  /** A tab is gone. */
  forget(tab: number): void {
    this.#tabs.delete(tab);
  }

  #facts(tab: number): TabFacts {
    const facts = this.#tabs.get(tab) ?? { pages: new Map(), servers: 0 };
    this.#tabs.set(tab, facts);
    return facts;
  }

  #drawAll(): void {
    for (const tab of this.#tabs.keys()) this.#draw(tab);
  }

  #draw(tab: number): void {
    this.#show(tab, badgeOf(this.#facts(tab), this.#asking, this.#trouble));
  }
}
