// The types that apps are written against; tsc is the test. Nothing here runs.
import {
  AgentDeniedError,
  AgentError,
  AgentTimeoutError,
  emitToAgent,
  getAgentConfig,
  getAgentContext,
  getAgentData,
  isAgentLaunched,
  requestAgentAction,
  requireAgentContext,
  type AgentContext,
} from "@gangway/client/agent";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2
    ? true
    : false;
function same<A, B>(..._proof: Equal<A, B> extends true ? [] : [never]): void {
  // The parameter is the proof.
}

/** The interface as apps may have copied it from its specification. */
interface Specified {
  readonly agent: {
    readonly name: string;
    readonly version: string;
    readonly capabilities: string[];
  };
  readonly data: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
  emit(event: string, payload?: unknown): Promise<void>;
  request<T = unknown>(action: string, params?: unknown): Promise<T>;
  on(event: string, handler: (payload: unknown) => void): void;
  off(event: string, handler: (payload: unknown) => void): void;
}

export async function typed(context: AgentContext): Promise<void> {
  const specified: Specified = context;
  void specified;
  same<typeof window.__AGENT_CONTEXT__, AgentContext | undefined>();
  same<ReturnType<typeof getAgentContext>, AgentContext | null>();
  same<ReturnType<typeof requireAgentContext>, AgentContext>();
  same<ReturnType<typeof isAgentLaunched>, boolean>();
  same<AgentContext["data"], Readonly<Record<string, unknown>>>();
  same<AgentContext["agent"]["capabilities"], string[]>();

  // @ts-expect-error the context may be absent
  getAgentContext().agent;
  // @ts-expect-error the context is not to be changed
  context.data = {};
  // @ts-expect-error nor is what is in it
  context.data["foo"] = "bar";
  // @ts-expect-error nor the agent's name
  context.agent.name = "other";
  // @ts-expect-error a field of the data is unknown until it is checked
  const text: string = context.data["text"];
  void text;

  const told = emitToAgent("saved", { a: 1 });
  same<typeof told, Promise<boolean>>();
  void emitToAgent("saved");
  // @ts-expect-error a name is text
  void emitToAgent(7);
  const emitted = context.emit("saved");
  same<typeof emitted, Promise<void>>();

  const sent = context.request<{ sent: boolean }>("send-email", {});
  same<typeof sent, Promise<{ sent: boolean }>>();
  const anything = context.request("send-email");
  same<typeof anything, Promise<unknown>>();
  // @ts-expect-error an untyped answer has no fields
  (await anything).sent;

  const theme = getAgentData<string>("theme", "light");
  same<typeof theme, string>();
  const list = getAgentConfig<number[]>("list", []);
  same<typeof list, number[]>();
  // @ts-expect-error a default is asked for
  getAgentData("theme");

  const saved = requestAgentAction("save-file", {}, () => 7);
  same<typeof saved, Promise<number>>();
  const later = requestAgentAction("save-file", {}, () => Promise.resolve("x"));
  same<typeof later, Promise<string>>();
  // @ts-expect-error a fallback is asked for
  void requestAgentAction("save-file", {});

  const stop = context.on("theme-changed", (payload) => {
    same<typeof payload, unknown>();
  });
  same<typeof stop, () => void>();
  // @ts-expect-error a payload is unknown until it is checked
  context.on("theme-changed", (payload: { theme: string }) => payload.theme);
  // @ts-expect-error off needs the handler
  context.off("theme-changed");

  const error: AgentError = new AgentTimeoutError("emit", 30_000);
  same<typeof error.code, string>();
  same<AgentError["details"], unknown>();
  new AgentDeniedError("send-email");
  new AgentError("E-AGT-001", "words", { any: "thing" });
  // @ts-expect-error a code and a message are required
  new AgentError("E-AGT-001");
  const isError: Error = error;
  void isError;
}
