// Launches apps, and stands at the other end as their agent.
import type { AgentContext } from "@gangway/client/agent";
import type { LaunchBody, LaunchedApp } from "@gangway/client";
import { expect } from "@playwright/test";
import type { Server } from "./server.js";
import { JsonSocket } from "./socket.js";

declare global {
  interface Window {
    /** What the first script of the probe saw. */
    firstSaw?: string;
    /** What handlers of the probe received. */
    received?: unknown[];
  }
}

export type Frame = Record<string, unknown> & { type: string };

/** What can run a script of a test, whichever browser it is in. */
export interface Runs {
  evaluate<Arg, Result>(
    work: (arg: Arg) => Result | Promise<Result>,
    arg: Arg,
  ): Promise<Result>;
}

/** A page of any browser. */
export interface Tab extends Runs {
  goto(url: string): Promise<unknown>;
  bringToFront(): Promise<void>;
  close(): Promise<void>;
}

/** An agent that is none of the server's own, so that a test can be it. */
export const OUTSIDE = {
  name: "tester",
  version: "1.2.3",
  capabilities: ["text"],
};

/** An app that does nothing by itself; its first script notes what it saw. */
export function probe(
  name = "probe",
  { csp = "", meta = "", head = "" } = {},
): Record<string, string> {
  return {
    "APP.md": [
      "---",
      `name: ${name}`,
      "description: Does nothing by itself.",
      ...(csp ? [`csp: ${JSON.stringify(csp)}`] : []),
      "agent:",
      "  discoverable: true",
      "  launchable: true",
      "---",
      "A page for tests.",
    ].join("\n"),
    "index.html": `<!doctype html>
<html lang="en">
  <head>
    ${meta}
    <meta charset="utf-8">
    <title>Probe</title>
    ${head}
    <script src="first.js"></script>
  </head>
  <body><h1>Probe</h1></body>
</html>`,
    "first.js": `window.firstSaw = typeof window.__AGENT_CONTEXT__;
window.received = [];
window.__AGENT_CONTEXT__?.on("ping-page", (payload) => window.received.push(payload));`,
  };
}

export async function post(
  server: Server,
  path: string,
  body: unknown,
): Promise<{ status: number; body: unknown }> {
  const response = await server.post(path, body);
  return { status: response.status, body: await response.json() };
}

export async function launch(
  server: Server,
  app: string,
  body: LaunchBody = {},
): Promise<LaunchedApp> {
  const answer = await post(server, `/api/apps/${app}/launch`, body);
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  return answer.body as LaunchedApp;
}

/** Launches the probe for an agent from outside, unless `body` says otherwise, and goes there. */
export async function openProbe(
  page: Tab,
  server: Server,
  body: LaunchBody = {},
): Promise<LaunchedApp> {
  const launched = await launch(server, "probe", { agent: OUTSIDE, ...body });
  await page.goto(launched.url);
  return launched;
}

/** The same with the agent at the other end. */
export async function openWithAgent(
  page: Tab,
  server: Server,
  body: LaunchBody = {},
): Promise<Agent> {
  const { launchId } = await openProbe(page, server, body);
  return Agent.attach(server, launchId);
}

/** The address of an app without an agent. */
export function direct(server: Server, app: string): string {
  return `http://${app}.localhost:${new URL(server.url).port}/`;
}

/** Goes to the plain address of an app, which a page of ours lets a browser into. */
export async function visit(page: Tab, address: string): Promise<void> {
  await page.goto(address);
  const where = () =>
    document.readyState === "complete" ? location.href : "on the way";
  await expect
    .poll(() => page.evaluate(where, null).catch(() => "on the way"))
    .toBe(address);
}

/** The outside agent of a launch, over its WebSocket. */
export class Agent {
  #socket: JsonSocket<Frame>;

  private constructor(socket: JsonSocket<Frame>) {
    this.#socket = socket;
  }

  static async attach(server: Server, launchId: string): Promise<Agent> {
    return new Agent(await connect(server, launchId));
  }

  /** Connects again, with nothing received. */
  async reconnect(server: Server, launchId: string): Promise<void> {
    this.#socket = await connect(server, launchId);
  }

  get received(): Frame[] {
    return this.#socket.received;
  }

  /** The first frame of this kind, once it is there. */
  next(type: string, name?: string): Promise<Frame> {
    return this.#socket.next(
      (frame) =>
        frame.type === type &&
        (!name || frame["event"] === name || frame["action"] === name),
      name ?? type,
    );
  }

  say(frame: Frame): void {
    this.#socket.send(JSON.stringify(frame));
  }

  /** Takes the next event of this name. */
  async take(event: string): Promise<Frame> {
    const frame = await this.next("weblet-event", event);
    this.say({ type: "weblet-ack", id: frame["id"] });
    return frame;
  }

  /** Answers the next request of this name. */
  async answer(
    action: string,
    answer: { result: unknown } | { error: { code: string; message: string } },
  ): Promise<Frame> {
    const frame = await this.next("weblet-request", action);
    const success = "result" in answer;
    const { requestId } = frame;
    this.say({ type: "weblet-response", requestId, success, ...answer });
    return frame;
  }

  tell(event: string, payload: unknown): void {
    this.say({ type: "agent-event", event, payload, id: event });
  }

  leave(): void {
    this.#socket.close();
  }
}

async function connect(
  server: Server,
  launchId: string,
): Promise<JsonSocket<Frame>> {
  const path = `/ws/launches/${launchId}`;
  const socket = await JsonSocket.open<Frame>(server, path);
  await socket.next(({ type }) => type === "welcome", "welcome");
  return socket;
}

/** How a promise of the page's context ended. */
export interface Ended {
  value?: unknown;
  code?: string;
  message?: string;
  details?: unknown;
  kinds?: string[];
}

/** Calls the context in the page, and says how it ended; errors by the classes an app would import. */
export function call(
  page: Runs,
  method: "emit" | "request",
  name: string,
  payload?: unknown,
): Promise<Ended> {
  return page.evaluate(
    async ({ method, name, payload }): Promise<Ended> => {
      const context = window.__AGENT_CONTEXT__ as AgentContext;
      try {
        return { value: await context[method](name, payload) };
      } catch (error) {
        const library = "/__gangway/agent.js";
        const errors = (await import(library)) as Record<
          string,
          new () => Error
        >;
        const kinds = Object.entries(errors)
          .filter(([kind]) => kind.endsWith("Error"))
          .filter(([, kind]) => error instanceof kind)
          .map(([kind]) => kind);
        const { code, message, details } = error as Required<Ended>;
        return { code, message, details, kinds };
      }
    },
    { method, name, payload },
  );
}
