// Everything the page knows; made once and handed down by context.
import {
  Applets,
  Apps,
  Asks,
  Demo,
  GangwayError,
  Pages,
  Permissions,
  RemoteAgents,
  Sessions,
  Tools,
  type AskInfo,
  type RemoteAgentInfo,
} from "@gangway/client";
import { createContext } from "svelte";
import { appletIn } from "./applets/slug.js";
import { launchedIn } from "./apps/address.js";
import {
  pageInPath,
  PATHS,
  pathOf,
  push,
  sessionInPath,
  type Page,
  type SidePage,
} from "./shell/address.js";
import { AgentsState } from "./chat/agents.svelte.js";
import { AppsState } from "./apps/apps.svelte.js";
import { AsksState } from "@gangway/kit/asks/asks.svelte.js";
import {
  headingOf,
  nameOf,
  sessionOf,
  WANTS,
} from "@gangway/kit/asks/words.js";
import { ChatState } from "./chat/chat.svelte.js";
import { PagesState } from "./chat/pages.svelte.js";
import { DemoState } from "./demo/demo.svelte.js";
import { GalleryState } from "./applets/gallery.svelte.js";
import { LaunchState } from "./apps/launch.svelte.js";
import type { LoginState } from "./login/login.svelte.js";
import { LoginsState } from "./permissions/logins.svelte.js";
import { ModelsState } from "./models/models.svelte.js";
import { NotifyState } from "./shell/notify.svelte.js";
import { PermissionsState } from "@gangway/kit/permissions/permissions.svelte.js";
import { RemoteAgentsState } from "./agents/remote-agents.svelte.js";
import { SessionListState } from "./shell/session-list.svelte.js";
import { SplitState } from "./applets/split.svelte.js";
import { ThemeState } from "./shell/theme.svelte.js";
import { ToolsState } from "./tools/tools.svelte.js";

export const [getApp, setApp] = createContext<AppState>();

// How often the list is read again while a session elsewhere is at work.
const REFRESH_MS = 10_000;

export class AppState {
  readonly #stop = new AbortController();
  readonly #sessions: Sessions;
  readonly #applets: Applets;
  readonly list: SessionListState;
  readonly agents: AgentsState;
  readonly models: ModelsState;
  readonly tools: ToolsState;
  /** The requests that wait for the person. */
  readonly asks: AsksState;
  /** What pages of other sites may do. */
  readonly permissions: PermissionsState;
  readonly #pages: Pages;
  /** The agents that run elsewhere, and what they are made of. */
  readonly remote: RemoteAgentsState;
  /** The applets there are. */
  readonly gallery: GalleryState;
  /** The apps there are. */
  readonly apps: AppsState;
  /** The app that was launched beside the chat. */
  readonly launch: LaunchState;
  readonly demo: DemoState;
  readonly split = new SplitState();
  readonly login: LoginState;
  /** The browsers that are logged in. */
  readonly logins: LoginsState;
  readonly theme = new ThemeState();
  readonly notify = new NotifyState();
  /** What is shown beside the list. */
  page: Page = $state(pageInPath());
  chat: ChatState;
  /** The applet beside the chat, whether there is such a one or not. */
  applet: string | null = $state(appletIn(location.search));
  /** The applet that was closed last, to open it again. */
  closed: string | null = $state(null);
  /** Counts how often the applet was asked to reload. */
  appletLoads = $state(0);
  drawerOpen = $state(false);
  helpOpen = $state(false);

