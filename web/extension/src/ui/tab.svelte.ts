// The tab that the person looks at.
import type { DeclaredServer } from "@gangway/client/web-agent";
import type { ListServers } from "../content-wire.js";
import { originIn } from "../sender.js";

export interface SeenTab {
  id: number;
  title: string;
  url: string;
  /** Null for pages that have none: the browser's own, and files. */
  origin: string | null;
}

export class TabState {
  current: SeenTab | null = $state.raw(null);
  /** MCP servers that the page offers. */
  servers: DeclaredServer[] = $state.raw([]);
  loaded = $state(false);
  /** Only what was asked for last counts. */
  #looks = 0;

  /** Follows whichever tab of this window is looked at until the returned function is called. */
  follow(): () => void {
    const look = () => void this.load();
    const { tabs } = chrome;
    look();
    tabs.onActivated.addListener(look);
    tabs.onUpdated.addListener(look);
    return () => {
      tabs.onActivated.removeListener(look);
      tabs.onUpdated.removeListener(look);
    };
  }

  async load(): Promise<void> {
    const asked = { active: true, currentWindow: true };
    const look = (this.#looks += 1);
    const [tab] = await chrome.tabs.query(asked);
    if (look !== this.#looks) return;
    this.loaded = true;
    if (tab?.id === undefined) return;
    const { id, title = "", url = "" } = tab;
    const origin = originIn(url);
    const same = this.current?.id === id && this.current.origin === origin;
    this.current = { id, title, url, origin };
    if (!same) this.servers = [];
    const servers = origin === null ? [] : await listServers(id);
    if (look === this.#looks) this.servers = servers;
  }
}

async function listServers(tab: number): Promise<DeclaredServer[]> {
  try {
    return await chrome.tabs.sendMessage<ListServers, DeclaredServer[]>(
      tab,
      { type: "list-servers" },
      { frameId: 0 },
    );
  } catch {
    // The page was open before the extension came.
    return [];
  }
}
