// window.agent: permissions, tools, runs, servers and chats of the page.
import type {
  ActiveTabReadability,
  Agent,
  BrowserElement,
  ChatAvailability,
  ChatOpenResult,
  Done,
  MCPRegistrationResult,
  PermissionAnswer,
  PermissionStatus,
  RunEvent,
  Screenshot,
  ToolDescriptor,
} from "./api.js";
import * as take from "./arguments.js";
import type { Builtins } from "./builtins.js";
import type { Delegation } from "./delegation.js";
import { AgentApiError, errorFrom } from "./errors.js";
import { LIMITS, type Link } from "./link.js";
import { NATIVE } from "./native.js";
import { declaredServers, ownHtml } from "./own-page.js";
import type { Panels } from "./panel.js";
import type { StreamOptions } from "./streams.js";

const MAX_REASON = 500;
const MAX_TOOL_CALLS = 50;

export function makeAgent(
  built: Builtins,
  link: Link,
  panels: Panels,
  delegation: Delegation,
): Agent {
  const { freeze } = built;

  /** A call without parameters, but for a signal. */
  const plain = <T>(method: string) =>
    freeze(async (given?: unknown) => {
      const signal = take.signalOf(take.options(given, method));
      return (await link.call(method, {}, { signal })) as T;
    });

  async function requestPermissions(given: unknown): Promise<PermissionAnswer> {
    const fields = take.options(given, "requestPermissions");
    const params = {
      scopes: take.scopes(fields["scopes"]),
      reason: take
        .optionalText(fields["reason"], "reason")
        ?.slice(0, MAX_REASON),
      tools: take.optionalTexts(fields["tools"], "tools"),
    };
    const options = { ms: LIMITS.person, signal: take.signalOf(fields) };
    if (delegation.obtain) await delegation.obtain();
    const result = await link.call("permissions.request", params, options);
    return result as PermissionAnswer;
  }

  async function callTool(given: unknown): Promise<unknown> {
    const fields = take.options(given, "tools.call");
    const { args = {} } = fields;
    const params = { tool: take.text(fields["tool"], "tool"), args };
    const options = { ms: LIMITS.tool, signal: take.signalOf(fields) };
    return link.call("tools.call", params, options);
  }

  function run(given: unknown): AsyncIterableIterator<RunEvent> {
    const fields = take.options(given, "run");
    const params = {
      task: take.text(fields["task"], "task"),
      tools: take.optionalTexts(fields["tools"], "tools"),
      useAllTools: take.optionalFlag(fields["useAllTools"], "useAllTools"),
      maxToolCalls: take.optionalWhole(
        ...[fields["maxToolCalls"], "maxToolCalls", 0, MAX_TOOL_CALLS],
      ),
      requireCitations: take.optionalFlag(
        ...[fields["requireCitations"], "requireCitations"],
      ),
      provider: take.optionalText(fields["provider"], "provider"),
      model: take.optionalText(fields["model"], "model"),
      systemPrompt: take.optionalText(fields["systemPrompt"], "systemPrompt"),
    };
    const signal = take.signalOf(fields);
    const refused =
      params.provider === NATIVE
        ? new AgentApiError(
            "ERR_MODEL_FAILED",
            "The browser's built-in model does not support tools. Omit provider, or use one of Gangway's providers.",
          )
        : undefined;
    return link.stream("run", params, {
      ...{ ...EVENTS, signal },
      ...(refused && { refused }),
    });
  }

  async function readability(given?: unknown): Promise<ActiveTabReadability> {
    const signal = take.signalOf(take.options(given, "readability"));
    await link.call("tab.readability", {}, { signal });
    return (await link.read(ownHtml(), signal)) as ActiveTabReadability;
  }

  async function click(target: unknown, given?: unknown): Promise<Done> {
    const params = { target: take.text(target, "target") };
    const signal = take.signalOf(take.options(given, "click"));
    return (await link.call("tab.click", params, { signal })) as Done;
  }

  async function fill(
    target: unknown,
    value: unknown,
    given?: unknown,
  ): Promise<Done> {
    // Empty text empties a field.
    if (typeof value !== "string") throw take.invalid("value must be a string");
    const params = { target: take.text(target, "target"), value };
    const signal = take.signalOf(take.options(given, "fill"));
    return (await link.call("tab.fill", params, { signal })) as Done;
  }

  async function screenshot(given?: unknown): Promise<Screenshot> {
    const fields = take.options(given, "screenshot");
    const format = take.optionalText(fields["format"], "format");
    if (format !== undefined && format !== "png" && format !== "jpeg") {
      throw take.invalid("format must be png or jpeg");
    }
    const quality = take.optionalNumber(fields["quality"], "quality", 0, 1);
    const signal = take.signalOf(fields);
    const params = { format, quality };
    return (await link.call("tab.screenshot", params, {
      signal,
    })) as Screenshot;
  }

  async function register(given: unknown): Promise<MCPRegistrationResult> {
    const fields = take.options(given, "register");
    const params = {
      url: take.text(fields["url"], "url"),
      name: take.text(fields["name"], "name"),
      description: take.optionalText(fields["description"], "description"),
      tools: take.optionalTexts(fields["tools"], "tools"),
      transport: take.optionalText(fields["transport"], "transport"),
    };
    // As in a link: relative to the page.
    if (built.URL.canParse(params.url, document.baseURI)) {
      params.url = new built.URL(params.url, document.baseURI).href;
    }
    const options = { ms: LIMITS.person, signal: take.signalOf(fields) };
    if (delegation.obtain) await delegation.obtain();
    const result = await link.call("mcp.register", params, options);
    return result as MCPRegistrationResult;
  }

  async function unregister(serverId: unknown): Promise<Done> {
    const params = { serverId: take.text(serverId, "serverId") };
    return (await link.call("mcp.unregister", params)) as Done;
  }

  async function openChat(given?: unknown): Promise<ChatOpenResult> {
    const fields = take.options(given, "chat.open");
    const style = take.options(fields["style"], "style");
    const params = {
      systemPrompt: take.optionalText(fields["systemPrompt"], "systemPrompt"),
      tools: take.optionalTexts(fields["tools"], "tools"),
      style: {
        theme: take.optionalText(style["theme"], "theme"),
        accentColor: take.optionalText(style["accentColor"], "accentColor"),
      },
    };
    const options = { ms: LIMITS.person, signal: take.signalOf(fields) };
    const opened = await link.call("chat.open", params, options);
    // The address of the panel is of no use to the page.
    const { panel, ...result } = opened as ChatOpenResult & { panel?: string };
    if (result.success && result.chatId && panel) {
      panels.show(result.chatId, panel);
    }
    return result;
  }

  async function closeChat(given: unknown): Promise<Done> {
    const chatId = take.text(given, "chatId");
    const result = await link.call("chat.close", { chatId });
    panels.hide(chatId);
    return result as Done;
  }

  return freeze({
    requestPermissions: freeze(requestPermissions),
    permissions: freeze({ list: plain<PermissionStatus>("permissions.list") }),
    tools: freeze({
      list: plain<ToolDescriptor[]>("tools.list"),
      call: freeze(callTool) as Agent["tools"]["call"],
    }),
    run: freeze(run),
    browser: freeze({
      activeTab: freeze({
        readability: freeze(readability),
        getElements: plain<BrowserElement[]>("tab.elements"),
        click: freeze(click),
        fill: freeze(fill),
        screenshot: freeze(screenshot),
      }),
    }),
    mcp: freeze({
      // eslint-disable-next-line @typescript-eslint/require-await -- pages await it
      discover: freeze(async () => declaredServers()),
      register: freeze(register),
      unregister: freeze(unregister),
    }),
    chat: freeze({
      canOpen: plain<ChatAvailability>("chat.canOpen"),
      open: freeze(openChat),
      close: freeze(closeChat),
    }),
  });
}

/** How the events of a run read on the page. */
const EVENTS: StreamOptions<RunEvent> = {
  read(event) {
    const step = event as RunEvent;
    if (step.type === "error") {
      return { type: "error", error: errorFrom(step.error) };
    }
    if (step.type !== "tool_result" || !step.error) return step;
    return { ...step, error: errorFrom(step.error) };
  },
  failed: (error) => ({ type: "error", error }),
  isLast: ({ type }) => type === "final" || type === "error",
  ended: () => undefined,
};
