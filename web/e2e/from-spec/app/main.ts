// An expense chart that works with an agent, and alone.
import {
  emitToAgent,
  getAgentConfig,
  getAgentContext,
  getAgentData,
  isAgentLaunched,
  requestAgentAction,
} from "./lib/agent";

interface Expense {
  id: string;
  label: string;
  amount: number;
}

const find = (id: string) => document.getElementById(id) as HTMLElement;

function log(text: string): void {
  const line = document.createElement("li");
  line.textContent = text;
  find("log").append(line);
}

/** Says how a call ended, once it has. */
async function tell(call: string, work: Promise<unknown>): Promise<void> {
  try {
    log(`${call}: ${JSON.stringify(await work)}`);
  } catch (error) {
    const { name, code, message } = error as Error & { code: string };
    log(`${call}: ${name} ${code} ${message}`);
  }
}

const applyTheme = (theme: string) =>
  (document.documentElement.dataset["theme"] = theme);

function showExpenses(expenses: Expense[]): void {
  for (const { id, label, amount } of expenses) {
    const row = document.createElement("li");
    const flag = document.createElement("button");
    flag.textContent = `Flag ${label}`;
    flag.onclick = () => {
      const payload = { expense_id: id, reason: "unusual" };
      void tell("flagged", emitToAgent("expense-flagged", payload));
    };
    row.append(`${label} ${amount} `, flag);
    find("expenses").append(row);
  }
}

/** Tries to change everything, strictly: each try is a TypeError. */
function triesToChange(): string {
  const context = getAgentContext();
  if (!context) return "nothing to change";
  const places: object[] = [
    window,
    context,
    context.agent,
    context.agent.capabilities,
    context.data,
    context.config,
    getAgentData<Expense[]>("expenses", []),
    getAgentData<{ start: string }>("date_range", { start: "" }),
  ];
  const names = places.map((place) => {
    const key = place === window ? "__AGENT_CONTEXT__" : "foo";
    try {
      (place as Record<string, unknown>)[key] = "bar";
      return "changed";
    } catch (error) {
      return (error as Error).name;
    }
  });
  return names.join(" ");
}

const expenses = getAgentData<Expense[] | null>("expenses", null);
if (expenses) showExpenses(expenses);
else find("upload").hidden = false;

const { start, end } = getAgentData("date_range", { start: "", end: "" });
find("range").textContent = `${start} to ${end}`;
applyTheme(getAgentConfig("theme", "light"));
const context = getAgentContext();
find("toolbar").textContent = isAgentLaunched()
  ? `${context?.agent.name} ${context?.agent.version} ${context?.agent.capabilities.join(" ")}`
  : "standalone";
document.body.dataset["chart"] = getAgentConfig("chart_type", "none");
find("frozen").textContent = triesToChange();

const onTheme = (payload: unknown) =>
  applyTheme((payload as { theme: string }).theme);
const onThemeToo = (payload: unknown) =>
  log(`config-updated: ${JSON.stringify(payload)}`);
context?.on("config-updated", onTheme);
context?.on("config-updated", onThemeToo);
find("mute").onclick = () => context?.off("config-updated", onTheme);

find("report").onclick = () => {
  const mail = { to: "user@example.com", subject: "Report", body: "All well." };
  const otherwise = () => "sent from the page";
  void tell("report", requestAgentAction("send-email", mail, otherwise));
};

find("save").onclick = () => {
  const file = { content: "All well.", filename: "report.txt" };
  void tell(
    "saved",
    requestAgentAction("save-file", file, () => "downloaded"),
  );
};

const PAYLOADS: Record<string, () => unknown> = {
  none: () => undefined,
  json: () => ({ format: "pdf", data: { total: 7 } }),
  circular() {
    const loop: Record<string, unknown> = {};
    loop["self"] = loop;
    return loop;
  },
  bigint: () => 7n,
};

const field = (form: HTMLFormElement, name: string) =>
  new FormData(form).get(name) as string;

find("event").onsubmit = (event) => {
  event.preventDefault();
  const form = event.target as HTMLFormElement;
  const payload = PAYLOADS[field(form, "payload")]?.();
  void tell("emitted", emitToAgent(field(form, "name"), payload));
};

find("request").onsubmit = (event) => {
  event.preventDefault();
  const action = field(event.target as HTMLFormElement, "action");
  void tell(
    "answered",
    getAgentContext()?.request(action, {}) ?? Promise.resolve(),
  );
};
