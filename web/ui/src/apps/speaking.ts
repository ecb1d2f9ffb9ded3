// Who speaks in a chat beside the person: applets and apps go by the same names, and an applet comes first.
import type { AppState } from "../app.svelte.js";
import { isAppEntry } from "./lines.js";

type Known = Pick<AppState, "apps" | "gallery">;

export function isApp({ apps, gallery }: Known, name: string): boolean {
  return !gallery.find(name) && apps.find(name) !== undefined;
}

/** What people call it. */
export function nameOf(known: Known, name: string): string {
  const { apps, gallery } = known;
  return isApp(known, name) ? apps.titleOf(name) : gallery.nameOf(name);
}

/** Puts it beside the chat; an app as it was launched there last. */
export function openSpeaker(app: AppState, name: string): void {
  if (!isApp(app, name)) {
    app.openApplet(name);
    return;
  }
  const entries = app.chat.conversation?.entries ?? [];
  const last = entries.findLast(
    (entry) => isAppEntry(entry) && entry.app === name,
  );
  app.openLaunch(name, last && isAppEntry(last) ? last.launchId : null);
}
