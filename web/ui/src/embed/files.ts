// Which files may be sent, and the errors for others.
import type { UploadRules } from "@gangway/client";
import { bytes } from "@gangway/kit/parts/amounts.js";

// Text that many systems have no type for.
const TEXT =
  /\.(txt|md|markdown|csv|tsv|log|ya?ml|toml|ini|conf|env|sh|py|rs|go|c|h|cc|cpp|hpp|java|kt|rb|php|swift|js|jsx|ts|tsx|css|scss|svelte|vue|sql|diff|patch)$/i;

/** The type of a file, without its parameters; empty if unknown. */
export function typeOf({ name, type }: { name: string; type: string }): string {
  const known = type.split(";")[0]?.trim().toLowerCase() ?? "";
  return known || (TEXT.test(name) ? "text/plain" : "");
}

/** Why a file cannot be sent, or null when it can. */
export function refusal(
  file: { name: string; type: string; size: number },
  { max_bytes, types }: UploadRules,
): string | null {
  if (file.size > max_bytes) {
    return `The file is ${bytes(file.size)}; the limit is ${bytes(max_bytes)}.`;
  }
  if (file.size === 0) return "The file is empty.";
  const type = typeOf(file);
  if (types.some((pattern) => matches(type, pattern))) return null;
  return type === ""
    ? "Files of this type are not accepted."
    : `Files of type ${type} are not accepted.`;
}

/** The limits as one sentence. */
export function limitsOf({ max_bytes, types }: UploadRules): string {
  const kinds = types.map((type) => type.replace(/\/\*$/, " files")).join(", ");
  return `Up to ${bytes(max_bytes)} each: ${kinds}.`;
}

function matches(type: string, pattern: string): boolean {
  if (type === "") return false;
  const wanted = pattern.toLowerCase();
  if (wanted === type) return true;
  return wanted.endsWith("/*") && type.startsWith(wanted.slice(0, -1));
}
