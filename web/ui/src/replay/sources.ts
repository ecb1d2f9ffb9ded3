// Where replays come from: a session of this server, or a file.
import { Applets, Sessions, type AppletInfo, type Http } from "@gangway/client";
import { titleOf } from "@gangway/kit/chat/titles.js";
import { fileOf, SHELL, texts } from "./file.js";
import type { ReplayState, Source } from "./replay.svelte.js";

/** Every event of a session, as the server reads it. */
export async function recorded(
  http: Http,
  id: string,
  signal: AbortSignal,
): Promise<Source> {
  const sessions = new Sessions(http);
  const [session, stream] = await Promise.all([
    sessions.get(id, signal),
    sessions.export(id, signal),
  ]);
  return { title: titleOf(session), session: id, pieces: texts(stream) };
}

/** The applets that can be shown, by their slugs. */
export async function appletsOf(
  http: Http,
): Promise<ReadonlyMap<string, AppletInfo>> {
  const { applets } = await new Applets(http).list();
  const good = applets.filter(({ problem }) => problem === undefined);
  return new Map(good.map((applet) => [applet.slug, applet]));
}

/** The replay as one file that opens anywhere. */
export async function exported(http: Http, replay: ReplayState): Promise<Blob> {
  const stream = await http.stream(SHELL, {}, "GET");
  const shell = await new Response(stream).text();
  const { title, session, recording } = replay;
  return fileOf(shell, { title, session }, recording.events);
}
