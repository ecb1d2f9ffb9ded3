// What an applet imports as "gangway", or finds as globals: plain functions over one channel.
import { GangwayError as OwnError } from "../errors.js";
import {
  AppletChannel,
  type InvokeOptions,
  type InvokeStarted,
  type Unsubscribe,
} from "./channel.js";
import type {
  ToolDescription,
  ToolHandler,
  Unregister,
} from "../page-tools.js";
import { connect as open, type ConnectOptions } from "./connect.js";
import type { Content } from "./content.js";
import { PortLink, type Welcome } from "./port-link.js";
import type { StateOptions } from "./state.js";
import type { AskOptions, BinaryOptions, TextOptions } from "./read.js";
import type {
  AppletEvents,
  FileChange,
  FileList,
  FileStat,
  State,
} from "./wire.js";

export { AppletChannel };

/** In a frame the script before every other has opened the channel, and there is one for each document. */
const installed = (
  window as {
    gangway?: { channel(): AppletChannel; GangwayError: typeof OwnError };
  }
).gangway;

export type GangwayError = OwnError;
export const GangwayError = installed?.GangwayError ?? OwnError;

let current: AppletChannel | undefined;
if (window.parent !== window) current = installed?.channel();
if (window.parent !== window && !current) {
  current = new AppletChannel((events) => new PortLink(events, welcome));
}

function welcome({ theme }: Partial<Welcome>): void {
  if (theme !== "light" && theme !== "dark") return;
  document.documentElement.style.colorScheme = theme;
  document.documentElement.dataset["theme"] = theme;
}

/** The channel that the functions below use. */
export function channel(): AppletChannel {
  if (current) return current;
  throw new GangwayError(
    "not_connected",
    "This page is not in a Gangway frame. Call connect({ session }) first.",
  );
}

/** Opens a channel from a page that stands alone; the functions below use it from then on. */
export function connect(options: ConnectOptions): AppletChannel {
  current = open(options);
  return current;
}

/** Merges into this applet's state; `null` deletes a key. */
export async function setAppletState(
  data: Record<string, unknown>,
): Promise<void> {
  await channel().setState(data);
}

export function getAppletState(): Promise<State>;
export function getAppletState(key: string): Promise<unknown>;
export async function getAppletState(key?: string): Promise<unknown> {
  return key === undefined ? channel().getState() : channel().getState(key);
}

/** Calls back with the whole state: at once if it is known, and after each change by the agent or another tab; with `own`, also after
 * those that this page makes. */
export function onStateUpdate(
  callback: (state: State) => void,
  options?: StateOptions,
): () => void {
  return channel().onState(callback, options);
}

export function readFile(path: string, options?: TextOptions): Promise<string>;
export function readFile(
  path: string,
  options: BinaryOptions,
): Promise<Uint8Array>;
export async function readFile(
  path: string,
  options?: TextOptions | BinaryOptions,
): Promise<string | Uint8Array> {
  return channel().readFile(path, options as TextOptions);
}

export async function writeFile(
  path: string,
  content: Content,
  options?: AskOptions,
): Promise<FileStat> {
  return channel().writeFile(path, content, options);
}

export async function listFiles(
  path?: string,
  options?: AskOptions,
): Promise<FileList> {
  return channel().listFiles(path, options);
}

export async function statFile(
  path: string,
  options?: AskOptions,
): Promise<FileStat> {
  return channel().stat(path, options);
}

/** Calls back when a file, or anything in a folder, changes; gives back how to stop. */
export function subscribeFile(
  path: string,
  callback: (change: FileChange) => void,
): Unsubscribe {
  return channel().subscribe(path, callback);
}

/** Asks the agent; the person is asked first when an applet speaks for the first time. */
export function invokeAgent(
  prompt: string,
  options: InvokeOptions & { waitForResult: false },
): Promise<InvokeStarted>;
export function invokeAgent(
  prompt: string,
  options?: InvokeOptions,
): Promise<string>;
export async function invokeAgent(
  prompt: string,
  options?: InvokeOptions,
): Promise<string | InvokeStarted> {
  return channel().invoke(prompt, options);
}

/** Stops the agent's turn in this session. */
export async function stopAgent(): Promise<boolean> {
  return channel().stop();
}

/** Offers a tool to every agent of the session; gives back how to withdraw it. */
export function registerTool(
  tool: ToolDescription,
  handler: ToolHandler,
): Unregister {
  return channel().registerTool(tool, handler);
}

/** Listens to what else happens in the session. */
export function onSession<Name extends keyof AppletEvents>(
  name: Name,
  callback: (event: AppletEvents[Name]) => void,
): () => void {
  return channel().on(name, callback);
}

const functions = {
  ...{ setAppletState, getAppletState, onStateUpdate, readFile, writeFile },
  ...{ listFiles, statFile, subscribeFile, invokeAgent, stopAgent, onSession },
  registerTool,
};

Object.defineProperty(window, "gangway", {
  value: Object.freeze({ channel, connect, GangwayError, ...functions }),
  enumerable: true,
  // A page may load this library twice.
  configurable: true,
});

// In a frame of ours the whole document is the applet's, and the protocol names these functions without a prefix. An applet may have
// functions of its own by these names.
if (window.parent !== window && !installed) {
  for (const [name, value] of Object.entries(functions)) {
    Object.defineProperty(window, name, {
      ...{ value, writable: true, configurable: true, enumerable: true },
    });
  }
}
