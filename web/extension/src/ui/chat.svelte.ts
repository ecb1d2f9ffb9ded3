// The chat of the side panel: its session is created with the first message, and restored when the panel is reopened.
import type { GangwayError, Session } from "@gangway/client";
import type { ActiveTabReadability } from "@gangway/client/web-agent";
import { withPage } from "@gangway/kit/chat/attached.js";
import {
  ConversationState,
  type Source,
} from "@gangway/kit/chat/conversation.svelte.js";
import type { Gangway } from "./gangway.svelte.js";

const KEY = "panel-session";

export class PanelChat extends ConversationState {
  readonly #gangway: Gangway;
  #creating: Promise<Source> | null = null;
  sessionId: string | null = $state(null);
  /** Goes with the next message. */
  page: ActiveTabReadability | null = $state.raw(null);

  constructor(gangway: Gangway, sessionId: string | null = null) {
    super();
    this.#gangway = gangway;
    if (sessionId !== null) this.#follow(sessionId);
  }

  /** The session that the panel showed last, in this run of the browser. */
  static async last(gangway: Gangway): Promise<PanelChat> {
    const kept = (await chrome.storage.session.get(KEY))[KEY];
    return new PanelChat(gangway, typeof kept === "string" ? kept : null);
  }

  /** Continues an existing session. */
  static async open(gangway: Gangway, sessionId: string): Promise<PanelChat> {
    await chrome.storage.session.set({ [KEY]: sessionId });
    return new PanelChat(gangway, sessionId);
  }

  /** Starts over; what was said stays in Gangway. */
  static async fresh(gangway: Gangway): Promise<PanelChat> {
    await chrome.storage.session.remove(KEY);
    return new PanelChat(gangway);
  }

  override async send(prompt: string): Promise<boolean> {
    const { page } = this;
    const sent = await super.send(page ? withPage(prompt, page) : prompt);
    if (sent && this.page === page) this.page = null;
    return sent;
  }

  protected override reach(): Promise<Source> {
    if (this.sessionId !== null) return super.reach();
    this.#creating ??= this.#create().finally(() => (this.#creating = null));
    return this.#creating;
  }

  protected override lost(_error: GangwayError): void {
    void chrome.storage.session.remove(KEY);
  }

  async #create(): Promise<Source> {
    const { sessionId }: Session = await this.#gangway.sessions.create({});
    await chrome.storage.session.set({ [KEY]: sessionId });
    return this.#follow(sessionId);
  }

  #follow(sessionId: string): Source {
    this.sessionId = sessionId;
    const source = this.#gangway.source(sessionId);
    this.attach(source);
    return source;
  }
}
