// The REST calls of a chat that a page of another origin opened.
import type { PanelInfo, PanelTicket } from "./generated/wire.js";
import { Http } from "./http.js";

/** Learns which chat a panel shows; a ticket is good once. */
export function enterPanel(
  http: Http,
  ticket: PanelTicket,
): Promise<PanelInfo> {
  return http.post("/api/panel", { body: ticket });
}

export function closePanel(http: Http, chatId: string): Promise<void> {
  return http.delete(`/api/panel/${encodeURIComponent(chatId)}`);
}

/** The origin that a panel's address says may frame it. */
export function parentIn(search: string): string {
  return new URLSearchParams(search).get("for") ?? "";
}
