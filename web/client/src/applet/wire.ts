// The messages of an applet's channel, as they travel over a WebSocket and over a port.
import type {
  AppletClientMessage,
  AppletFile,
  AppletServerMessage,
  JsonValue,
} from "../generated/wire.js";

/** Names a question; its answer carries the same. */
export type Id = JsonValue;
export type State = Readonly<Record<string, unknown>>;

/** Whatever an applet asks. */
export type ClientMessage = AppletClientMessage & { id?: Id };

/** Anything the server says. */
export type ServerFrame = AppletServerMessage;

/** What the server says under this name. */
export type Told<Name extends AppletServerMessage["type"]> = Extract<
  AppletServerMessage,
  { type: Name }
>;

/** The last frame of the answer to each question. */
export interface Answers {
  setState: Told<"stateUpdate">;
  getState: Told<"state">;
  readFile: Told<"fileContent">;
  writeFile: Told<"fileWritten">;
  listFiles: Told<"files">;
  stat: Told<"fileStat">;
  subscribe: Told<"subscribed">;
  unsubscribe: Told<"unsubscribed">;
  invoke: Told<"invokeStarted" | "invokeComplete">;
  stop: Told<"stopped">;
  offerTools: Told<"toolsOffered">;
  /** Only when it came too late. */
  toolResult: Told<"error">;
  ping: Told<"pong">;
}

/** A file or folder of the session's folder. */
export type FileStat = AppletFile;
export type FileList = Omit<Told<"files">, "type" | "id">;
export type FileChange = Omit<Told<"fileChanged">, "type">;
export type StateUpdate = Pick<Told<"stateUpdate">, "data" | "version">;

/** What the rest of the session does, by the name to listen for. */
export type AppletEvents = {
  [
    Name in
      | "ready"
      | "messageStarted"
      | "streamReady"
      | "messageDone"
      | "reload"
      | "resync"
      | "fileChanged"
      | "consentAsked"
  ]: Omit<Told<Name>, "type">;
};

/** What a channel sends to and receives from. */
export interface Link {
  /** Throws `buffer_full`, `too_large` or `closed` when it cannot take the message. */
  send(message: ClientMessage): void;
  /** The response is no longer needed. */
  forget(id: Id): void;
  dispose(): void;
}

export interface LinkEvents {
  onFrame: (frame: ServerFrame, bytes?: ArrayBuffer) => void;
  onClosed: (code: string, message: string) => void;
}

/** At most this many messages may wait for their answers. */
export const WAITING_MESSAGES = 256;
/** At most this many characters of messages may wait for their answers. */
export const WAITING_SIZE = 48 * 1024 * 1024;
/** The largest message but for a written file. */
export const MESSAGE_SIZE = 1024 * 1024;
/** The largest file that can be written at once. */
export const WRITE_BYTES = 16 * 1024 * 1024;
// Base64 takes four characters for three bytes.
const WRITE_SIZE = Math.ceil(WRITE_BYTES / 3) * 4 + 4096;

/** How long the text of a message may be. */
export function sizeLimit(type: string): number {
  return type === "writeFile" ? WRITE_SIZE : MESSAGE_SIZE;
}

/** The name of the question that this frame answers. */
export function idOf(frame: ServerFrame): Id | undefined {
  return "id" in frame ? frame.id : undefined;
}

/** Whether this frame is the last one that answers `request`. */
export function ends(frame: ServerFrame, request: ClientMessage): boolean {
  switch (frame.type) {
    case "consentAsked":
    case "stream":
      return false;
    case "invokeStarted":
      return !waitsForResult(request);
    case "fileContent":
      return frame.done;
    default:
      return true;
  }
}

function waitsForResult(request: ClientMessage): boolean {
  if (request.type !== "invoke") return true;
  return (request.waitForResult ?? request.options?.waitForResult) !== false;
}

/** Whether a piece of a file has bytes that come after it. */
export function hasBytes(frame: ServerFrame): boolean {
  return frame.type === "fileContent" && (frame.bytes ?? 0) > 0;
}
