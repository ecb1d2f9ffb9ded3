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
      title: "Gangway is not set up for this browser",
      words:
        "Gangway runs on your computer. Register it with this browser once.",
      command: install,
    },
    program: {
      title: "Gangway could not be started",
      words:
        "The program was moved or removed, or it exited at once. Reinstall it if needed, then register it again.",
      command: install,
    },
    server: {
      title: "Gangway is not responding",
      words: trouble.words,
      // If the message names a command, a second one would only confuse.
      command: /\bgangway [a-z]/.test(trouble.words) ? null : "gangway serve",
    },
    version: {
      title: "The versions of Gangway and the extension are incompatible",
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
      name: "Site access",
      state:
        access === null ? "unknown" : access ? "done" : ("missing" as const),
      words: "lets pages find window.ai and window.agent",
    },
    {
      name: "Native messaging host",
      state: step(0),
      words: "a manifest that tells this browser where Gangway is",
    },
    {
      name: "Gangway",
      state: step(1),
      words: hello ? `version ${hello.gangway}` : "the program",
    },
    {
      name: "Connection",
      state: step(2),
      words: hello ? `${hello.base_url}, ${where}` : "the running server",
    },
  ];
}
