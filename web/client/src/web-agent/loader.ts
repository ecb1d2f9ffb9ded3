// Finds the person's Gangway from a page that was built without its script.
import type { Agent, AI } from "./api.js";
import { aborted, AgentApiError } from "./errors.js";
import type {} from "./globals.js";
import { unreachable } from "./reach.js";

export { AgentApiError } from "./errors.js";
export type { Agent, AI } from "./api.js";

export interface LoadOptions {
  /** Where Gangway is; http://localhost:3000 when it is not said. */
  url?: string;
  signal?: AbortSignal;
}

export interface Gangway {
  ai: AI;
  agent: Agent;
}

const HERE = "http://localhost:3000";
// An answer that takes longer is none.
const LOAD_MS = 10_000;

/** window.ai and window.agent, once they are there; ERR_NOT_INSTALLED where there is no Gangway. */
export async function loadGangway(options: LoadOptions = {}): Promise<Gangway> {
  const { url = HERE, signal } = options;
  const server = new URL(url);
  if (signal?.aborted) throw aborted();
  // The extension was here first, or another part of the page asked before.
  const found = installed();
  if (found) return found;
  const came = await script(`${server.origin}/gangway.js`, signal);
  if (signal?.aborted) throw aborted();
  const there = installed();
  if (there) return there;
  if (!came) throw await unreachable(server.origin);
  throw new AgentApiError(
    "ERR_NOT_INSTALLED",
    `The server at ${server.origin} is not Gangway.`,
    { reason: "not_running", server: server.origin },
  );
}

function installed(): Gangway | null {
  const { ai, agent } = window;
  return ai && agent ? { ai, agent } : null;
}

/** Runs a script; false when it did not come. */
function script(src: string, signal?: AbortSignal): Promise<boolean> {
  return new Promise((resolve) => {
    const element = document.createElement("script");
    const end = (came: boolean) => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", stop);
      element.remove();
      resolve(came);
    };
    const stop = () => end(false);
    const timer = setTimeout(stop, LOAD_MS);
    signal?.addEventListener("abort", stop);
    element.onload = () => end(true);
    element.onerror = stop;
    element.src = src;
    document.head.append(element);
  });
}
