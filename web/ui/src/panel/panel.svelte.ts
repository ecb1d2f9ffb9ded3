// A chat that a page of another site opened beside itself.
import {
  closePanel,
  enterPanel,
  parentIn,
  GangwayError,
  Http,
  Sessions,
  type PanelInfo,
} from "@gangway/client";
import { dress } from "@gangway/kit/chat/dress.js";
import {
  ConversationState,
  sessionSource,
} from "@gangway/kit/chat/conversation.svelte.js";
import { failureOf } from "@gangway/kit/parts/failure.js";

export class PanelState {
  readonly #http = new Http({ apiKey: () => this.opened?.token });
  #left = $state(false);
  opened: PanelInfo | null = $state.raw(null);
  chat: ConversationState | null = $state.raw(null);
  /** Why there is no chat. */
  failure: GangwayError | null = $state.raw(null);

  /** True when this person closed it, or the page did. */
  get closed(): boolean {
    return this.#left || [404, 410].includes(this.chat?.failure?.status ?? 0);
  }

  /** Removes the ticket from the URL: it is valid once, and secret. */
  async enter(): Promise<void> {
    const ticket = location.hash.slice(1);
    const origin = parentIn(location.search);
    history.replaceState(null, "", location.pathname + location.search);
    this.failure = await failureOf(async () => {
      const opened = await enterPanel(this.#http, { ticket, origin });
      dress(opened.style);
      this.opened = opened;
      this.chat = new ConversationState();
      const sessions = new Sessions(this.#http);
      this.chat.attach(sessionSource(sessions, opened.sessionId));
    });
  }

  /** The page is notified and removes the panel. */
  async close(): Promise<void> {
    const { opened } = this;
    if (!opened) return;
    await failureOf(() => closePanel(this.#http, opened.chatId));
    this.#left = true;
    this.chat?.dispose();
  }
}
