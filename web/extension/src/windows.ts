// Windows of the extension's own: one for each question to the person, and one for each chat that a page opened.
import type { AskInfo } from "@gangway/client";
import type { Bridge } from "./bridge.js";
import { isUnreached } from "./failures.js";

// More of a kind than anyone looks at; who wants more has to wait.
const MAX_WINDOWS = 8;
const MAX_WAITING = 64;
const SIZES = {
  permit: { width: 480, height: 760 },
  chat: { width: 440, height: 720 },
};

type Kind = keyof typeof SIZES;

/** What is kept of a window, so that it is known again when the background comes back to life. */
interface Kept {
  kind: Kind;
  /** The question, or the chat. */
  id: string;
  /** Its origin and tab; empty if the user opened it. */
  of?: { origin: string; tab: number };
  /** What lets the window of a chat in. */
  ticket?: string;
}

export interface WindowsOptions {
  bridge: Bridge;
  /** Opens a window; gives back its id. */
  open: (
    url: string,
    size: { width: number; height: number },
  ) => Promise<number>;
  focus: (window: number) => Promise<void>;
  store: {
    get(key: string): Promise<unknown>;
    set(key: string, value: unknown): Promise<void>;
    remove(key: string): Promise<void>;
  };
}

/** Windows that are open, what waits for one, and chats whose end the server does not know yet. */
const KEY = "windows";
const WAITING = "waiting";
const ENDED = "ended";

export class OwnWindows {
  readonly #options: WindowsOptions;
  /** Openings follow one another, so that no question gets two windows. */
  #last: Promise<void> = Promise.resolve();
  #waiting = 0;

  constructor(options: WindowsOptions) {
    this.#options = options;
  }

  /** Asks the person, if this is a question of that origin: at once, or after the one that its tab asks already. */
  ask(id: string, origin: string, tab: number): Promise<void> {
    const of = { origin, tab };
    return this.#inTurn(() => this.#show({ kind: "permit", id, of }));
  }

  /** Shows a question because the person wants to answer it. */
  answer(id: string): Promise<void> {
    return this.#inTurn(() => this.#show({ kind: "permit", id }));
  }

  /** Shows the chat that a page opened, with the address that the server gave for it. */
  chat(id: string, url: string, origin: string, tab: number): Promise<void> {
    return this.#inTurn(async () => {
      const ticket = new URL(url, "http://gangway.invalid").hash.slice(1);
      // The server writes no others; what is kept here has little room.
      if (![id, ticket].every((text) => /^[\w-]{1,128}$/.test(text))) return;
      await this.#show({ kind: "chat", id, ticket, of: { origin, tab } });
    });
  }

  /** A window is gone: what it showed ends, and whatever waited has its turn. */
  closed(window: number): Promise<void> {
    return this.#inTurn(async () => {
      const all = await this.#all();
      const kept = all[window];
      if (!kept) return;
      const { [window]: _, ...rest } = all;
      const { store } = this.#options;
      await store.set(KEY, rest);
      if (kept.kind === "permit") {
        // A window that is closed before it has loaded says nothing itself; one that was answered has no question left.
        await this.#options.bridge
          .request("ask_dismiss", { ask: kept.id })
          .catch(() => undefined);
      }
      if (kept.kind === "chat") {
        await store.remove(ticketKey(kept.id));
        await store.set(ENDED, [...(await this.#list(ENDED)), kept.id]);
        await this.#endChats();
      }
      const waiting = await this.#list<Kept>(WAITING);
      await store.remove(WAITING);
      // One of them that is over by now must not cost the others their turn.
      for (const next of waiting) await this.#show(next).catch(warn);
    });
  }

  /** Says again which chats are over, to a server that was away when they ended. */
  settle(): Promise<void> {
    return this.#inTurn(() => this.#endChats());
  }

  async #endChats(): Promise<void> {
    const { bridge, store } = this.#options;
    for (const id of await this.#list<string>(ENDED)) {
      try {
        await bridge.request("panel_close", { chat_id: id });
      } catch (error) {
        if (isUnreached(error)) return;
        warn(error);
      }
      const ended = await this.#list<string>(ENDED);
      await store.set(
        ENDED,
        ended.filter((other) => other !== id),
      );
    }
  }

  async #show(kept: Kept): Promise<void> {
    const { open, focus, store, bridge } = this.#options;
    const all = await this.#all();
    const isSame = ({ kind, id }: Kept) => kind === kept.kind && id === kept.id;
    const found = Object.entries(all).find(([, other]) => isSame(other));
    if (found) {
      await focus(Number(found[0]));
      return;
    }
    const waiting = (await this.#list<Kept>(WAITING)).filter(
      (other) => !isSame(other),
    );
    if (!hasRoom(Object.values(all), kept)) {
      if (waiting.length >= MAX_WAITING) return;
      await store.set(WAITING, [...waiting, kept]);
      return;
    }
    await store.set(WAITING, waiting);
    if (kept.kind === "permit") {
      const ask = await bridge.request("ask_get", { ask: kept.id });
      const { asker } = ask as AskInfo;
      const origin = asker.kind === "site" ? asker.origin : null;
      if (kept.of && kept.of.origin !== origin) return;
    }
    const { ticket, ...shown } = kept;
    if (ticket !== undefined) {
      const origin = kept.of?.origin;
      await store.set(ticketKey(kept.id), { ticket, origin });
    }
    const window = await open(pageOf(kept), SIZES[kept.kind]);
    await store.set(KEY, { ...all, [window]: shown });
  }

  async #all(): Promise<Record<number, Kept>> {
    const kept = await this.#options.store.get(KEY);
    return (kept ?? {}) as Record<number, Kept>;
  }

  async #list<T>(key: string): Promise<T[]> {
    return ((await this.#options.store.get(key)) ?? []) as T[];
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    // Only a page that compromised the process of its content script requests this many.
    if (this.#waiting >= MAX_WAITING) return this.#last;
    this.#waiting += 1;
    this.#last = this.#last
      .then(work)
      // Whatever one of them meets with is not the business of the next.
      .catch(warn)
      .finally(() => (this.#waiting -= 1));
    return this.#last;
  }
}

/** Whether another window may open: a tab asks one question at a time, and the person may open any. */
function hasRoom(open: Kept[], { kind, of }: Kept): boolean {
  const alike = open.filter((other) => other.kind === kind);
  if (kind === "permit" && !of) return true;
  if (alike.length >= MAX_WINDOWS) return false;
  return kind === "chat" || !alike.some((other) => other.of?.tab === of?.tab);
}

function pageOf({ kind, id }: Kept): string {
  const name = kind === "permit" ? "ask" : "chat";
  return `${kind}.html?${new URLSearchParams({ [name]: id }).toString()}`;
}

const warn = (error: unknown) => console.warn("Gangway:", error);

/** Where the ticket of a chat waits for the window that shows it. */
export function ticketKey(chatId: string): string {
  return `chat:${chatId}`;
}
