// A desk that asks the person's own model about fish. Each button is one thing that the API offers.
function log(text) {
  const line = document.createElement("li");
  line.textContent = text;
  document.getElementById("log").append(line);
}

/** How a call ended: its value, or the code of its error. */
async function tell(name, call) {
  try {
    log(`${name}: ${JSON.stringify(await call())}`);
  } catch (error) {
    log(
      `${name}: ${error instanceof Error} ${error.code} ${typeof error.message}`,
    );
  }
}

async function collect(events) {
  const all = [];
  for await (const event of events) {
    all.push(event);
    if (event.type === "done") break;
  }
  return all;
}

let session;
let registration;
let chat;

const ALL = [
  "model:prompt",
  "model:tools",
  "mcp:tools.list",
  "mcp:tools.call",
  "mcp:servers.register",
  "browser:activeTab.read",
  "chat:open",
];

const steps = {
  /** The pattern for a permission that is missing. */
  async "List or ask"() {
    try {
      await window.agent.tools.list();
      log("listed");
    } catch (e) {
      log(`refused: ${e.code}`);
      if (e.code !== "ERR_SCOPE_REQUIRED") return;
      const scopes = ["mcp:tools.list"];
      const { granted } = await window.agent.requestPermissions({ scopes });
      log(`granted: ${granted}`);
    }
  },

  "Ask for all": () =>
    tell("permissions", () =>
      window.agent.requestPermissions({
        scopes: ALL,
        reason: "The desk answers questions about fish",
      }),
    ),

  async Prompt() {
    session = await window.ai.createTextSession({
      systemPrompt: "Speak of fish.",
      temperature: 0.7,
    });
    await tell("prompt", () => session.prompt("Hello"));
  },

  Stream: () =>
    tell("stream", () => collect(session.promptStreaming("Tell me a story"))),

  /** The model of the test fails when it is told to. */
  "Stream in vain": () =>
    tell("failed stream", () => collect(session.promptStreaming("fail now"))),

  "Prompt in vain": () => tell("failed prompt", () => session.prompt("fail")),

  async Destroy() {
    await session.destroy();
    await tell("destroyed", () => session.prompt("Hello?"));
  },

  "List tools": () =>
    tell("tools", async () => {
      const tools = await window.agent.tools.list();
      const echo = tools.find(({ name }) => name === "every/echo");
      const named = tools.every(({ name }) => /^[^/]+\/.+$/.test(name));
      return [named, typeof echo.description, echo.inputSchema.type];
    }),

  "Call tools": async () => {
    const call = (tool, args) => window.agent.tools.call({ tool, args });
    await tell("echo", () => call("every/echo", { message: "ahoy" }));
    await tell("no tool", () => call("every/nothing", {}));
    await tell("no server", () => call("nobody/echo", {}));
    await tell("wrong arguments", () => call("every/echo", { message: [] }));
  },

  Run: () =>
    tell("run", () =>
      collect(
        window.agent.run({
          task: 'call echo {"message":"cod"}',
          tools: ["every/echo"],
          useAllTools: false,
          maxToolCalls: 5,
          requireCitations: true,
        }),
      ),
    ),

  "Run in vain": () =>
    tell("failed run", () => collect(window.agent.run({ task: "fail" }))),

  "Run and abort": () =>
    tell("aborted run", async () => {
      const controller = new AbortController();
      const types = new Set();
      const task = "endless";
      const { signal } = controller;
      for await (const e of window.agent.run({ task, signal })) {
        types.add(e.type);
        if (e.type === "token") controller.abort();
      }
      return types.has("token") && !types.has("final");
    }),

  Read: () =>
    tell("page", async () => {
      const read = await window.agent.browser.activeTab.readability();
      const { url, title, text } = read;
      return [url === location.href, title, text.includes("northern seas")];
    }),

  Discover: () => tell("servers", () => window.agent.mcp.discover()),

  Register: () =>
    tell("registered", async () => {
      registration = await window.agent.mcp.register({
        url: new URL("/mcp", location.href).href,
        name: "Shop Assistant",
        tools: ["price"],
      });
      return [registration.success, typeof registration.serverId];
    }),

  "Use the shop": () =>
    tell("shop", () =>
      window.agent.tools.call({
        tool: `${registration.serverId}/price`,
        args: { fish: "Herring" },
      }),
    ),

  async Unregister() {
    await window.agent.mcp.unregister(registration.serverId);
    await tell("after unregister", async () => {
      const tools = await window.agent.tools.list();
      const name = `${registration.serverId}/price`;
      return tools.some((tool) => tool.name === name);
    });
  },

  "Open chat": () =>
    tell("chat", async () => {
      const available = await window.agent.chat.canOpen();
      chat = await window.agent.chat.open({
        systemPrompt: "Shopping assistant",
        tools: ["price"],
        style: { theme: "light", accentColor: "#ff9900" },
      });
      return [available, chat.success, typeof chat.chatId];
    }),

  "Close chat": async () => {
    await window.agent.chat.close(chat.chatId);
    log("chat closed");
  },

  Providers: () =>
    tell("providers", async () => {
      const scopes = ["model:list"];
      await window.agent.requestPermissions({ scopes });
      const providers = await window.ai.providers.list();
      const found = providers.find(({ id }) => id === "thinker");
      const { type, name, available, isDefault, isTypeDefault } = found;
      const best = await window.ai.runtime.getBest();
      return { type, name, available, isDefault, isTypeDefault, best };
    }),

  /** Chat with one provider, tools with another. */
  "Use a provider": async () => {
    await tell("provider", async () => {
      const provider = "thinker";
      const own = await window.ai.createTextSession({
        provider,
        model: "deep-1",
      });
      return own.prompt("Hello");
    });
    await tell("provider run", async () => {
      const task = "Say ahoy";
      const events = await collect(
        window.agent.run({ task, provider: "thinker" }),
      );
      return events.at(-1);
    });
  },

  Main: () =>
    tell("main", async () => {
      if (!window.agent) throw new Error("Web Agent API not available");
      const perm = await window.agent.requestPermissions({
        scopes: ALL.slice(0, 4),
        reason: "AI assistant features",
      });
      if (!perm.granted) throw new Error("Permissions denied");
      const tools = await window.agent.tools.list();
      let output = "";
      const task = "What tools are available?";
      for await (const e of window.agent.run({ task })) {
        if (e.type === "token") output += e.token;
        if (e.type === "final") output = e.output;
        if (e.type === "error") throw new Error(e.error.message);
      }
      const args = { message: output };
      await window.agent.tools.call({ tool: "every/echo", args });
      return [tools.length > 0, output];
    }),
};

for (const [name, step] of Object.entries(steps)) {
  const button = document.createElement("button");
  button.textContent = name;
  button.onclick = () => void step();
  document.getElementById("buttons").append(button);
}
