// What pages of other origins may do, and did.
import type {
  AuditPage,
  OriginPermissions,
  PermissionList,
  SetPermissions,
} from "./generated/wire.js";
import { Http } from "./http.js";

/** Which part of the log is wanted. */
export interface AuditOptions {
  origin?: string | undefined;
  /** Where the page before this one ended. */
  before?: string | undefined;
  limit?: number;
}

export class Permissions {
  readonly #http: Http;

  constructor(http: Http = new Http()) {
    this.#http = http;
  }

  list(signal?: AbortSignal): Promise<PermissionList> {
    return this.#http.get("/api/permissions", { signal });
  }

  /** Changes what is named; the rest stays as it is. */
  set(settings: SetPermissions): Promise<OriginPermissions> {
    return this.#http.patch("/api/permissions", { body: settings });
  }

  forget(origin: string): Promise<void> {
    return this.#http.delete("/api/permissions", { query: { origin } });
  }

  forgetAll(): Promise<void> {
    return this.#http.delete("/api/permissions");
  }

  /** Newest first. */
  audit(options: AuditOptions = {}): Promise<AuditPage> {
    return this.#http.get("/api/permissions/audit", { query: { ...options } });
  }
}
