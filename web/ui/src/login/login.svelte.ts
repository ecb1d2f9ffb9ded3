// The login of this browser: a token that all its pages of this origin share, and no other page can read.
import {
  Http,
  listLogins,
  logIn,
  logOut,
  type GangwayError,
} from "@gangway/client";
import { takeCode } from "../shell/address.js";
import { failureOf } from "@gangway/kit/parts/failure.js";
import { read, write } from "../storage.js";

const KEPT = "login";
// What the server answers without a login; a model's server may answer 401 too.
const REFUSED = ["missing_key", "invalid_key", "login_ended"];

export class LoginState {
  /** Sends the token with every request, and sees when it is worth nothing any more. */
  readonly http = new Http({
    apiKey: () => this.token,
    onError: (error, sent) => this.#failed(error, sent),
  });
  #token = $state(read(KEPT) ?? undefined);
  /** True when there is nothing to see without a login. */
  locked = $state(false);
  /** Why the code of the address was not taken. */
  problem: GangwayError | null = $state.raw(null);

  constructor() {
    window.addEventListener("storage", ({ key }) => {
      if (key === null || key.endsWith(KEPT)) this.#follow();
    });
    // A link that is opened in the page that waits for it reloads nothing.
    window.addEventListener("hashchange", () => void this.begin());
  }

  get token(): string | undefined {
    return this.#token;
  }

  /** Takes the code of a link of `gangway open`, where there is one. */
  async begin(): Promise<void> {
    const code = takeCode();
    if (code === null || (await this.#isWhole())) return;
    this.problem = await failureOf(() => this.enter(code));
  }

  /** Logs in with a code or an API key; throws what went wrong. */
  async enter(key: string): Promise<void> {
    // A key that is not right says nothing about the login there is.
    const { token } = await logIn(new Http(), key);
    this.#keep(token);
  }

  /** Throws what went wrong. */
  async leave(): Promise<void> {
    await logOut(this.http);
    this.#keep(undefined);
  }

  /** Whether this browser is logged in, for all there is. */
  async #isWhole(): Promise<boolean> {
    if (this.#token === undefined) return false;
    const error = await failureOf(async () => {
      await listLogins(this.http);
    });
    return error === null;
  }

  #failed({ status, code }: GangwayError, sent: string | undefined): void {
    // The other pages of this browser may have logged in since.
    if (status !== 401 || !REFUSED.includes(code) || sent !== this.#token)
      return;
    this.#keep(undefined);
  }

  #keep(token: string | undefined): void {
    write(KEPT, token ?? "");
    this.#turn(token);
  }

  /** Another page of this browser logged in or out. */
  #follow(): void {
    const token = read(KEPT) ?? undefined;
    if (token !== this.#token) this.#turn(token);
  }

  #turn(token: string | undefined): void {
    this.#token = token;
    this.locked = token === undefined;
    if (token !== undefined) this.problem = null;
  }
}
