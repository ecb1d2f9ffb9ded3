// The first script of a launched page: makes window.__AGENT_CONTEXT__ and leaves everything else for later.
import { capture } from "./builtins.js";
import { makeChannel, type Channel, type Handler } from "./channel.js";
import type { AgentContext } from "./context.js";
import { CODES, makeErrors } from "./errors.js";
import { portLink } from "./link.js";
import type { ToolDescription, ToolHandler } from "../page-tools.js";
import { makeReplay } from "./replay.js";
import { keepLaunch } from "./route.js";
import { lendStorage } from "./storage.js";

/** The parameters of the script, from the server. */
export interface Boot {
  launchId: string;
  /** The app's name. */
  app: string;
  agent: AgentContext["agent"];
  config: AgentContext["config"];
  /** The URL of the data if they are too large to be inlined. */
  dataUrl?: string;
  /** Where the app's storage is kept for browsers that give it none. */
  storage?: string;
  /** The number in the session's log that this page begins after. */
  seq?: number;
  /** The channel's address, with whatever proves this launch. */
  socket: string;
  /** The origin of the parent page, if it belongs to another site; `*` where the page's policy says who may frame it. */
  parentOrigin: string | null;
  /** Whether the page reloads when the server requests it. */
  reload: boolean;
  /** Whether the page is shown in a replay. */
  replay?: boolean;
}

/** Takes the boot and the data as JSON; the data are read when they are first used. */
export default function run(bootJson: string, given?: string): void {
  const built = capture();
  const { parse, freeze } = built;
  const boot = parse(bootJson) as Boot;
  keepLaunch(built);
  if (boot.replay) lendStorage(built, null);
  else if (boot.storage !== undefined) lendStorage(built, boot.storage);
  // Taken only where it is needed: looking at it costs more than reading the boot.
  const Xhr = boot.dataUrl === undefined ? null : XMLHttpRequest;
  let data: AgentContext["data"] | undefined;
  let made: Channel | undefined;
  const channel = () => (made ??= makeChannel(built, boot, port));
  // The parent page may send its port before anything else happens.
  const port =
    boot.parentOrigin !== null && window.parent !== window
      ? portLink(built, boot.parentOrigin, boot.launchId, (text) => {
          if (!replay?.receive(text)) channel().receive(text);
        })
      : null;
  const replay = boot.replay
    ? makeReplay(built, (text) => port?.send(text))
    : null;

  function freezeAll<T>(value: T): T {
    if (typeof value !== "object" || value === null) return value;
    freeze(value);
    if (built.isArray(value)) {
      for (let at = 0; at < value.length; at += 1) freezeAll(value[at]);
    } else for (const key in value) freezeAll(value[key]);
    return value;
  }

  function fetchData(): string {
    const asked = Xhr && new Xhr();
    // The first script of the page may want it, so there is nothing to wait with.
    asked?.open("GET", boot.dataUrl ?? "", false);
    asked?.send();
    if (asked?.status !== 200) {
      const { AgentError } = makeErrors(built.Failure);
      const words = "No agent context available: the data could not be read";
      throw new AgentError(CODES.context, words, { status: asked?.status });
    }
    return asked.responseText;
  }

  const context = {
    agent: freezeAll(boot.agent),
    get data() {
      return (data ??= freezeAll(
        parse(given ?? fetchData()) as AgentContext["data"],
      ));
    },
    config: freezeAll(boot.config),
    emit: (event: string, payload?: unknown) => channel().emit(event, payload),
    request: <T>(action: string, params?: unknown) =>
      channel().request<T>(action, params),
    on: (event: string, handler: Handler) => channel().on(event, handler),
    off: (event: string, handler: Handler) => channel().off(event, handler),
    registerTool: (tool: ToolDescription, handler: ToolHandler) =>
      channel().registerTool(tool, handler),
    ...(replay && { replay: freeze({ onState: freeze(replay.onState) }) }),
  } satisfies AgentContext;

  freeze(context.emit);
  freeze(context.request);
  freeze(context.on);
  freeze(context.off);
  freeze(context.registerTool);
  // eslint-disable-next-line @typescript-eslint/unbound-method -- it is frozen, not called
  freeze(Object.getOwnPropertyDescriptor(context, "data")?.get);
  built.defineProperty(window, "__AGENT_CONTEXT__", {
    value: freeze(context),
    enumerable: true,
  });
  // The rest costs more than all of the above, and the page's own scripts wait.
  built.soon(() => channel().open());
}
