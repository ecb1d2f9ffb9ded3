// The text of a document that is open in a tab, on http and https alone.
import type { ActiveTabReadability } from "@gangway/client/web-agent";

export interface Where {
  tabId: number;
  frameId?: number | undefined;
  /** The very document, in browsers that name them: a frame may show another by now. */
  documentId?: string | undefined;
}

/** Throws an error with a message for the user. */
export async function readTab({
  tabId,
  frameId = 0,
  documentId,
}: Where): Promise<ActiveTabReadability> {
  const [done] = await chrome.scripting.executeScript({
    target:
      documentId === undefined
        ? { tabId, frameIds: [frameId] }
        : { tabId, documentIds: [documentId] },
    files: ["read.js"],
  });
  // What the file ends with.
  const text = done?.result as ActiveTabReadability | undefined;
  if (!text) throw new Error("The page could not be read.");
  return text;
}

/** Whether an address is one that can be read. */
export function isReadable(url: string | undefined): boolean {
  return /^https?:\/\//.test(url ?? "");
}
