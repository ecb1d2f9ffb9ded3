// What a tool answered, piece by piece, for people.
import type { JsonValue } from "@gangway/client";
import { bytes } from "../parts/amounts.js";

export type Piece =
  | { kind: "text" | "json" | "note"; text: string }
  | { kind: "image"; source: string; text: string };

type JsonObject = { [key: string]: JsonValue };

// Kinds of images that hold nothing that runs.
const IMAGES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

export function piecesOf(result: JsonValue): Piece[] {
  if (typeof result === "string") return [{ kind: "text", text: result }];
  return (
    beginningOf(result) ?? blocksOf(result)?.map(pieceOf) ?? [pretty(result)]
  );
}

/** What was too long, and how much of it is here. */
function beginningOf(result: JsonValue): Piece[] | null {
  if (!isObject(result) || result["truncated"] !== true) return null;
  const { text, totalBytes, nextOffset } = result;
  if (typeof text !== "string") return null;
  const here = typeof nextOffset === "number" ? nextOffset : text.length;
  const whole = typeof totalBytes === "number" ? totalBytes : here;
  const note = `Cut: the first ${bytes(here)} of ${bytes(whole)} are shown.`;
  return [
    { kind: "text", text },
    { kind: "note", text: note },
  ];
}

function blocksOf(result: JsonValue): JsonObject[] | null {
  if (!Array.isArray(result) || result.length === 0) return null;
  const blocks = result.filter(isObject);
  const typed = blocks.every(({ type }) => typeof type === "string");
  return typed && blocks.length === result.length ? blocks : null;
}

function pieceOf(block: JsonObject): Piece {
  const { type, text, data, mimeType } = block;
  if (type === "text" && typeof text === "string") {
    return { kind: "text", text };
  }
  if (typeof data !== "string" || typeof mimeType !== "string") {
    return pretty(block);
  }
  const size = bytes(Math.floor((data.length * 3) / 4));
  if (type === "image" && IMAGES.includes(mimeType)) {
    const source = `data:${mimeType};base64,${data}`;
    return { kind: "image", source, text: `${mimeType}, ${size}` };
  }
  return { kind: "note", text: `${mimeType}, ${size}` };
}

function pretty(value: JsonValue): Piece {
  return { kind: "json", text: JSON.stringify(value, null, 2) };
}

function isObject(value: JsonValue): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
