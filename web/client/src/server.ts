// The REST calls about the server itself.
import type { AgentList } from "./generated/wire.js";
import type { Http } from "./http.js";

/** The agents a session can use, ready or not. */
export function listAgents(http: Http): Promise<AgentList> {
  return http.get("/api/agents");
}

/** Trades an API key for the cookie that later requests carry. */
export function logIn(http: Http, key: string): Promise<void> {
  return http.post("/api/login", { body: { key } });
}

/** Ends the log-in and takes its cookie back. */
export function logOut(http: Http): Promise<void> {
  return http.post("/api/logout");
}
