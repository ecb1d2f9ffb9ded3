// Detects what is missing from the browser's error about the bridge.

/** `manifest`: the browser does not know of the bridge. `program`: it does, but cannot start it. `server`: the bridge has no Gangway. `version`: the two do not fit. */
export type Missing = "manifest" | "program" | "server" | "version";

export interface Trouble {
  missing: Missing;
  /** The message of the browser or the bridge. */
  words: string;
}

// Chromium and Firefox word it differently, and neither gives a code.
const SIGNS: [RegExp, Missing][] = [
  [/native messaging host not found/i, "manifest"],
  [/no such native application/i, "manifest"],
  [/host is forbidden/i, "manifest"],
  [/failed to start native messaging host/i, "program"],
  [/an unexpected error occurred/i, "program"],
  [/native host has exited/i, "program"],
];

/** Why a port closed, where that means more than that it closed. `spoke`: something came through it before. */
export function troubleOf(words: string, spoke: boolean): Trouble | null {
  const found = SIGNS.find(([sign]) => sign.test(words));
  if (found && !(found[1] === "program" && spoke)) {
    return { missing: found[1], words };
  }
  // A program that ends before it says anything is as good as none.
  return spoke ? null : { missing: "program", words };
}

/** The same for an error with which the bridge answers a greeting. */
export function troubleIn(error: { code: string; message: string }): Trouble {
  const missing = error.code === "wrong_protocol" ? "version" : "server";
  return { missing, words: error.message };
}

const PAGES_WORDS: Record<Missing, string> = {
  manifest:
    "The Gangway extension is installed, but Gangway is not set up for this browser. Click the extension's button for instructions.",
  program:
    "The Gangway extension is installed, but Gangway could not be started. Click the extension's button for instructions.",
  server: "The Gangway extension is installed, but Gangway is not responding.",
  version:
    "The versions of Gangway and its extension are incompatible. Update both.",
};

/** The error for a page, without details of this machine. */
export function refusalFor({ missing }: Trouble): string {
  const error = {
    code: "ERR_NOT_INSTALLED",
    message: PAGES_WORDS[missing],
    details: { reason: `bridge_${missing}` },
  };
  return JSON.stringify({ type: "refused", error });
}
