// The REST calls about the demo.
import type { DemoInfo, DemoStatus } from "./generated/wire.js";
import { Http } from "./http.js";

export class Demo {
  readonly #http: Http;

  constructor(http: Http = new Http()) {
    this.#http = http;
  }

  /** The running demo, or the last one; with a version, after a change or some seconds. */
  async get(after?: number, signal?: AbortSignal): Promise<DemoInfo | null> {
    const query = { after };
    const { demo } = await this.#http.get<DemoStatus>("/api/demo", {
      query,
      signal,
    });
    return demo;
  }

  start(): Promise<DemoInfo> {
    return this.#http.post("/api/demo", { body: {} });
  }

  /** Ends it; its keys and the grants of its site are revoked. */
  stop(): Promise<void> {
    return this.#http.delete("/api/demo");
  }
}
