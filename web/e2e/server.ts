// Starts and stops a Gangway of a test's own, with a folder that is gone afterwards.
import { execFile, spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import type { Script } from "./scripts.js";

const run = promisify(execFile);

/** The binary that is tested. */
export const BINARY =
  process.env["GANGWAY_BIN"] ??
  fileURLToPath(new URL("../../target/debug/gangway", import.meta.url));

export interface ServerSettings {
  defaultAgent?: string;
  scripts?: Record<string, Script>;
  /** Model providers by name, as in config.yaml. */
  providers?: Record<
    string,
    { type: string; base_url: string; key?: string; model?: string }
  >;
  /** Further host names. */
  hosts?: string[];
  /** MCP servers by name, as in config.yaml. */
  tools?: Record<string, { command: string; args?: string[] }>;
  /** The URL of a registry for the catalog; none unless a test brings one. */
  catalog?: string;
  /** Seconds that a tool call may take. */
  toolSeconds?: number;
  /** Applets by their slug: the files of each. */
  applets?: Record<string, Record<string, string>>;
  /** Apps by their name: the files of each. */
  apps?: Record<string, Record<string, string>>;
  /** Origins of other pages that may use the API. */
  allowedOrigins?: string[];
  /** Makes an API key that may do everything. */
  withKey?: boolean;
  /** `authentication` of config.yaml. */
  authentication?: string;
  /** `remote_agents` of config.yaml. */
  remote?: Record<string, unknown>;
  /** Projects by their name; each gets a folder of its own. */
  projects?: Record<string, { backend?: string; model?: string }>;
  /** Personas by their slug: what their skill.md says. */
  personas?: Record<string, string>;
}

/** A program of the MCP servers that `scripts/setup.sh mcp-servers` installs. */
export function toolServer(path: string): string {
  return fileURLToPath(
    new URL(`../../target/mcp-servers/${path}`, import.meta.url),
  );
}

export const EVERYTHING = toolServer("node_modules/.bin/mcp-server-everything");

export class Server {
  readonly #folder: string;
  #child: ChildProcess | null = null;
  #log = "";
  /** Whether a browser knows of it, and may have started it. */
  #introduced = false;
  /** Where the server is, without a slash at the end. */
  url = "";
  /** An API key, when the test asked for one. */
  key = "";
  /** The token of the data folder's owner. */
  token = "";

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async start(settings: ServerSettings = {}): Promise<Server> {
    const folder = await mkdtemp(join(tmpdir(), "gangway-e2e-"));
    const agents: Record<string, { script: string }> = {};
    for (const [name, script] of Object.entries(settings.scripts ?? {})) {
      agents[name] = { script: `./${name}.yaml` };
      // JSON is YAML too.
      await writeFile(join(folder, `${name}.yaml`), JSON.stringify(script));
    }
    const { defaultAgent = "demo", hosts = [], providers = {} } = settings;
    const { tools = {}, catalog = "off", authentication } = settings;
    const config = {
      default_agent: defaultAgent,
      agents,
      hosts,
      ...(authentication && { authentication }),
      providers,
      allowed_origins: settings.allowedOrigins ?? [],
      mcp_servers: tools,
      remote_agents: settings.remote ?? {},
      projects: await projectsIn(folder, settings.projects ?? {}),
      personas: await personasIn(folder, settings.personas ?? {}),
      tools: {
        catalog_url: catalog,
        ...(settings.toolSeconds && { timeout_seconds: settings.toolSeconds }),
      },
      // Programs on the developer's machine are not part of the test.
      models: { detect: false },
    };
    await writeFile(join(folder, "config.yaml"), JSON.stringify(config));
    const server = new Server(folder);
    for (const [slug, files] of Object.entries(settings.applets ?? {})) {
      await server.writeApplet(slug, files);
    }
    for (const [name, files] of Object.entries(settings.apps ?? {})) {
      await server.writeApp(name, files);
    }
    if (settings.withKey) await server.#makeKey();
    await server.launch();
    return server;
  }

  /** Starts the process again, on the port it had before. */
  async launch(): Promise<void> {
    const env = Object.fromEntries(
      Object.entries(process.env).filter(
        ([name]) => !/^(OPENAI|ANTHROPIC|OLLAMA)_/.test(name),
      ),
    );
    const child = spawn(
      BINARY,
      [
        ...[
          "serve",
          "--listen",
          this.url ? new URL(this.url).host : "127.0.0.1:0",
        ],
        ...["--data", join(this.#folder, "data")],
        ...["--config", join(this.#folder, "config.yaml")],
      ],
      {
        cwd: this.#folder,
        env: { ...env, WEBLET_PATH: join(this.#folder, "apps") },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    this.#child = child;
    child.stderr.on("data", (text) => (this.#log += String(text)));
    const exited = once(child, "exit").then(() => {
      throw new Error(`Gangway ended early:\n${this.#log}`);
    });
    // Ending is only an error while it is being waited for.
    exited.catch(() => undefined);
    this.url = await Promise.race([findUrl(child), exited]);
    const lock = await readFile(join(this.data, "server.lock"), "utf8");
    this.token = (JSON.parse(lock) as { token: string }).token;
  }

  /** Sends a request with the owner's token. */
  fetch(path: string, init: RequestInit = {}): Promise<Response> {
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${this.token}`);
    return fetch(this.url + path, { ...init, headers });
  }

  /** Posts JSON. */
  post(path: string, body: unknown = {}): Promise<Response> {
    const headers = { "content-type": "application/json" };
    const text = typeof body === "string" ? body : JSON.stringify(body);
    return this.fetch(path, { method: "POST", headers, body: text });
  }

  /** Logs a browser in: the token that pages of this server keep. */
  async logIn(): Promise<string> {
    const made = await this.post("/api/login/codes");
    const { code } = (await made.json()) as { code: string };
    const answer = await fetch(`${this.url}/api/login`, {
      method: "POST",
      headers: { "content-type": "application/json", origin: this.url },
      body: JSON.stringify({ key: code }),
    });
    return ((await answer.json()) as { token: string }).token;
  }

  /** The data folder. */
  get data(): string {
    return join(this.#folder, "data");
  }

  /** Introduces this server to a browser: `to` is where that browser looks for such files. */
  async introduce(browser: "chromium" | "firefox", to: string): Promise<void> {
    this.#introduced = true;
    await run(BINARY, [
      ...["bridge", "install", "--data", this.data],
      ...["--browser", browser, "--dir", to],
    ]);
  }

  /** The folder of a project. */
  projectFolder(name: string): string {
    return join(this.#folder, "projects", name);
  }

  /** Ends the agents that run in terminals of their own: they would outlive the server. */
  async endAgents(): Promise<void> {
    const root = "/api/remote_agents";
    const { agents } = (await (await this.fetch(root)).json()) as {
      agents: { agent_id: string; alive: boolean }[];
    };
    for (const { agent_id, alive } of agents) {
      if (alive) await this.fetch(`${root}/${agent_id}`, { method: "DELETE" });
    }
  }

  /** Puts files into the folder of an applet. */
  async writeApplet(
    slug: string,
    files: Record<string, string>,
  ): Promise<void> {
    const folder = join(this.#folder, "data", "applets", slug);
    await mkdir(folder, { recursive: true });
    for (const [name, text] of Object.entries(files)) {
      await writeFile(join(folder, name), text);
    }
  }

  /** Puts files into the `weblets` folder beside which it is started. */
  async writeWeblet(
    name: string,
    files: Record<string, string>,
  ): Promise<void> {
    await writeAll(join(this.#folder, "weblets", name), files);
  }

  /** Trusts that folder, as its owner does in a shell. */
  async trustWeblets(): Promise<void> {
    const folder = join(this.#folder, "weblets");
    await run(BINARY, ["app", "trust", folder, "--data", this.data]);
  }

  /** Puts files into the folder of an app. */
  async writeApp(name: string, files: Record<string, string>): Promise<void> {
    await writeAll(join(this.#folder, "apps", name), files);
  }

  /** A link that logs a browser in, once. */
  async loginUrl(): Promise<string> {
    const { stdout } = await run(BINARY, [
      ...["open", "--json", "--data", this.data],
    ]);
    return (JSON.parse(stdout) as { url: string }).url;
  }

  /** Ends the process as a power cut would. */
  async kill(): Promise<void> {
    await this.#end("SIGKILL");
  }

  /** Ends the process as a person does who starts it anew. */
  async end(): Promise<void> {
    await this.#end("SIGTERM");
  }

  /** Ends the process, and leaves its settings for a start with the data folder alone. */
  async retire(): Promise<void> {
    await this.#end("SIGTERM");
    const text = await readFile(join(this.#folder, "config.yaml"), "utf8");
    const config = { ...(JSON.parse(text) as object), listen: "127.0.0.1:0" };
    await writeFile(join(this.data, "config.yaml"), JSON.stringify(config));
  }

  /** The processes that were started with this data folder, by what they were told. */
  async processes(told = ""): Promise<number[]> {
    const { stdout } = await run("ps", ["-eo", "pid=,args="]);
    return stdout
      .split("\n")
      .filter((line) => line.includes(`${told} --data ${this.data}`))
      .map((line) => Number.parseInt(line, 10));
  }

  async stop(): Promise<void> {
    await this.#end("SIGTERM");
    // One that a browser started stays a while.
    const left = this.#introduced ? await this.processes() : [];
    for (const pid of left) process.kill(pid, "SIGKILL");
    await rm(this.#folder, { recursive: true, force: true });
  }

  async #makeKey(): Promise<void> {
    const { stdout } = await run(BINARY, [
      ...["key", "create", "--name", "test", "--scope", "admin"],
      ...["--json", "--data", this.data],
    ]);
    this.key = (JSON.parse(stdout) as { key: string }).key;
  }

  async #end(signal: "SIGKILL" | "SIGTERM"): Promise<void> {
    const child = this.#child;
    this.#child = null;
    if (!child || child.exitCode !== null) return;
    const exited = once(child, "exit");
    child.kill(signal);
    await exited;
  }
}

async function projectsIn(
  folder: string,
  projects: NonNullable<ServerSettings["projects"]>,
) {
  const all: Record<string, object> = {};
  for (const [name, more] of Object.entries(projects)) {
    await mkdir(join(folder, "projects", name), { recursive: true });
    all[name] = { folder: `projects/${name}`, ...more };
  }
  return all;
}

async function personasIn(folder: string, personas: Record<string, string>) {
  const all: Record<string, object> = {};
  for (const [slug, skill] of Object.entries(personas)) {
    const path = join(folder, "personas", slug);
    await mkdir(path, { recursive: true });
    await writeFile(join(path, "skill.md"), skill);
    all[slug] = { folder: `personas/${slug}` };
  }
  return all;
}

async function findUrl(child: ChildProcess): Promise<string> {
  if (!child.stdout) throw new Error("Gangway has no output to read.");
  const lines = createInterface({ input: child.stdout });
  for await (const line of lines) {
    const found = /http:\/\/127\.0\.0\.1:\d+/.exec(line);
    if (found) {
      // Later output is read and dropped, so that the pipe never fills up.
      child.stdout.resume();
      return found[0];
    }
  }
  throw new Error("Gangway never said where it listens.");
}

/** Writes files by their paths in a folder. */
async function writeAll(
  folder: string,
  files: Record<string, string>,
): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    const path = join(folder, file);
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text);
  }
}
