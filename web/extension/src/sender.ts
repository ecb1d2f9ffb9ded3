// Who speaks: what the browser says of a sender, never what the sender says.

/** As much of a sender as is needed here. */
export interface Sender {
  id?: string | undefined;
  url?: string | undefined;
  origin?: string | undefined;
  frameId?: number | undefined;
  tab?: { id?: number | undefined; url?: string | undefined } | undefined;
}

/** The origin of the document that a content script runs in; null if it has none or is not a page. */
export function originOf(sender: Sender | undefined): string | null {
  if (sender?.tab?.id === undefined || sender.origin === undefined) return null;
  // Sandboxed frames and files have no origin to allow anything to.
  return /^https?:\/\/[^/]+$/.test(sender.origin) ? sender.origin : null;
}

/** The page in the tab, for a document in one of its frames; what the browser does not say is "null". */
export function ancestorsOf(sender: Sender | undefined): string[] {
  if (sender?.frameId === 0) return [];
  return [originIn(sender?.tab?.url ?? "") ?? "null"];
}

/** The origin in an address; null for what is no page of the web. */
export function originIn(url: string): string | null {
  return /^https?:\/\//.test(url) ? new URL(url).origin : null;
}

/** Whether a page of the extension itself speaks. */
export function isOwn(
  sender: Sender | undefined,
  self: { id: string; root: string },
): boolean {
  return sender?.id === self.id && (sender.url ?? "").startsWith(self.root);
}

/** A name for a tab that no page can guess: what is allowed once ends with the tab. */
export function tabName(secret: string, tab: number): string {
  return secret.slice(0, 24) + (tab >>> 0).toString(16).padStart(8, "0");
}
