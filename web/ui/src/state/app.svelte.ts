// Everything the page knows; made once and handed down by context.
import {
  GangwayError,
  Http,
  logIn,
  logOut,
  Sessions,
  Tools,
} from "@gangway/client";
import { createContext } from "svelte";
import { AgentsState } from "./agents.svelte.js";
import { ChatState } from "./chat.svelte.js";
import { failureOf } from "./failure.js";
import { Gate, needsLeave } from "./gate.svelte.js";
import { ModelsState } from "./models.svelte.js";
import { QuestionsState } from "./questions.svelte.js";
import { SessionListState } from "./session-list.svelte.js";
import { read, write } from "./storage.js";
import { ThemeState } from "./theme.svelte.js";
import { ToolsState } from "./tools.svelte.js";

export const [getApp, setApp] = createContext<AppState>();

// How often the list is read again while a session elsewhere is at work.
const REFRESH_MS = 10_000;

const LOGIN_PATH = "/api/login";

/** The pages beside the chat, and where they are. */
export const PATHS = { models: "/models", tools: "/tools" } as const;
export type SidePage = keyof typeof PATHS;
export type Page = "chat" | SidePage;

export class AppState {
  readonly #http: Http;
  readonly #sessions: Sessions;
  readonly list: SessionListState;
  readonly agents: AgentsState;
  readonly models: ModelsState;
  readonly tools: ToolsState;
  readonly questions: QuestionsState;
  /** Asks for a key where a change needs one. */
  readonly gate: Gate;
  readonly theme = new ThemeState();
  /** What is shown beside the list. */
  page: Page = $state(pageInPath());
  chat: ChatState;
  /** True when the server wants an API key first. */
  locked = $state(false);
  /** True after a log-in here; the cookie itself is hidden from the page. */
  loggedIn = $state(read("logged-in") !== null);
  drawerOpen = $state(false);
  helpOpen = $state(false);

  constructor() {
    this.#http = new Http({ fetch: (input, init) => this.#fetch(input, init) });
    this.#sessions = new Sessions(this.#http);
    this.list = new SessionListState(this.#sessions);
    this.agents = new AgentsState(this.#http);
    this.models = new ModelsState(this.#http);
    this.gate = new Gate((key) => this.logIn(key));
    const tools = new Tools(this.#http);
    this.tools = new ToolsState(tools);
    this.questions = new QuestionsState(tools);
    this.chat = $state.raw(this.#chatOf(sessionInPath()));
    window.addEventListener("popstate", () => this.#follow());
    document.addEventListener("visibilitychange", () => this.#refresh());
    setInterval(() => {
      if (this.list.all.some(({ state }) => state === "running")) {
        this.#refresh();
      }
    }, REFRESH_MS);
    void this.#begin();
  }

  async load(): Promise<void> {
    await Promise.all([
      this.list.refresh(),
      this.#loadAgents(),
      this.models.providers.loadDefault(),
    ]);
  }

  open(sessionId: string | null): void {
    push(pathOf(sessionId));
    this.#turnTo("chat");
    this.#show(sessionId);
  }

  turnTo(page: SidePage): void {
    push(PATHS[page]);
    this.#turnTo(page);
  }

  /** Where the open chat is. */
  get chatPath(): string {
    return pathOf(this.chat.sessionId);
  }

  /** Goes back to the chat that was open, as it was left. */
  backToChat(): void {
    push(this.chatPath);
    this.#turnTo("chat");
  }

  async logIn(key: string): Promise<void> {
    await logIn(this.#http, key);
    this.loggedIn = true;
    write("logged-in", "yes");
    if (!this.locked) return;
    this.locked = false;
    this.#show(sessionInPath());
    await this.load();
  }

  async logOut(): Promise<void> {
    try {
      await logOut(this.#http);
    } catch (error) {
      if (!(error instanceof GangwayError)) throw error;
      this.list.error = error;
      return;
    }
    write("logged-in", "");
    // A fresh page keeps nothing of what was read here; the server asks for a key again.
    location.assign("/");
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

  /** Logs in with the code of a link, where there is one, and reads what the page shows. */
  async #begin(): Promise<void> {
    const code = takeCode();
    // One that is no longer good is no harm: the page asks when it needs to.
    if (code) await failureOf(() => this.logIn(code));
    await this.load();
  }

  /** Shows what the address says after the browser went back or forward. */
  #follow(): void {
    const left = this.page;
    this.#turnTo(pageInPath());
    const kept = left !== "chat" && this.chatPath === location.pathname;
    if (this.page === "chat" && !kept) this.#show(sessionInPath());
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
      {
        created: (session) => {
          if (this.page === "chat") {
            history.replaceState(null, "", pathOf(session.sessionId));
          }
          this.list.put(session);
        },
        changed: (session) => this.list.put(session),
        deleted: (id) => this.list.forget(id),
        choseAgent: (agent) => this.agents.remember(agent),
        reload: () => location.reload(),
      },
      sessionId,
    );
    chat.chosenAgent = this.agents.preferred();
    return chat;
  }

  #refresh(): void {
    if (document.visibilityState === "visible" && !this.locked) {
      void this.list.refresh();
    }
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

  async #fetch(...args: Parameters<typeof fetch>): Promise<Response> {
    const response = await fetch(...args);
    if (response.status !== 401) return response;
    const [path, init] = args;
    if (typeof path === "string" && needsLeave(path, init?.method)) {
      return this.gate.pass(() => fetch(...args));
    }
    // A key that is not right is told where it was typed.
    if (path !== LOGIN_PATH) this.locked = true;
    return response;
  }
}

/** The code that `gangway login` put into the address, which forgets it. */
function takeCode(): string | null {
  const code = /^#login=([\w-]+)$/.exec(location.hash)?.[1];
  if (code) history.replaceState(null, "", location.pathname);
  return code ?? null;
}

function sessionInPath(): string | null {
  const found = /^\/sessions\/([^/]+)\/?$/.exec(location.pathname);
  // Ids need no decoding; whatever else is written here, the server says that it is not there.
  return found?.[1] ?? null;
}

function pageInPath(): Page {
  const path = location.pathname.replace(/\/$/, "");
  const pages = Object.keys(PATHS) as SidePage[];
  return pages.find((page) => PATHS[page] === path) ?? "chat";
}

function push(path: string): void {
  if (path !== location.pathname) history.pushState(null, "", path);
}

function pathOf(sessionId: string | null): string {
  return sessionId ? `/sessions/${encodeURIComponent(sessionId)}` : "/";
}
