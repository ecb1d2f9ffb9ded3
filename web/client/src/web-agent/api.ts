// What a page finds on window.ai and window.agent.
import type { ApiError } from "./errors.js";

export type { ApiError, ErrorCode } from "./errors.js";

export type PermissionScope =
  | "model:prompt"
  | "model:tools"
  | "model:list"
  | "mcp:tools.list"
  | "mcp:tools.call"
  | "mcp:servers.register"
  | "browser:activeTab.read"
  | "browser:activeTab.click"
  | "browser:activeTab.fill"
  | "browser:activeTab.screenshot"
  | "chat:open";

export type PermissionGrant =
  "granted-once" | "granted-always" | "denied" | "not-granted";

/** Ends what it is given to. */
export interface Abortable {
  signal?: AbortSignal;
}

export interface PermissionRequest extends Abortable {
  scopes: PermissionScope[];
  /** Shown to the user as the site's text. */
  reason?: string;
  /** The tools that are wanted, by name; without it, all there are. */
  tools?: string[];
}

export interface PermissionAnswer {
  /** True when every scope that was asked for is granted. */
  granted: boolean;
  scopes: Partial<Record<PermissionScope, PermissionGrant>>;
  /** The tools that may be called; absent if the user was not asked about tools. */
  allowedTools?: string[];
}

export interface PermissionStatus {
  origin: string;
  scopes: Record<PermissionScope, PermissionGrant>;
  allowedTools?: string[];
}

export interface ToolDescriptor {
  /** `serverId/toolName`. */
  name: string;
  description?: string;
  inputSchema?: object;
  serverId?: string;
}

export interface ToolCall extends Abortable {
  tool: string;
  args?: unknown;
}

export interface ActiveTabReadability {
  url: string;
  title: string;
  text: string;
}

/** An element of the page that can be clicked or filled in. */
export interface BrowserElement {
  /** Names it in `click` and `fill` for as long as the document is open. */
  ref: string;
  role: string;
  text: string;
  /** The `type` of an input. */
  type?: string;
  placeholder?: string;
  /** What a field holds; never of fields for passwords and payment. */
  value?: string;
  checked?: boolean;
  disabled?: boolean;
}

export interface ScreenshotOptions extends Abortable {
  /** JPEG by default. */
  format?: "png" | "jpeg";
  /** Of a JPEG, 0 to 1. */
  quality?: number;
}

export interface Screenshot {
  dataUrl: string;
  width: number;
  height: number;
}

export interface StreamToken {
  type: "token" | "done" | "error";
  token?: string;
  error?: ApiError;
}

export interface Citation {
  source: "tab" | "tool";
  ref: string;
  excerpt: string;
}

export type RunEvent =
  | { type: "status"; message: string }
  | { type: "tool_call"; tool: string; args: unknown }
  | { type: "tool_result"; tool: string; result: unknown; error?: ApiError }
  | { type: "token"; token: string }
  | { type: "final"; output: string; citations?: Citation[] }
  | { type: "error"; error: ApiError };

export interface RunOptions extends Abortable {
  task: string;
  /** Only these, by exact name or `server/*`; leaves the router out. */
  tools?: string[];
  /** True leaves the router out. */
  useAllTools?: boolean;
  /** How many tools may be called, 0 to 50; 5 by default. */
  maxToolCalls?: number;
  requireCitations?: boolean;
  provider?: string;
  model?: string;
  systemPrompt?: string;
}

export interface TextSessionOptions extends Abortable {
  systemPrompt?: string;
  /** 0 to 2. */
  temperature?: number;
  provider?: string;
  model?: string;
}

export interface TextSession {
  readonly sessionId: string;
  /** A new session with the history of this one. */
  clone(options?: Abortable): Promise<TextSession>;
  prompt(input: string, options?: Abortable): Promise<string>;
  promptStreaming(
    input: string,
    options?: Abortable,
  ): AsyncIterableIterator<StreamToken>;
  destroy(): Promise<void>;
}

export interface LLMProviderInfo {
  id: string;
  type: string;
  name: string;
  available: boolean;
  isDefault: boolean;
  isTypeDefault: boolean;
  supportsTools?: boolean;
  /** True for the browser's own. */
  isNative?: boolean;
  runtime?: "firefox" | "chrome" | "bridge";
  downloadRequired?: boolean;
  downloadProgress?: number;
  /** The models that it is known to have, by the names to pass as `model`. */
  models?: string[];
}

/** What answers when a page names no provider. */
export interface ActiveProvider {
  provider: string | null;
  model: string | null;
}

export type TextAvailability = "readily" | "after-download" | "no";

export interface PromptMessage {
  role: "system" | "user" | "assistant";
  content: string;
}

export interface LanguageModelOptions extends Abortable {
  systemPrompt?: string;
  initialPrompts?: PromptMessage[];
  temperature?: number;
  topK?: number;
}

/** A session as in Chrome's Prompt API. */
export interface LanguageModelSession {
  prompt(input: string | PromptMessage[], options?: Abortable): Promise<string>;
  promptStreaming(
    input: string | PromptMessage[],
    options?: Abortable,
  ): ReadableStream<string>;
  clone(options?: Abortable): Promise<LanguageModelSession>;
  destroy(): void;
}

/** `detail` of `agent-ready` and `ai-ready`. */
export interface ReadyDetail {
  readonly version: string;
  readonly providers: readonly string[];
  readonly features: readonly string[];
}

