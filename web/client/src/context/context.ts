// What an app finds on its window when an agent launched it.
import type {
  ToolDescription,
  ToolHandler,
  Unregister,
} from "../page-tools.js";

export interface AgentContext {
  /** Who launched the app. */
  readonly agent: {
    readonly name: string;
    readonly version: string;
    readonly capabilities: string[];
  };
  /** What the agent gave the app to work with. */
  readonly data: Readonly<Record<string, unknown>>;
  /** How the agent wants the app to be. */
  readonly config: Readonly<Record<string, unknown>>;
  /** Sends an event to the agent; resolves once the agent has acknowledged it. */
  emit(event: string, payload?: unknown): Promise<void>;
  /** Asks the agent to do something; kept with its answer. */
  request<T = unknown>(action: string, params?: unknown): Promise<T>;
  /** Listens to the agent; gives back how to stop. */
  on(event: string, handler: (payload: unknown) => void): () => void;
  off(event: string, handler: (payload: unknown) => void): void;
  /** Offers a tool to every agent of the session; gives back how to withdraw it. */
  registerTool(tool: ToolDescription, handler: ToolHandler): Unregister;
  /** Only where the page is shown in the replay of a session. */
  readonly replay?: AppReplay;
}

export interface AppReplay {
  /**
   * Has each state that the page reported at the relay (`uiSpec`, `messageHistory`) shown again, by one handler; null
   * where there is none yet. A page that shows states does nothing else.
   */
  readonly onState: (handler: (state: unknown) => void) => void;
}

declare global {
  interface Window {
    __AGENT_CONTEXT__?: AgentContext;
  }
}
