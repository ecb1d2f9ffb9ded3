// Opens a channel from any page or program.
import { Http } from "../http.js";
import { Sessions } from "../sessions.js";
import { AppletChannel } from "./channel.js";
import { SocketLink, type SocketLinkOptions } from "./socket-link.js";

export type ConnectOptions = Omit<SocketLinkOptions, "askWhy">;

/** Why a channel to this session is rejected, found out with a plain request. */
export function askWhy(
  options: ConnectOptions,
): (signal: AbortSignal) => Promise<unknown> {
  const http = new Http({
    baseUrl: options.url ?? "",
    ...(options.key && { apiKey: options.key }),
  });
  return (signal) => new Sessions(http).get(options.session, signal);
}

/** A channel with its own WebSocket, which reconnects and resumes automatically. */
export function connect(options: ConnectOptions): AppletChannel {
  return new AppletChannel(
    (events) => new SocketLink({ ...options, askWhy: askWhy(options) }, events),
  );
}
