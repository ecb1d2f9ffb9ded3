// The types that pages are written against; tsc is the test. Nothing here runs.
import type {
  ActiveTabReadability,
  Agent,
  AI,
  ApiError,
  ChatAvailability,
  ChatOpenOptions,
  ChatOpenResult,
  Citation,
  ErrorCode,
  LLMProviderInfo,
  MCPRegistrationResult,
  MCPServerRegistration,
  ModelContext,
  PermissionGrant,
  PermissionScope,
  ReadyDetail,
  RunEvent,
  RuntimeCapabilities,
  StreamToken,
  TextSession,
  ToolDescriptor,
} from "@gangway/client/web-agent";
import { AgentApiError } from "@gangway/client/web-agent";
import { loadGangway, type Gangway } from "@gangway/client/loader";
import "@gangway/client/web-agent/globals";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2
    ? true
    : false;
function same<A, B>(..._proof: Equal<A, B> extends true ? [] : [never]): void {
  // The parameter is the proof.
}
/** Whatever was written against the specification's types takes ours. */
function fits<A, B>(..._proof: A extends B ? [] : [never]): void {
  // The parameter is the proof.
}

// The types as pages may have copied them from the specification.

type SpecifiedScope =
  | "model:prompt"
  | "model:tools"
  | "mcp:tools.list"
  | "mcp:tools.call"
  | "mcp:servers.register"
  | "browser:activeTab.read"
  | "chat:open";
interface SpecifiedFailure {
  code: string;
  message: string;
  details?: unknown;
}
interface SpecifiedTool {
  name: string;
  description?: string;
  inputSchema?: object;
  serverId?: string;
}
interface SpecifiedToken {
  type: "token" | "done" | "error";
  token?: string;
  error?: SpecifiedFailure;
}
interface SpecifiedCited {
  source: "tab" | "tool";
  ref: string;
  excerpt: string;
}
type SpecifiedRun =
  | { type: "status"; message: string }
  | { type: "tool_call"; tool: string; args: unknown }
  | {
      type: "tool_result";
      tool: string;
      result: unknown;
      error?: SpecifiedFailure;
    }
  | { type: "token"; token: string }
  | { type: "final"; output: string; citations?: SpecifiedCited[] }
  | { type: "error"; error: SpecifiedFailure };
interface SpecifiedResult {
  success: boolean;
  error?: { code: string; message: string };
}
interface SpecifiedProvider {
  id: string;
  type: string;
  name: string;
  available: boolean;
  isDefault: boolean;
  isTypeDefault: boolean;
  supportsTools?: boolean;
  isNative?: boolean;
  runtime?: "firefox" | "chrome" | "bridge";
  downloadRequired?: boolean;
  downloadProgress?: number;
}
interface SpecifiedCapabilities {
  firefox: {
    available: boolean;
    hasWllama: boolean;
    hasTransformers: boolean;
    supportsTools: boolean;
  } | null;
  chrome: { available: boolean; supportsTools: boolean } | null;
  harbor: {
    available: boolean;
    bridgeConnected: boolean;
    providers: string[];
  };
}

