// A chat that a page of another site opened beside itself.
import {
  Applets,
  closePanel,
  enterPanel,
  parentIn,
  GangwayError,
  Http,
  Sessions,
  type PanelInfo,
} from "@gangway/client";
import { dress } from "../panel/dress.js";
import { ChatState } from "./chat.svelte.js";
import { failureOf } from "./failure.js";

export class PanelState {
  readonly #http = new Http();
  opened: PanelInfo | null = $state.raw(null);
  chat: ChatState | null = $state.raw(null);
  /** Why there is no chat. */
  failure: GangwayError | null = $state.raw(null);
  closed = $state(false);

  /** Takes the ticket out of the address: it is good once, and nobody's business. */
  async enter(): Promise<void> {
    const ticket = location.hash.slice(1);
    const origin = parentIn(location.search);
    history.replaceState(null, "", location.pathname + location.search);
    this.failure = await failureOf(async () => {
      const opened = await enterPanel(this.#http, { ticket, origin });
      dress(opened.style);
      this.opened = opened;
      this.chat = new ChatState(
        new Sessions(this.#http),
        new Applets(this.#http),
        {
          created: () => undefined,
          changed: () => undefined,
          deleted: () => (this.closed = true),
          reload: () => undefined,
          opened: () => undefined,
          choseAgent: () => undefined,
        },
        opened.sessionId,
      );
    });
  }

  /** The page hears of it and takes the panel away. */
  async close(): Promise<void> {
    const { opened } = this;
    if (!opened) return;
    await failureOf(() => closePanel(this.#http, opened.chatId));
    this.closed = true;
    this.chat?.dispose();
  }
}
