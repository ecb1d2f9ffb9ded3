// File contents between what an applet has in hand and what travels.
import { GangwayError } from "../errors.js";
import { WRITE_BYTES } from "./wire.js";

export type Content = string | Uint8Array | ArrayBuffer | Blob | object;

export interface EncodedContent {
  content: string;
  encoding: "utf8" | "base64";
}

/** Text stays text, bytes become base64, any other object becomes JSON. */
export async function encode(content: Content): Promise<EncodedContent> {
  if (typeof content === "string") return { content, encoding: "utf8" };
  if (content instanceof Blob) return encode(await content.arrayBuffer());
  if (content instanceof ArrayBuffer) return encode(new Uint8Array(content));
  if (!(content instanceof Uint8Array)) {
    return encode(`${JSON.stringify(content, null, 2)}\n`);
  }
  if (content.byteLength > WRITE_BYTES) {
    throw new GangwayError(
      "too_large",
      `The file is ${content.byteLength} bytes; one write is limited to ${WRITE_BYTES} bytes.`,
    );
  }
  return { content: base64(content), encoding: "base64" };
}

// The number of arguments of a call is limited; a multiple of three leaves no padding inside.
const STEP = 0x6000;

function base64(bytes: Uint8Array): string {
  const parts: string[] = [];
  for (let at = 0; at < bytes.length; at += STEP) {
    parts.push(btoa(String.fromCharCode(...bytes.subarray(at, at + STEP))));
  }
  return parts.join("");
}

/** One array out of many. */
export function join(chunks: Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(
    chunks.reduce((sum, chunk) => sum + chunk.length, 0),
  );
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** Paths as the server spells them: no `./` before and no slash after them. An absolute one stays: the server says what is wrong. */
export function plainPath(path: string): string {
  return path.replace(/^(\.\/+)+|(?<=[^/])\/+$/g, "").replace(/^\.$/, "");
}

/** Whether a change at `changed` concerns a watch of `watched`. */
export function concerns(changed: string, watched: string): boolean {
  return (
    watched === "" || changed === watched || changed.startsWith(`${watched}/`)
  );
}
