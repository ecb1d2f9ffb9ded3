// Changes that need a log-in even on this machine: they wait for one and are made again.

/** Whether a refusal is about this one change, and not about the whole page. */
export function needsLeave(path: string, method = "GET"): boolean {
  return method !== "GET" && path.startsWith("/api/mcp/");
}

export class Gate {
  readonly #logIn: (key: string) => Promise<void>;
  #waiting: ((passed: boolean) => void)[] = [];
  /** True while somebody is asked for a key. */
  open = $state(false);

  constructor(logIn: (key: string) => Promise<void>) {
    this.#logIn = logIn;
  }

  /** Makes a refused request again once somebody logged in. */
  async pass(again: () => Promise<Response>): Promise<Response> {
    const passed = await new Promise<boolean>((resolve) => {
      this.#waiting.push(resolve);
      this.open = true;
    });
    if (passed) return again();
    const message = "Nothing was changed: this needs a log-in.";
    const body = { error_code: "not_logged_in", message, retryable: true };
    return Response.json(body, { status: 401 });
  }

  /** Throws what went wrong with the key. */
  async logIn(key: string): Promise<void> {
    await this.#logIn(key);
    this.#end(true);
  }

  giveUp(): void {
    this.#end(false);
  }

  #end(passed: boolean): void {
    this.open = false;
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const resolve of waiting) resolve(passed);
  }
}
