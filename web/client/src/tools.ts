// The REST calls about MCP servers, the tools themselves, and the catalog, one method each.
import type {
  AddServers,
  ApprovalList,
  ApprovalPolicy,
  CallTool,
  CatalogPage,
  CatalogState,
  Install,
  InstallList,
  InstallServer,
  JsonValue,
  LastingChoice,
  LoginPage,
  LogLines,
  RouteAnswer,
  RouteSentence,
  RuntimeList,
  ServerEntry,
  SetSecrets,
  SetServerApproval,
  SetToolApproval,
  ToolAnswer,
  ToolList,
  ToolServerList,
} from "./generated/wire.js";
import { Http } from "./http.js";

/** Which part of the catalog is wanted. */
export interface CatalogOptions {
  /** Search terms; empty returns everything. */
  words?: string;
  /** Where the page before this one ended. */
  cursor?: string | undefined;
  limit?: number;
  signal?: AbortSignal;
}

export class Tools {
  readonly #http: Http;

  constructor(http: Http = new Http()) {
    this.#http = http;
  }

  servers(signal?: AbortSignal): Promise<ToolServerList> {
    return this.#http.get("/api/mcp/servers", { signal });
  }

  /** Adds servers by name, in the form that other hosts use. */
  add(servers: Record<string, ServerEntry>): Promise<ToolServerList> {
    const body: AddServers = { mcpServers: servers };
    return this.#http.post("/api/mcp/servers", { body });
  }

  remove(id: string): Promise<void> {
    return this.#http.delete(serverPath(id));
  }

  /** Starts a server, or restarts it. */
  start(id: string): Promise<void> {
    return this.#http.post(serverPath(id, "start"));
  }

  stop(id: string): Promise<void> {
    return this.#http.post(serverPath(id, "stop"));
  }

  /** Keeps values of a server with the secrets and restarts it. No call ever answers with them. */
  setSecrets(id: string, secrets: Record<string, string>): Promise<void> {
    const body: SetSecrets = { secrets };
    return this.#http.put(serverPath(id, "secrets"), { body });
  }

  /** Where a person logs in to a server that wants it. */
  logIn(id: string): Promise<LoginPage> {
    return this.#http.post(serverPath(id, "login"));
  }

  logOut(id: string): Promise<void> {
    return this.#http.post(serverPath(id, "logout"));
  }

  /** The lines after a number, oldest first. */
  logs(id: string, after: number, signal?: AbortSignal): Promise<LogLines> {
    return this.#http.get(serverPath(id, "logs"), { query: { after }, signal });
  }

  list(signal?: AbortSignal): Promise<ToolList> {
    return this.#http.get("/api/tools", { signal });
  }

  call(
    tool: string,
    args: JsonValue,
    signal?: AbortSignal,
  ): Promise<ToolAnswer> {
    const body: CallTool = { tool, args };
    return this.#http.post("/api/tools/call", { body, signal });
  }

  /** When the chat's agent asks before it calls tools. */
  approvals(signal?: AbortSignal): Promise<ApprovalList> {
    return this.#http.get("/api/tools/approvals", { signal });
  }

  /** Without a choice, the policy of the tool's server decides again. */
  setToolApproval(tool: string, choice?: LastingChoice): Promise<void> {
    const body: SetToolApproval = { tool, ...(choice && { choice }) };
    return this.#http.put("/api/tools/approvals", { body });
  }

  setServerApproval(id: string, policy: ApprovalPolicy): Promise<void> {
    const body: SetServerApproval = { policy };
    return this.#http.put(serverPath(id, "approval"), { body });
  }

  /** Which servers a sentence is for. */
  route(sentence: string, signal?: AbortSignal): Promise<RouteAnswer> {
    const body: RouteSentence = { sentence };
    return this.#http.post("/api/tools/route", { body, signal });
  }

  catalog(options: CatalogOptions = {}): Promise<CatalogPage> {
    const { words, cursor, limit, signal } = options;
    const query = { q: words || undefined, cursor, limit };
    return this.#http.get("/api/mcp/catalog", { query, signal });
  }

  /** Refreshes the catalog; `catalog` returns the progress. */
  refreshCatalog(): Promise<CatalogState> {
    return this.#http.post("/api/mcp/catalog/refresh");
  }

  runtimes(signal?: AbortSignal): Promise<RuntimeList> {
    return this.#http.get("/api/mcp/runtimes", { signal });
  }

  /** Starts to install a server; `installs` returns the progress. */
  install(server: InstallServer): Promise<Install> {
    return this.#http.post("/api/mcp/installs", { body: server });
  }

  installs(signal?: AbortSignal): Promise<InstallList> {
    return this.#http.get("/api/mcp/installs", { signal });
  }

  /** Cancels an install, or forgets one that is over. */
  endInstall(install: string): Promise<void> {
    return this.#http.delete(
      `/api/mcp/installs/${encodeURIComponent(install)}`,
    );
  }
}

function serverPath(id: string, action?: string): string {
  const path = `/api/mcp/servers/${encodeURIComponent(id)}`;
  return action ? `${path}/${action}` : path;
}
