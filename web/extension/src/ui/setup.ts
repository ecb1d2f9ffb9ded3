// What is missing between this extension and a Gangway, and the one command that helps.
import { browserName, type BrowserName } from "../browser.js";
import type { BridgeState } from "../bridge.js";
import type { Missing } from "../trouble.js";

export interface Advice {
  title: string;
  words: string;
  /** What to type into a terminal. */
  command: string | null;
}

export function adviceFor(
  { trouble }: BridgeState,
  browser: BrowserName = browserName(),
): Advice | null {
  if (!trouble) return null;
  const install = `gangway bridge install --browser ${browser}`;
  const all: Record<Missing, Advice> = {
    manifest: {
      title: "This browser does not know of your Gangway yet",
      words: "Gangway runs on your computer, and has to be introduced once.",
      command: install,
    },
    program: {
      title: "Your Gangway cannot be started",
      words:
        "It was moved, removed, or ended at once. Install it again if it is gone, then introduce it anew.",
      command: install,
    },
    server: {
      title: "Your Gangway does not answer",
      words: trouble.words,
      // Where the words name a command, a second one would only be in the way.
      command: /\bgangway [a-z]/.test(trouble.words) ? null : "gangway serve",
    },
    version: {
      title: "The extension and your Gangway do not fit together",
      words: trouble.words,
      command: null,
    },
  };
  return all[trouble.missing];
}

export interface Step {
  name: string;
  state: "done" | "missing" | "unknown";
  words: string;
}

/** What has to be there, in the order in which one thing needs the other; `access` to pages is null until it is known. */
export function stepsOf(
  { state, trouble, hello }: BridgeState,
  access: boolean | null,
): Step[] {
  const missing = trouble?.missing;
  const order: Missing[] = ["manifest", "program", "server"];
  const broken = missing === "version" ? 2 : order.indexOf(missing ?? "server");
  const step = (at: number): Step["state"] => {
    if (state === "up") return "done";
    if (!missing) return "unknown";
    if (at < broken) return "done";
    return at === broken ? "missing" : "unknown";
  };
  const where =
    hello?.attached === "own" ? "started by this browser" : "already running";
  return [
    { name: "Extension", state: "done", words: "installed" },
    {
      name: "Access to pages",
      state:
        access === null ? "unknown" : access ? "done" : ("missing" as const),
      words: "so that pages find window.ai and window.agent",
    },
    {
      name: "Introduction",
      state: step(0),
      words: "a small file that tells this browser where Gangway is",
    },
    {
      name: "Gangway",
      state: step(1),
      words: hello ? `version ${hello.gangway}` : "the program itself",
    },
    {
      name: "Connection",
      state: step(2),
      words: hello ? `${hello.base_url}, ${where}` : "Gangway’s own answer",
    },
  ];
}
