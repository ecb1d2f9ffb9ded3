// The result of a tool, in blocks to show.
import type { JsonValue } from "@gangway/client";
import { bytes } from "../parts/amounts.js";

export type ResultBlock =
  | { kind: "text" | "json" | "note"; text: string }
  | { kind: "image" | "audio"; source: string; text: string }
  | { kind: "link"; href: string | null; text: string };

type JsonObject = { [key: string]: JsonValue };

// Kinds of images that hold nothing that runs.
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

const AUDIO = /^audio\/[a-z0-9.+-]+$/;

export function blocksOf(result: JsonValue): ResultBlock[] {
  if (typeof result === "string") return [{ kind: "text", text: result }];
  return (
    beginningOf(result) ?? contentOf(result)?.map(blockOf) ?? [pretty(result)]
  );
}

/** What was too long, and how much of it is here. */
function beginningOf(result: JsonValue): ResultBlock[] | null {
  if (!isObject(result) || result["truncated"] !== true) return null;
  const { text, totalBytes, nextOffset } = result;
  if (typeof text !== "string") return null;
  const here = typeof nextOffset === "number" ? nextOffset : text.length;
  const whole = typeof totalBytes === "number" ? totalBytes : here;
  const note = `Truncated: showing the first ${bytes(here)} of ${bytes(whole)}.`;
  return [
    { kind: "text", text },
    { kind: "note", text: note },
  ];
}

function contentOf(result: JsonValue): JsonObject[] | null {
  if (!Array.isArray(result) || result.length === 0) return null;
  const blocks = result.filter(isObject);
  const typed = blocks.every(({ type }) => typeof type === "string");
  return typed && blocks.length === result.length ? blocks : null;
}

function blockOf(block: JsonObject): ResultBlock {
  const { type, text, data, mimeType, uri, name, resource } = block;
  if (type === "text" && typeof text === "string") {
    return { kind: "text", text };
  }
  if (type === "resource_link" && typeof uri === "string") {
    const shown = typeof name === "string" && name !== "" ? name : uri;
    return { kind: "link", href: webAddress(uri), text: shown };
  }
  if (type === "resource" && resource !== undefined && isObject(resource)) {
    return resourceOf(resource) ?? pretty(block);
  }
  return mediaOf(data, mimeType) ?? pretty(block);
}

/** A file that came with the answer: its text, or what its bytes are. */
function resourceOf(resource: JsonObject): ResultBlock | null {
  const { text, blob, mimeType, uri } = resource;
  const from = (end: string) => (typeof uri === "string" ? uri + end : "");
  if (typeof text === "string")
    return { kind: "text", text: from("\n") + text };
  const media = mediaOf(blob, mimeType ?? "application/octet-stream");
  return media && { ...media, text: from(": ") + media.text };
}

function mediaOf(
  data: JsonValue | undefined,
  mimeType: JsonValue | undefined,
): ResultBlock | null {
  if (typeof data !== "string" || typeof mimeType !== "string") return null;
  const text = `${mimeType}, ${bytes(Math.floor((data.length * 3) / 4))}`;
  const source = `data:${mimeType};base64,${data}`;
  if (IMAGES.includes(mimeType)) return { kind: "image", source, text };
  if (AUDIO.test(mimeType)) return { kind: "audio", source, text };
  return { kind: "note", text };
}

/** An address that may be a link; other schemes are shown and not opened. */
function webAddress(uri: string): string | null {
  return /^https?:\/\//i.test(uri) ? uri : null;
}

function pretty(value: JsonValue): ResultBlock {
  return { kind: "json", text: JSON.stringify(value, null, 2) };
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
