// Why a Gangway on this machine could not be reached from a page.
import { AgentApiError } from "./errors.js";

/** Chromium asks before a page of the open web may reach this machine; both are names of that permission. */
const NAMES = ["local-network-access", "loopback-network"];

export type Unreachable = "local_network_blocked" | "not_running";

const WORDS: Record<Unreachable, (server: string) => string> = {
  local_network_blocked: (server) =>
    `The browser blocks this site from connecting to Gangway at ${server}, because it is on this computer. Allow local network access for this site in the browser's site settings and reload the page, or install the Gangway extension, which does not need that permission.`,
  not_running: (server) =>
    `No Gangway is reachable at ${server}. Start it with \`gangway\`, or install the Gangway extension. If it is running, this page's Content-Security-Policy (script-src, frame-src) may block it.`,
};

/** ERR_NOT_INSTALLED, with `details.reason` as far as a page can detect it. */
export async function unreachable(server: string): Promise<AgentApiError> {
  const reason: Unreachable = (await blocked(server))
    ? "local_network_blocked"
    : "not_running";
  const words = WORDS[reason](server);
  return new AgentApiError("ERR_NOT_INSTALLED", words, { reason, server });
}

async function blocked(server: string): Promise<boolean> {
  if (!isLocal(server)) return false;
  for (const name of NAMES) {
    try {
      const asked = { name: name as PermissionName };
      const { state } = await navigator.permissions.query(asked);
      // Pages of this machine need no permission: there it stays at `prompt`.
      // A page without HTTPS is not even asked about, unless it is of this machine.
      if (state === "denied" || !isSecureContext) return true;
    } catch {
      // A browser that does not know the name does not ask either.
    }
  }
  return false;
}

/** Whether an address is one of this machine. */
export function isLocal(server: string): boolean {
  const { hostname } = new URL(server);
  return /^(localhost|.+\.localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
}
