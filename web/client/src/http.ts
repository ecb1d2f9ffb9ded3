// A small typed wrapper around fetch that turns error answers into GangwayError.
import { GangwayError } from "./errors.js";
import { keyNow, type ApiKey } from "./key.js";

export interface HttpOptions {
  /** Where the server is; empty means the page's own origin. */
  baseUrl?: string;
  /** Sent as a bearer token with every request. */
  apiKey?: ApiKey;
  /** Called for every failed request, with the key that was used. */
  onError?: (error: GangwayError, apiKey: string | undefined) => void;
  /** The fetch to use instead of the global one. */
  fetch?: typeof fetch;
}

export interface RequestOptions {
  query?: Record<string, string | number | undefined>;
  /** Sent as JSON; a blob goes as it is, with its own type. */
  body?: unknown;
  headers?: Record<string, string>;
  signal?: AbortSignal | undefined;
}

type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

export class Http {
  readonly baseUrl: string;
  readonly #apiKey: ApiKey | undefined;
  readonly #onError: HttpOptions["onError"];
  readonly #fetch: typeof fetch;

  constructor(options: HttpOptions = {}) {
    this.baseUrl = (options.baseUrl ?? "").replace(/\/+$/, "");
    this.#apiKey = options.apiKey;
    this.#onError = options.onError;
    // Called as a plain function: a browser's fetch refuses any other receiver.
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
  }

  /** The key that the next request is sent with. */
  get apiKey(): string | undefined {
    return keyNow(this.#apiKey);
  }

  get<T>(path: string, options?: RequestOptions): Promise<T> {
    return this.#request("GET", path, options);
  }

  put<T>(path: string, options?: RequestOptions): Promise<T> {
    return this.#request("PUT", path, options);
  }

  post<T>(path: string, options?: RequestOptions): Promise<T> {
    return this.#request("POST", path, options);
  }

  patch<T>(path: string, options?: RequestOptions): Promise<T> {
    return this.#request("PATCH", path, options);
  }

  delete<T>(path: string, options?: RequestOptions): Promise<T> {
    return this.#request("DELETE", path, options);
  }

  /** Streams the response, e.g. server-sent events; the default method is POST. */
  async stream(
    path: string,
    options?: RequestOptions,
    method: Method = "POST",
  ): Promise<ReadableStream<Uint8Array>> {
    const response = await this.#send(method, path, options);
    if (response.body) return response.body;
    throw unreadable(response);
  }

  async #request<T>(
    method: Method,
    path: string,
    options?: RequestOptions,
  ): Promise<T> {
    const response = await this.#send(method, path, options);
    return (await readJson(response)) as T;
  }

  /** The answer, when it is a good one. */
  async #send(
    method: Method,
    path: string,
    options: RequestOptions = {},
  ): Promise<Response> {
    const { apiKey } = this;
    try {
      return await this.#fetchWith(apiKey, method, path, options);
    } catch (error) {
      if (error instanceof GangwayError) this.#onError?.(error, apiKey);
      throw error;
    }
  }

  async #fetchWith(
    apiKey: string | undefined,
    method: Method,
    path: string,
    { query, body, headers: more, signal }: RequestOptions,
  ): Promise<Response> {
    const raw = body instanceof Blob;
    const headers: Record<string, string> = { accept: "application/json" };
    if (apiKey) headers["authorization"] = `Bearer ${apiKey}`;
    if (raw) headers["content-type"] = body.type || "application/octet-stream";
    else if (body !== undefined) headers["content-type"] = "application/json";

    let response: Response;
    try {
      response = await this.#fetch(this.baseUrl + path + queryString(query), {
        method,
        headers: { ...headers, ...more },
        ...(body === undefined
          ? {}
          : { body: raw ? body : JSON.stringify(body) }),
        ...(signal ? { signal } : {}),
      });
    } catch (cause) {
      if (signal?.aborted) throw cause;
      throw GangwayError.unreachable(cause);
    }

    if (response.ok) return response;
    throw GangwayError.fromResponse(response.status, await readJson(response));
  }
}

async function readJson(response: Response): Promise<unknown> {
  if (response.status === 204) return undefined;
  try {
    return await response.json();
  } catch (cause) {
    if (!response.ok) return undefined;
    throw unreadable(response, cause);
  }
}

function unreadable(response: Response, cause?: unknown): GangwayError {
  return new GangwayError(
    "bad_answer",
    "The server's answer could not be read.",
    { status: response.status, cause },
  );
}

function queryString(query: RequestOptions["query"]): string {
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query ?? {})) {
    if (value !== undefined) params.set(name, String(value));
  }
  const text = params.toString();
  return text && `?${text}`;
}
