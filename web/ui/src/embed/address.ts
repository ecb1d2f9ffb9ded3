// What the address of an embed says, and how it forgets the token.
import type { EmbedStyle, FlagsWanted } from "@gangway/client";
import { lookOf } from "./look.js";

export interface EmbedAddress {
  agentId: string;
  token: string | null;
  /** The origin of the parent page, as that page says. */
  parent: string | null;
  style: EmbedStyle;
  /** Features that the address switches on or off. */
  features: FlagsWanted;
}

const FEATURES = ["file_upload", "context_usage", "voice_mic"] as const;

/** Reads the address and takes the token out of it, of the history and of what a reload shows. */
export function takeAddress(): EmbedAddress {
  const query = new URLSearchParams(location.search);
  const token = query.get("token");
  if (query.has("token")) {
    query.delete("token");
    const rest = query.toString();
    const path = location.pathname + (rest && `?${rest}`) + location.hash;
    history.replaceState(null, "", path);
  }
  const [, id = ""] = /^\/embed\/([^/]+)\/?$/.exec(location.pathname) ?? [];
  return {
    agentId: decoded(id),
    token: token === "" ? null : token,
    parent: query.get("parent"),
    style: lookOf(Object.fromEntries(query)),
    features: Object.fromEntries(
      FEATURES.flatMap((name) => {
        const value = query.get(name);
        if (value === null) return [];
        return [[name, value === "1" || value === "true"]];
      }),
    ),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    // An invalid id; the server returns the error.
    return text;
  }
}
