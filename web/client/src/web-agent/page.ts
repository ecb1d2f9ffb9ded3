// gangway.js: puts window.ai and window.agent on the page that includes it.
import { makeAgent } from "./agent.js";
import { makeAi } from "./ai.js";
import { makeAsker } from "./ask.js";
import { capture, type Builtins } from "./builtins.js";
import { makeDelegation } from "./delegation.js";
import { wordsOf, type ErrorCode } from "./errors.js";
import { throughFrame } from "./frame.js";
import { makeLink, type Host, type Way } from "./link.js";
import { NoSuchTool, pageTools } from "./model-context.js";
import { makePanels, type Panels } from "./panel.js";
import { isLocal } from "./reach.js";
import { isTooLong } from "./wire.js";

/** What differs between a page that includes the script and one in a browser with the extension. */
export interface Surroundings {
  way: Way;
  ask: Host["ask"];
  panels: Panels;
  /** What pages find here beyond `FEATURES`. */
  features?: readonly string[];
}

/** Where the extension says that it was here. */
export const EXTENSION = Symbol.for("gangway.extension");

/** `server` is Gangway's origin. Does nothing where another script or an extension was first. */
export function install(server: string): void {
  // A page of this machine needs no extension, whose bridge may not be set up.
  const replaces = EXTENSION in window && isLocal(location.href);
  installIn(
    (built) => ({
      way: throughFrame(built, server),
      ask: makeAsker(built, server),
      panels: makePanels(built, server),
    }),
    replaces,
  );
}

export function installIn(
  surround: (built: Builtins) => Surroundings,
  replaces = false,
): void {
  if (!replaces && (window.agent ?? window.ai)) return;
  const built = capture();
  const { way, ask, panels, features = [] } = surround(built);
  const running = built.create(null) as Record<number, AbortController>;
  const tools = pageTools(built, () => void listTools());
  /** The last announced tools of the page, as JSON. */
  let offered = "[]";
  let connected = false;
  const link = makeLink(built, way, {
    ask,
    toolCall: (call, name, args) => void runTool(call, name, args),
    toolCancel: (call) => running[call]?.abort(),
    chatClosed: (chatId) => panels.hide(chatId),
    connected() {
      connected = true;
      // Before the first call goes out, so that a run has them.
      if (offered !== "[]") link.say({ type: "tools", tools: offered });
    },
    lost() {
      connected = false;
      for (const call in running) running[call]?.abort();
      panels.hideAll();
    },
  });

  /** A page's tools are announced only after its first call. */
  async function listTools(): Promise<void> {
    const list = built.stringify(await tools.list());
    if (list === offered || isTooLong(list)) return;
    offered = list;
    if (connected) link.say({ type: "tools", tools: list });
  }

  async function runTool(
    call: number,
    name: string,
    args: unknown,
  ): Promise<void> {
    const stop = new AbortController();
    running[call] = stop;
    const fail = (code: ErrorCode, message: string) =>
      link.say({ type: "tool_result", call, error: { code, message } });
    try {
      const value = await tools.run(name, args, stop.signal);
      const result = built.stringify(value ?? null);
      if (stop.signal.aborted) return;
      if (isTooLong(result)) {
        fail(
          "ERR_TOOL_FAILED",
          "The result of the page's tool is larger than 1 MB",
        );
      } else link.say({ type: "tool_result", call, result });
    } catch (error) {
      if (stop.signal.aborted) return;
      const none = error instanceof NoSuchTool;
      fail(none ? "ERR_TOOL_NOT_FOUND" : "ERR_TOOL_FAILED", wordsOf(error));
    } finally {
      // eslint-disable-next-line @typescript-eslint/no-dynamic-delete -- it has no prototype
      delete running[call];
    }
  }

  void listTools();
  const names = {
    ai: makeAi(built, link),
    agent: makeAgent(built, link, panels, makeDelegation(built, link)),
  };
  for (const [name, value] of Object.entries(names)) {
    offer(built, name, value);
  }
  announce(built, features);
}

const FEATURES = [
  ...["text-sessions", "streaming", "tools", "run", "mcp-register"],
  ...["chat", "readability", "model-context", "language-model"],
];

/** Late enough for the page's first scripts to listen: when the document is parsed, or soon where it is already. */
function announce(built: Builtins, more: readonly string[]): void {
  const detail = built.freeze({
    version: "1.0",
    // Only pages that may list models get their names.
    providers: built.freeze(
      "LanguageModel" in window ? ["harbor", "chrome"] : ["harbor"],
    ),
    features: built.freeze([...FEATURES, ...more]),
  });
  const tell = () => {
    for (const name of ["agent-ready", "ai-ready"]) {
      window.dispatchEvent(new CustomEvent(name, { detail }));
    }
  };
  if (document.readyState !== "loading") built.setTimeout(tell, 0);
  else built.listen(document, "DOMContentLoaded", tell, { once: true });
}

/** Puts a name on the window that the page's own scripts may still take for something of theirs. */
function offer(built: Builtins, name: string, value: object): void {
  const shown = { configurable: true, enumerable: true };
  built.defineProperty(window, name, {
    ...shown,
    get: () => value,
    set(value: unknown) {
      built.defineProperty(window, name, { ...shown, value, writable: true });
    },
  });
}
