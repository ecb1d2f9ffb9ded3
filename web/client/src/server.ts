// The REST calls about the server itself.
import type { AgentList, LoggedIn, LoginList } from "./generated/wire.js";
import type { Http } from "./http.js";

/** The agents a session can use, ready or not. */
export function listAgents(http: Http): Promise<AgentList> {
  return http.get("/api/agents");
}

/** Logs this browser in with a code or an API key, for a token that only pages of this origin can use. */
export function logIn(http: Http, key: string): Promise<LoggedIn> {
  return http.post("/api/login", { body: { key } });
}

/** Ends the login whose token is sent. */
export function logOut(http: Http): Promise<void> {
  return http.post("/api/logout");
}

/** The browsers that are logged in. */
export function listLogins(
  http: Http,
  signal?: AbortSignal,
): Promise<LoginList> {
  return http.get("/api/logins", { signal });
}

export function endLogin(http: Http, id: string): Promise<void> {
  return http.delete(`/api/logins/${encodeURIComponent(id)}`);
}

/** Logs all browsers out, this one too. */
export function endLogins(http: Http): Promise<void> {
  return http.delete("/api/logins");
}
