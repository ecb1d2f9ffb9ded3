// Which request of our library is which message to the bridge; what stands here is all that the extension's pages can ask.

type Fields = Record<string, unknown>;

/** What a request carries besides its path. */
interface Given {
  /** The variable parts of the path, in order. */
  at: string[];
  query: Fields;
  body: unknown;
}

type Route = [
  method: string,
  path: RegExp,
  type: string,
  fields?: (given: Given) => Fields,
];

const server = ({ at }: Given) => ({ server_id: at[0] });
const chat = ({ at }: Given) => ({ session_id: at[0] });
const body = ({ body }: Given) => ({ body });
const asked = ({ at }: Given) => ({ ask: at[0] });
/** The query, with numbers where the bridge wants them. */
const numbered =
  (...names: string[]) =>
  ({ query }: Given): Fields =>
    Object.fromEntries<unknown>(
      Object.entries(query).map(([name, value]) => [
        ...([name, names.includes(name) ? Number(value) : value] as const),
      ]),
    );

const SERVERS = "/api/mcp/servers";
const SESSIONS = "/api/sessions";
const ASKS = "/api/asks";

/** A path, with `:` for each part that varies. */
function path(pattern: string): RegExp {
  return new RegExp(`^${pattern.replaceAll(":", "([^/]+)")}$`);
}

const ROUTES: Route[] = [
  ["GET", path(SERVERS), "list_servers"],
  ["POST", path(SERVERS), "add_server", body],
  ["DELETE", path(`${SERVERS}/:`), "remove_server", server],
  ["POST", path(`${SERVERS}/:/start`), "connect_server", server],
  ["POST", path(`${SERVERS}/:/stop`), "disconnect_server", server],
  ["POST", path(`${SERVERS}/:/login`), "server_login", server],
  ["POST", path(`${SERVERS}/:/logout`), "server_logout", server],
  [
    "GET",
    path(`${SERVERS}/:/logs`),
    "get_server_logs",
    ({ at, query }) => ({ server_id: at[0], after: Number(query["after"]) }),
  ],
  ["GET", path("/api/tools"), "mcp_list_tools"],
  [
    "POST",
    path("/api/tools/call"),
    "mcp_call_tool",
    ({ body }) => body as Fields,
  ],
  ["GET", path("/api/providers"), "llm_list_providers"],
  ["POST", path("/api/providers/detect"), "llm_detect"],
  ["GET", path("/api/models"), "llm_list_models"],
  [
    "PUT",
    path("/api/models/default"),
    "llm_set_active",
    ({ body }) => body as Fields,
  ],
  ["POST", path(SESSIONS), "chat_create_session", body],
  ["GET", path(SESSIONS), "chat_list_sessions", numbered("limit")],
  ["GET", path(`${SESSIONS}/:`), "chat_get_session", chat],
  ["DELETE", path(`${SESSIONS}/:`), "chat_delete_session", chat],
  [
    "PATCH",
    path(`${SESSIONS}/:`),
    "chat_update_session",
    (given) => ({ ...chat(given), ...body(given) }),
  ],
  [
    "POST",
    path(`${SESSIONS}/:/messages`),
    "chat_send_message",
    (given) => ({
      ...{ ...chat(given), ...body(given) },
      // Sent again under this name, it takes effect once.
      idempotency_key: crypto.randomUUID(),
    }),
  ],
  ["POST", path(`${SESSIONS}/:/stop`), "chat_stop", chat],
  [
    "POST",
    path(`${SESSIONS}/:/answers`),
    "chat_answer",
    (given) => ({ ...chat(given), ...body(given) }),
  ],
  [
    "GET",
    path("/api/history"),
    "chat_history",
    (given) => {
      const { session, ...rest } = numbered("before", "limit")(given);
      return { session_id: session, ...rest };
    },
  ],
  ["GET", path("/api/permissions"), "permission_list"],
  ["PATCH", path("/api/permissions"), "permission_set", body],
  [
    "DELETE",
    path("/api/permissions"),
    "permission_forget",
    ({ query }) => query,
  ],
  ["GET", path(ASKS), "ask_list"],
  ["GET", path(`${ASKS}/:`), "ask_get", asked],
  [
    "POST",
    path(`${ASKS}/:`),
    "ask_answer",
    (given) => ({ ...asked(given), ...body(given) }),
  ],
  ["DELETE", path(`${ASKS}/:`), "ask_dismiss", asked],
  [
    "GET",
    path("/api/permissions/audit"),
    "permission_audit",
    numbered("before", "limit"),
  ],
  ["POST", path("/api/panel"), "panel_enter", body],
  [
    "DELETE",
    path("/api/panel/:"),
    "panel_close",
    ({ at }) => ({ chat_id: at[0] }),
  ],
];

/** Every message that can come of a request. */
export const TYPES = ROUTES.map(([, , type]) => type);

export interface Message {
  type: string;
  fields: Fields;
}

/** The message for a request, or null where there is none. */
export function messageFor(
  method: string,
  address: string,
  body: unknown,
): Message | null {
  const { pathname, searchParams } = new URL(address, "http://gangway.invalid");
  for (const [way, pattern, type, fields] of ROUTES) {
    const found = way === method ? pattern.exec(pathname) : null;
    if (!found) continue;
    const at = found.slice(1).map((part) => decodeURIComponent(part));
    const query = Object.fromEntries(searchParams);
    return { type, fields: fields?.({ at, query, body }) ?? {} };
  }
  return null;
}