export interface RuntimeCapabilities {
  firefox: {
    available: boolean;
    hasWllama: boolean;
    hasTransformers: boolean;
    supportsTools: boolean;
  } | null;
  chrome: { available: boolean; supportsTools: boolean } | null;
  harbor: { available: boolean; bridgeConnected: boolean; providers: string[] };
}

export type Runtime = "firefox" | "chrome" | "harbor";

/** A server that the page names in a `<link rel="mcp-server">`. */
export interface DeclaredServer {
  url: string;
  title: string;
  description?: string;
  tools?: string[];
  transport?: string;
  icon?: string;
}

export interface MCPServerRegistration extends Abortable {
  url: string;
  name: string;
  description?: string;
  tools?: string[];
  transport?: string;
}

export type RegistrationErrorCode =
  "USER_DENIED" | "INVALID_URL" | "CONNECTION_FAILED" | "NOT_SUPPORTED";

export interface MCPRegistrationResult {
  success: boolean;
  serverId?: string;
  error?: { code: RegistrationErrorCode; message: string };
}

export type ChatAvailability = "readily" | "no";

export interface ChatOpenOptions extends Abortable {
  systemPrompt?: string;
  tools?: string[];
  style?: { theme?: string; accentColor?: string };
}

export type ChatErrorCode =
  "USER_DENIED" | "NOT_AVAILABLE" | "ALREADY_OPEN" | "PERMISSION_REQUIRED";

export interface ChatOpenResult {
  success: boolean;
  chatId?: string;
  error?: { code: ChatErrorCode; message: string };
}

export interface Done {
  success: boolean;
}

/** window.ai */
export interface AI {
  /** Without a provider and a model: the person's default, or the browser's own model where Gangway has none to use. */
  createTextSession(options?: TextSessionOptions): Promise<TextSession>;
  /** `no` where the person refused, or there is no model as far as the page may know. */
  canCreateTextSession(options?: Abortable): Promise<TextAvailability>;
  /** As in Chrome's Prompt API, with the person's models. */
  readonly languageModel: {
    availability(
      options?: Abortable,
    ): Promise<"available" | "downloadable" | "unavailable">;
    create(options?: LanguageModelOptions): Promise<LanguageModelSession>;
  };
  readonly providers: {
    list(options?: Abortable): Promise<LLMProviderInfo[]>;
    getActive(options?: Abortable): Promise<ActiveProvider>;
  };
  readonly runtime: {
    /** Who answers when a page names no provider: Gangway (`harbor`) where it has a model to use, else the browser. */
    getBest(options?: Abortable): Promise<Runtime | null>;
    getCapabilities(options?: Abortable): Promise<RuntimeCapabilities>;
  };
}

/** window.agent */
export interface Agent {
  requestPermissions(request: PermissionRequest): Promise<PermissionAnswer>;
  readonly permissions: {
    list(options?: Abortable): Promise<PermissionStatus>;
  };
  readonly tools: {
    list(options?: Abortable): Promise<ToolDescriptor[]>;
    call<T = unknown>(call: ToolCall): Promise<T>;
  };
  run(options: RunOptions): AsyncIterableIterator<RunEvent>;
  readonly browser: {
    readonly activeTab: {
      readability(options?: Abortable): Promise<ActiveTabReadability>;
      /** What can be clicked and filled in on this page, as far as it is visible; at most 300. */
      getElements(options?: Abortable): Promise<BrowserElement[]>;
      /** The target is a CSS selector that matches one element, or a `ref` of `getElements`. */
      click(target: string, options?: Abortable): Promise<Done>;
      /** Sets the value of a field, or chooses an option by its value or text. */
      fill(target: string, value: string, options?: Abortable): Promise<Done>;
      /** What the tab shows of this page; its frames are left blank. */
      screenshot(options?: ScreenshotOptions): Promise<Screenshot>;
    };
  };
  readonly mcp: {
    discover(): Promise<DeclaredServer[]>;
    register(server: MCPServerRegistration): Promise<MCPRegistrationResult>;
    unregister(serverId: string): Promise<Done>;
  };
  readonly chat: {
    canOpen(options?: Abortable): Promise<ChatAvailability>;
    open(options?: ChatOpenOptions): Promise<ChatOpenResult>;
    close(chatId: string): Promise<Done>;
  };
}

/** A tool that the page itself carries out. */
export interface ModelContextTool {
  name: string;
  title?: string;
  description: string;
  inputSchema?: object;
  annotations?: { readOnlyHint?: boolean };
  execute(
    input: Record<string, unknown>,
    client: { readonly signal?: AbortSignal },
  ): unknown;
}

/** A tool as `getTools` lists it. */
export interface RegisteredTool {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly inputSchema?: object;
  readonly origin: string;
}

/** document.modelContext and navigator.modelContext, as in Chromium's preview of WebMCP. */
export interface ModelContext extends EventTarget {
  /** The tool is there until the signal is aborted. */
  registerTool(tool: ModelContextTool, options?: Abortable): Promise<void>;
  /** Adds these tools in place of those that were added this way before; earlier drafts had it. */
  provideContext?(context: { tools?: ModelContextTool[] }): Promise<void>;
  getTools(): Promise<RegisteredTool[]>;
  /** The input is an object, or JSON text of one. The result is JSON text. */
  executeTool(
    tool: RegisteredTool,
    input: object | string,
    options?: Abortable,
  ): Promise<string | null>;
  ontoolchange: ((this: ModelContext, event: Event) => unknown) | null;
}
