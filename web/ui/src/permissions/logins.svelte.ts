// The browsers that are logged in.
import {
  endLogin,
  endLogins,
  listLogins,
  type GangwayError,
  type Http,
  type LoginInfo,
} from "@gangway/client";
import { failureOf } from "@gangway/kit/parts/failure.js";
import { whileVisible } from "@gangway/kit/parts/poll.js";

const POLL_MS = 5_000;

export class LoginsState {
  readonly #http: Http;
  all: LoginInfo[] = $state.raw([]);
  loaded = $state(false);
  error: GangwayError | null = $state.raw(null);

  constructor(http: Http) {
    this.#http = http;
  }

  get others(): LoginInfo[] {
    return this.all.filter(({ current }) => !current);
  }

  /** Keeps what is shown true until the returned function is called. */
  follow(): () => void {
    return whileVisible(POLL_MS, (signal) => this.load(signal));
  }

  async load(signal?: AbortSignal): Promise<void> {
    this.error = await failureOf(async () => {
      ({ logins: this.all } = await listLogins(this.#http, signal));
      this.loaded = true;
    });
  }

  /** Throws what went wrong, as all below do. */
  async end(id: string): Promise<void> {
    await endLogin(this.#http, id);
    await this.load();
  }

  async endOthers(): Promise<void> {
    for (const { id } of this.others) await endLogin(this.#http, id);
    await this.load();
  }

  async endAll(): Promise<void> {
    await endLogins(this.#http);
    await this.load();
  }
}
