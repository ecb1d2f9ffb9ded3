// The context is there when an agent opened this page, and undefined when a person did.
type AgentContext = {
  readonly agent: { readonly name: string };
  readonly data: Readonly<Record<string, unknown>>;
  readonly config: Readonly<Record<string, unknown>>;
  emit(event: string, payload?: unknown): Promise<void>;
  on(event: string, handler: (payload: unknown) => void): void;
};

declare global {
  interface Window {
    readonly __AGENT_CONTEXT__?: AgentContext;
  }
}

const context = window.__AGENT_CONTEXT__;
const element = <T extends HTMLElement>(id: string) => document.getElementById(id) as T;

element("greeting").textContent = `Hello, ${context?.data.who ?? "world"}!`;

element<HTMLFormElement>("answer").addEventListener("submit", async (event) => {
  event.preventDefault();
  const form = new FormData(event.target as HTMLFormElement);
  const status = element("status");
  if (!context) {
    status.textContent = "There is no agent to tell.";
    return;
  }
  try {
    await context.emit("greeting-answered", { words: form.get("words") });
    status.textContent = `${context.agent.name} knows.`;
  } catch (error) {
    status.textContent = String(error);
  }
});

export {};