export async function typed(ai: AI, agent: Agent): Promise<void> {
  same<
    PermissionScope,
    | SpecifiedScope
    | "model:list"
    | "browser:activeTab.click"
    | "browser:activeTab.fill"
    | "browser:activeTab.screenshot"
  >();
  same<
    PermissionGrant,
    "granted-once" | "granted-always" | "denied" | "not-granted"
  >();
  fits<ToolDescriptor, SpecifiedTool>();
  fits<SpecifiedTool, ToolDescriptor>();
  fits<StreamToken, SpecifiedToken>();
  fits<RunEvent, SpecifiedRun>();
  fits<SpecifiedRun, RunEvent>();
  same<RunEvent["type"], SpecifiedRun["type"]>();
  fits<Citation, SpecifiedCited>();
  fits<ApiError, SpecifiedFailure>();
  fits<SpecifiedFailure, ApiError>();
  fits<MCPRegistrationResult, SpecifiedResult & { serverId?: string }>();
  fits<ChatOpenResult, SpecifiedResult & { chatId?: string }>();
  fits<LLMProviderInfo, SpecifiedProvider>();
  fits<SpecifiedProvider, LLMProviderInfo>();
  same<RuntimeCapabilities, SpecifiedCapabilities>();
  same<ChatAvailability, "readily" | "no">();
  same<keyof ActiveTabReadability, "url" | "title" | "text">();
  fits<{ url: string; name: string }, MCPServerRegistration>();
  fits<{ style: { theme: "light" } }, ChatOpenOptions>();

  // The window may have no Gangway.
  same<typeof window.ai, AI | undefined>();
  same<typeof window.agent, Agent | undefined>();
  same<typeof document.modelContext, ModelContext | undefined>();
  // @ts-expect-error it may be absent
  window.agent.tools;
  // @ts-expect-error and cannot be replaced
  window.agent = agent;
  window.addEventListener("agent-ready", (event) => {
    same<typeof event, CustomEvent<ReadyDetail>>();
  });

  const session = await ai.createTextSession();
  same<typeof session, TextSession>();
  await ai.createTextSession({ systemPrompt: "x", temperature: 1, model: "m" });
  // @ts-expect-error a temperature is a number
  await ai.createTextSession({ temperature: "hot" });
  const { signal } = new AbortController();
  const answer: string = await session.prompt("x", { signal });
  void answer;
  for await (const event of session.promptStreaming("x", { signal })) {
    same<typeof event, StreamToken>();
    if (event.type === "error")
      same<typeof event.error, ApiError | undefined>();
  }
  same<ReturnType<typeof session.destroy>, Promise<void>>();
  const best = await ai.runtime.getBest();
  same<typeof best, "firefox" | "chrome" | "harbor" | null>();

  const permitted = await agent.requestPermissions({
    scopes: ["model:prompt", "model:list"],
    reason: "why",
    tools: ["a/b"],
  });
  same<typeof permitted.granted, boolean>();
  same<
    (typeof permitted.scopes)["model:prompt"],
    PermissionGrant | undefined
  >();
  // @ts-expect-error there is no such scope
  await agent.requestPermissions({ scopes: ["root"] });
  // @ts-expect-error scopes are asked for
  await agent.requestPermissions({ reason: "why" });
  const status = await agent.permissions.list();
  same<(typeof status.scopes)["chat:open"], PermissionGrant>();

  const value = await agent.tools.call({ tool: "a/b", args: {} });
  same<typeof value, unknown>();
  const sum = await agent.tools.call<{ sum: number }>({ tool: "a/b" });
  same<typeof sum.sum, number>();
  // @ts-expect-error a tool is named
  await agent.tools.call({ args: {} });

  for await (const event of agent.run({ task: "x", maxToolCalls: 3, signal })) {
    switch (event.type) {
      case "tool_call":
        same<typeof event.args, unknown>();
        break;
      case "final":
        same<typeof event.citations, Citation[] | undefined>();
        break;
      case "error":
        same<typeof event.error, ApiError>();
    }
  }
  // @ts-expect-error a task is asked for
  agent.run({ tools: [] });

  const [server] = await agent.mcp.discover();
  same<NonNullable<typeof server>["tools"], string[] | undefined>();
  const registered = await agent.mcp.register({ url: "/mcp", name: "Shop" });
  if (registered.error?.code === "INVALID_URL") return;
  // @ts-expect-error there is no such code
  if (registered.error?.code === "OTHER") return;
  const chat = await agent.chat.open({ style: { accentColor: "#fff" } });
  if (chat.chatId) await agent.chat.close(chat.chatId);

  await document.modelContext?.registerTool(
    { name: "add", description: "Adds", execute: ({ a }) => a },
    { signal },
  );
  // @ts-expect-error a tool has something to carry out
  await document.modelContext?.registerTool({ name: "x", description: "d" });

  const loaded = await loadGangway({ url: "http://localhost:3000" });
  same<typeof loaded, Gangway>();
  const error = new AgentApiError("ERR_ABORTED", "words", { any: "thing" });
  fits<typeof error, Error>();
  fits<typeof error, ApiError>();
  fits<ErrorCode, ApiError["code"]>();
}
