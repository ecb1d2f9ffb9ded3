// The messages of an applet's channel, as they travel over a WebSocket and over a port.

export type Id = string | number;
export type State = Readonly<Record<string, unknown>>;

/** Whatever an applet asks; `type` says what. */
export interface ClientMessage {
  type: string;
  id?: Id;
  [field: string]: unknown;
}

/** A file or folder of the session's folder. */
export interface FileStat {
  path: string;
  name: string;
  kind: "file" | "folder" | "other";
  size: number;
  /** When it was last changed. */
  modified?: string;
}

export interface FileList {
  path: string;
  entries: FileStat[];
  /** Whether there are more entries than were listed. */
  more: boolean;
}

export interface FileChange {
  path: string;
  event: "created" | "changed" | "removed";
}

/** A piece of a file; its bytes come right after it. */
export interface FileContent {
  type: "fileContent";
  path: string;
  done: boolean;
  size: number;
  bytes?: number;
  chunk?: string;
}

export interface StateUpdate {
  type: "stateUpdate";
  data: Record<string, unknown>;
  version: number;
}

/** What the rest of the session does, by the name to listen for. */
export interface AppletEvents {
  /** The channel is open, for the first time or again. */
  ready: { session: string; applet?: string; seq: number; version?: number };
  messageStarted: {
    prompt: string;
    source: "person" | "applet" | "agent";
    appletSlug?: string;
    streamId: string;
    seq: number;
    showInChat: boolean;
  };
  streamReady: { streamId: string; seq: number };
  messageDone: { streamId: string; outcome: string; seq: number };
  /** The applet changed on disk. */
  reload: object;
  resync: {
    reason: string;
    seq: number;
    state?: Record<string, unknown>;
    version?: number;
  };
  fileChanged: FileChange;
  /** The person is being asked whether this applet may speak. */
  consentAsked: { id?: Id };
}

/** Anything the server says: `type` and the fields that go with it. */
export interface ServerFrame {
  type: string;
  id?: Id;
  seq?: number;
  [field: string]: unknown;
}

/** What a channel sends through and hears from. */
export interface Link {
  /** Throws `buffer_full`, `too_large` or `closed` when it cannot take the message. */
  send(message: ClientMessage): void;
  /** Nobody waits for the answer any more. */
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

/** Whether this frame is the last one that answers `request`. */
export function ends(frame: ServerFrame, request: ClientMessage): boolean {
  switch (frame.type) {
    case "consentAsked":
    case "stream":
      return false;
    case "invokeStarted":
      return !waitsForResult(request);
    case "fileContent":
      return frame["done"] === true;
    default:
      return true;
  }
}

function waitsForResult(request: ClientMessage): boolean {
  const options = request["options"] as { waitForResult?: unknown } | undefined;
  const waits = request["waitForResult"] ?? options?.waitForResult;
  return waits !== false;
}

/** Whether a piece of a file has bytes that come after it. */
export function hasBytes(frame: ServerFrame): boolean {
  return frame.type === "fileContent" && Number(frame["bytes"] ?? 0) > 0;
}
