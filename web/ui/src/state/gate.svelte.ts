// Changes that need a log-in even on this machine: they wait for one and are made again.

const AGENTS = ["/api/remote_agents", "/api/projects", "/api/personas"];
const CHANGES = ["/api/mcp/", ...AGENTS];
// A key that is not right is told where it was typed; agents are told about on their own page.
const TOLD = ["/api/login", ...AGENTS];

/** Whether a refusal is about this one change, and not about the whole page. */
export function needsLeave(path: string, method = "GET"): boolean {
  return method !== "GET" && CHANGES.some((start) => path.startsWith(start));
}

/** Whether what asked shows a refusal by itself. */
export function tellsItself(path: string): boolean {
  return TOLD.some((start) => path.startsWith(start));
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
