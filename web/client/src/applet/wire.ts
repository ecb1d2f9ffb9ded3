// The messages of an applet's channel, as they travel over a WebSocket and over a port.
import type {
  AppletClientMessage,
  AppletFile,
  AppletServerMessage,
  JsonValue,
} from "../generated/wire.js";

/** Identifies a request; its response carries the same id. */
export type Id = JsonValue;
export type State = Readonly<Record<string, unknown>>;

/** A request of an applet. */
export type ClientMessage = AppletClientMessage & { id?: Id };

/** A message of the server. */
export type ServerFrame = AppletServerMessage;

/** The server's frame of this type. */
export type FrameOf<Name extends AppletServerMessage["type"]> = Extract<
  AppletServerMessage,
  { type: Name }
>;

/** The last frame of the response to each request. */
export interface Answers {
  setState: FrameOf<"stateUpdate">;
  getState: FrameOf<"state">;
  readFile: FrameOf<"fileContent">;
  writeFile: FrameOf<"fileWritten">;
  listFiles: FrameOf<"files">;
  stat: FrameOf<"fileStat">;
  subscribe: FrameOf<"subscribed">;
  unsubscribe: FrameOf<"unsubscribed">;
  invoke: FrameOf<"invokeStarted" | "invokeComplete">;
  stop: FrameOf<"stopped">;
  offerTools: FrameOf<"toolsOffered">;
  /** Only when it came too late. */
  toolResult: FrameOf<"error">;
  ping: FrameOf<"pong">;
}

/** A file or folder of the session's folder. */
export type FileStat = AppletFile;
export type FileList = Omit<FrameOf<"files">, "type" | "id">;
export type FileChange = Omit<FrameOf<"fileChanged">, "type">;
export type StateUpdate = Pick<FrameOf<"stateUpdate">, "data" | "version">;

/** Events of the session, by the name to listen for. */
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
  ]: Omit<FrameOf<Name>, "type">;
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

/** The id of the request that this frame answers. */
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

/** Whether a chunk of a file has bytes that come after it. */
export function hasBytes(frame: ServerFrame): boolean {
  return frame.type === "fileContent" && (frame.bytes ?? 0) > 0;
}
