// One remote agent, for a holder of its token.
import type {
  AcceptedByAgent,
  FrameInfo,
  History,
  OpenFrame,
  PostToAgent,
  SpeechText,
  Uploaded,
} from "../generated/wire.js";
import { Http } from "../http.js";
import { AgentFeed, type AgentFeedOptions } from "./feed.js";
import { upload, type UploadOptions } from "./upload.js";

export interface RemoteAgentOptions {
  /** Where the server is; empty means the page's own origin. */
  baseUrl?: string;
  /** The fetch to use instead of the global one. */
  fetch?: typeof fetch;
}

export class RemoteAgent {
  readonly agentId: string;
  readonly #http: Http;
  readonly #token: string;
  readonly #path: string;

  constructor(
    agentId: string,
    token: string,
    options: RemoteAgentOptions = {},
  ) {
    this.agentId = agentId;
    this.#token = token;
    this.#http = new Http({ ...options, apiKey: token });
    this.#path = `/api/remote_agents/${encodeURIComponent(agentId)}`;
  }

  /** What an embed begins with; needs the session token. */
  exchange(request: OpenFrame = {}): Promise<FrameInfo> {
    return this.#http.post(`${this.#path}/exchange`, { body: request });
  }

  /** Follows the conversation and the agent's state until it is disposed. */
  events(options: Omit<AgentFeedOptions, "open">): AgentFeed {
    return new AgentFeed({
      ...options,
      open: (since, signal) =>
        this.#http.stream(
          `${this.#path}/events`,
          {
            query: { since },
            headers: { accept: "text/event-stream" },
            signal,
          },
          "GET",
        ),
    });
  }

  /** Sends a prompt; it waits its turn when another one is running. Sent again with the same key, it takes effect once. */
  send(message: PostToAgent, key?: string): Promise<AcceptedByAgent> {
    return this.#http.post(`${this.#path}/messages`, {
      body: message,
      ...(key === undefined ? {} : { headers: { "idempotency-key": key } }),
    });
  }

  answer(questionId: string, answer: string): Promise<unknown> {
    const body = { question_id: questionId, answer };
    return this.#http.post(`${this.#path}/answer`, { body });
  }

  /** Ends the running turn and drops the prompts that wait. */
  stop(): Promise<unknown> {
    return this.#http.post(`${this.#path}/stop`);
  }

  /** Entries before a number, for pages older than a snapshot. */
  history(page: { before?: number; limit?: number } = {}): Promise<History> {
    return this.#http.get(`${this.#path}/history`, { query: page });
  }

  /** Puts a file into the agent's folder. */
  upload(file: File, options: UploadOptions = {}): Promise<Uploaded> {
    const name = encodeURIComponent(file.name);
    const url = `${this.#http.baseUrl}${this.#path}/uploads?name=${name}`;
    return upload(url, this.#token, file, options);
  }

  /** The transcript of a recording. */
  transcribe(audio: Blob, signal?: AbortSignal): Promise<SpeechText> {
    const path = `${this.#path}/transcribe`;
    return this.#http.post(path, { body: audio, signal });
  }
}