  constructor(login: LoginState) {
    const { http } = login;
    this.login = login;
    this.logins = new LoginsState(http);
    this.#sessions = new Sessions(http);
    this.#applets = new Applets(http);
    this.list = new SessionListState(this.#sessions);
    this.gallery = new GalleryState(this.#applets);
    const apps = new Apps(http);
    this.apps = new AppsState(apps);
    this.launch = new LaunchState(apps);
    this.demo = new DemoState(new Demo(http));
    this.agents = new AgentsState(http);
    this.models = new ModelsState(http);
    this.tools = new ToolsState(new Tools(http));
    this.asks = new AsksState(new Asks(http), {
      chat: () => (this.page === "chat" ? this.chat.sessionId : null),
    });
    this.permissions = new PermissionsState(new Permissions(http));
    this.#pages = new Pages(http);
    this.remote = new RemoteAgentsState(new RemoteAgents(http));
    this.chat = $state.raw(this.#chatOf(sessionInPath()));
    const { signal } = this.#stop;
    const on = { signal };
    window.addEventListener("popstate", () => this.#follow(), on);
    document.addEventListener("visibilitychange", () => this.#refresh(), on);
    const timer = setInterval(() => {
      if (this.list.all.some(({ state }) => state === "running")) {
        this.#refresh();
      }
    }, REFRESH_MS);
    signal.addEventListener("abort", () => clearInterval(timer));
    const unwatch = this.remote.watch((agent) => this.#waits(agent));
    signal.addEventListener("abort", unwatch);
    const unfollow = this.asks.follow((ask) => this.#asked(ask));
    signal.addEventListener("abort", unfollow);
    void this.#begin();
  }

  /** The pages of a chat, while the dialog about them is open. */
  pagesOf(sessionId: string): PagesState {
    return new PagesState(this.#pages, sessionId);
  }

  dispose(): void {
    this.#stop.abort();
    this.demo.dispose();
    this.chat.dispose();
  }

  async load(): Promise<void> {
    await Promise.all([
      this.list.refresh(),
      this.#loadAgents(),
      this.gallery.load(),
      this.apps.load(),
      this.models.providers.loadDefault(),
    ]);
  }

  open(sessionId: string | null): void {
    push(pathOf(sessionId));
    this.#turnTo("chat");
    this.applet = null;
    this.closed = null;
    this.launch.point(null);
    this.#show(sessionId);
  }

  /** Puts an applet beside the chat that is open. */
  openApplet(slug: string): void {
    this.#turnTo("chat");
    this.applet = slug;
    this.launch.point(null);
    push(this.chatPath);
    this.split.side = "applet";
    void this.prepareApplet();
  }

  closeApplet(): void {
    this.closed = this.applet;
    this.applet = null;
    push(this.chatPath);
  }

  /** Reloads the applet from disk. */
  reloadApplet(): void {
    this.appletLoads += 1;
    void this.prepareApplet();
  }

  /** An applet needs a session: a new chat gets one now, if the applet can be opened at all. */
  async prepareApplet(): Promise<void> {
    const { applet, chat } = this;
    if (applet === null) return;
    await this.gallery.load();
    const info = this.gallery.find(applet);
    if (!info || info.problem || chat.sessionId !== null) return;
    // The user may have navigated away in the meantime.
    if (chat === this.chat && applet === this.applet) await chat.begin();
  }

  /** Puts an app beside the chat: a launch that there is, or a new one. */
  openLaunch(app: string, launch: string | null = null): void {
    this.#turnTo("chat");
    this.applet = null;
    this.launch.point(null);
    this.launch.point({ app, launch });
    this.split.side = "applet";
    push(this.chatPath);
    void this.prepareLaunch();
  }

  closeLaunch(): void {
    this.launch.point(null);
    push(this.chatPath);
  }

  /** A launch needs a session; the address keeps the launch, so that reloading the page finds it again. */
  async prepareLaunch(): Promise<void> {
    const { launch, chat } = this;
    if (launch.app === null) return;
    if (chat.sessionId === null) await chat.begin();
    if (chat.sessionId === null || chat !== this.chat) return;
    await launch.show(chat.sessionId);
    if (this.page === "chat") history.replaceState(null, "", this.chatPath);
  }

  turnTo(page: SidePage): void {
    push(PATHS[page]);
    this.#turnTo(page);
  }

  /** Where the open chat is. */
  get chatPath(): string {
    return this.#pathOf(this.chat.sessionId);
  }

  /** Goes back to the chat that was open, as it was left. */
  backToChat(): void {
    push(this.chatPath);
    this.#turnTo("chat");
  }

  async logOut(): Promise<void> {
    try {
      await this.login.leave();
    } catch (error) {
      if (!(error instanceof GangwayError)) throw error;
      this.list.error = error;
    }
  }

  async deleteSession(sessionId: string): Promise<void> {
    const current = this.chat.sessionId === sessionId;
    // Its feed would report the loss of what was deleted on purpose.
    if (current) this.chat.dispose();
    try {
      await this.list.delete(sessionId);
    } catch (error) {
      if (current) this.#show(sessionId);
      throw error;
    }
    if (!current) return;
    // A page beside the chat stays where it is.
    if (this.page === "chat") this.open(null);
    else this.#show(null);
  }

  async #begin(): Promise<void> {
    void this.demo.look();
    await this.load();
    if (this.#stop.signal.aborted) return;
    await this.prepareApplet();
    await this.prepareLaunch();
  }

  /** Shows what the address says after the browser went back or forward. */
  #follow(): void {
    this.#turnTo(pageInPath());
    if (this.page !== "chat") return;
    this.applet = appletIn(location.search);
    this.launch.point(launchedIn(location.search));
    const sessionId = sessionInPath();
    if (sessionId !== this.chat.sessionId) this.#show(sessionId);
    void this.prepareApplet();
    if (this.launch.url === null) void this.prepareLaunch();
  }

  /** Opens an applet beside the chat, and beside an app that is there, without interrupting the user. */
  #showApplet(slug: string): void {
    if (this.applet !== slug) {
      this.applet = slug;
      this.split.side = "chat";
      if (this.page === "chat") push(this.chatPath);
    }
    void this.prepareApplet();
  }

  #pathOf(sessionId: string | null): string {
    const { applet, launch } = this;
    return pathOf(sessionId, { applet, app: launch.app, launch: launch.id });
  }

  #turnTo(page: Page): void {
    // A model that was connected there makes agents ready.
    if (this.page === "models" && page === "chat") void this.#loadAgents();
    this.page = page;
    this.drawerOpen = false;
  }

  #show(sessionId: string | null): void {
    this.chat.dispose();
    this.drawerOpen = false;
    this.chat = this.#chatOf(sessionId);
  }

  #chatOf(sessionId: string | null): ChatState {
    const chat = new ChatState(
      this.#sessions,
      this.#applets,
      {
        created: (session) => {
          if (this.page === "chat") {
            const path = this.#pathOf(session.sessionId);
            history.replaceState(null, "", path);
          }
          this.list.put(session);
        },
        changed: (session) => this.list.put(session),
        deleted: (id) => this.list.forget(id),
        opened: (applet) => this.#showApplet(applet),
        choseAgent: (agent) => this.agents.remember(agent),
        reload: (applet) => {
          if (applet === null) location.reload();
          // An open frame reloads itself; what is new of its name or its problem is read here.
          else if (applet === this.applet) void this.prepareApplet();
        },
      },
      sessionId,
    );
    chat.chosenAgent = this.agents.preferred();
    return chat;
  }

  /** Notifies the user of a waiting agent if the page is not visible. */
  #waits({ agent_id, session_id, ...agent }: RemoteAgentInfo): void {
    const title = `${agent.project_name} · ${agent.persona_slug} is waiting for you`;
    this.notify.show(title, "The agent has a question.", agent_id, () =>
      this.open(session_id),
    );
  }

  #asked(ask: AskInfo): void {
    const words = `${nameOf(ask.asker)} ${WANTS[ask.request.type]}.`;
    this.notify.show(headingOf(ask), words, ask.id, () => {
      const session = sessionOf(ask);
      if (session === null) this.asks.review(ask);
      else this.open(session);
    });
  }

  #refresh(): void {
    if (document.visibilityState === "visible") void this.list.refresh();
  }

  async #loadAgents(): Promise<void> {
    try {
      await this.agents.load();
      this.chat.chosenAgent ??= this.agents.preferred();
    } catch (error) {
      // The list shows the same failure, with a way to try again.
      if (!(error instanceof GangwayError)) throw error;
    }
  }
}
