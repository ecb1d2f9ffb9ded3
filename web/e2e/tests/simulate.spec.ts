// The simulator with a real browser: recordings of the apps that ship, and what an author sees when one fails.
import { execFile, spawn } from "node:child_process";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, test as base } from "@playwright/test";
import { CHROMIUM, HEADLESS_SHELL } from "../chromium.js";
import { BINARY } from "../server.js";

interface Run {
  code: number;
  result: string;
  failure: string | null;
  pageErrors: string[];
}

const test = base.extend<{ folder: string; prefix: string }>({
  prefix: ["gangway-simulate-", { option: true }],
  folder: async ({ prefix }, use) => {
    const folder = await mkdtemp(join(tmpdir(), prefix));
    await use(folder);
    await rm(folder, { recursive: true, force: true });
  },
});
test.setTimeout(120_000);

function recording(name: string): string {
  return fileURLToPath(new URL(`../recordings/${name}`, import.meta.url));
}

/** Runs the simulator to its end. */
function simulate(folder: string, ...words: string[]): Promise<Run> {
  const browser = [
    "--headless",
    "--browser",
    HEADLESS_SHELL,
    "--timeout",
    "60",
  ];
  const settings = {
    cwd: folder,
    // The developer's own folders are not part of the test.
    env: { ...process.env, GANGWAY_DATA: folder, HOME: folder },
  };
  return new Promise((resolve) => {
    const all = ["simulate", ...words, ...browser, "--json"];
    execFile(BINARY, all, settings, (error, stdout) => {
      const code = typeof error?.code === "number" ? error.code : 0;
      resolve({ ...(JSON.parse(stdout) as Run), code });
    });
  });
}

/** Writes an app of one page, with a script. */
async function write(folder: string, script: string): Promise<string> {
  const app = join(folder, "tiny");
  await mkdir(app);
  await writeFile(
    join(app, "APP.md"),
    "---\nname: tiny\ndescription: A tiny app.\n---\n",
  );
  await writeFile(
    join(app, "index.html"),
    `<!doctype html><button id="go">Go</button><input id="name" /><output id="said"></output>
    <script>const agent = window.__AGENT_CONTEXT__;
    const said = document.getElementById("said");
    ${script}</script>`,
  );
  return app;
}

for (const app of ["budget-dashboard", "card-game", "form-builder"]) {
  test(`the recording of ${app} still holds`, async ({ folder }) => {
    const file = recording(`${app}.yaml`);
    const run = await simulate(folder, app, "--replay", file);
    expect(run).toMatchObject({ code: 0, failure: null, pageErrors: [] });
  });

  test(`the script of ${app} passes, and so does a recording of it`, async ({
    folder,
  }) => {
    const script = recording(`${app}.script.yaml`);
    const kept = join(folder, "kept.yaml");
    const words = ["--script", script, "--record", kept];
    const run = await simulate(folder, app, ...words);
    expect(run).toMatchObject({ code: 0, failure: null, pageErrors: [] });
    // How long a person took is different every time.
    const text = await readFile(kept, "utf8");
    await writeFile(
      kept,
      text.replace(/"seconds":\d+/g, '"seconds":"<number>"'),
    );
    const again = await simulate(folder, app, "--replay", kept);
    expect(again).toMatchObject({ code: 0, failure: null });
  });
}

test("a recording fails when the app says something else", async ({
  folder,
}) => {
  const text = await readFile(recording("budget-dashboard.yaml"), "utf8");
  const changed = join(folder, "changed.yaml");
  await writeFile(
    changed,
    text.replaceAll('"reason":"Too dear"', '"reason":"Too cheap"'),
  );
  const run = await simulate(folder, "budget-dashboard", "--replay", changed);
  expect(run).toMatchObject({ code: 1, result: "failed" });
  expect(run.failure).toContain('- reason: "Too cheap"\n+ reason: "Too dear"');
});

test("steps click, fill in, press keys, wait and look", async ({ folder }) => {
  const app = await write(
    folder,
    `document.getElementById("go").onclick = async (event) => {
      const name = document.getElementById("name").value;
      said.textContent = await agent.request("greet", { name, real: event.isTrusted });
    };
    document.onkeydown = ({ key }) => agent.emit("pressed", { key });
    agent.on("bye", () => { document.getElementById("go").remove(); alert("Bye"); });`,
  );
  const script = join(folder, "script.yaml");
  await writeFile(
    script,
    `rules: [{ request: greet, delay: 100, result: Hello }]
send: [{ event: bye, after_event: pressed, delay: 50 }]
page:
  - { fill: "#name", value: Ada }
  - { click: "#go" }
  - { wait: "#said", text: Hello }
  - { eval: "await Promise.resolve(said.textContent.length)", is: 5 }
  - { press: Escape }
  - { gone: "#go" }
expect:
  - { request: greet, params: { name: Ada, real: true } }
  - { event: pressed, payload: { key: Escape } }
`,
  );
  const run = await simulate(folder, app, "--script", script);
  expect(run).toMatchObject({ code: 0, failure: null });
});

for (const [what, step, words] of [
  ["is not there", '{ click: "#nothing", within: 2000 }', "is not there"],
  ["is covered", '{ click: "#go", within: 2000 }', "covered"],
  [
    "says something else",
    '{ wait: "#said", text: Hello, within: 2000 }',
    "says",
  ],
  ["has another value", "{ eval: 1 + 1, is: 3 }", "- the whole value: 3"],
  ["throws", "{ eval: nothing.here }", "ReferenceError"],
] as const) {
  test(`a step fails when what it wants ${what}`, async ({ folder }) => {
    const app = await write(
      folder,
      `said.textContent = "Bye";
      const lid = document.createElement("div");
      lid.style = "position: fixed; inset: 0";
      document.body.append(lid);`,
    );
    const script = join(folder, "script.yaml");
    await writeFile(script, `page: [{ wait: "#said" }, ${step}]`);
    const run = await simulate(folder, app, "--script", script);
    expect(run).toMatchObject({ code: 1, result: "failed" });
    expect(run.failure).toContain(words);
  });
}

test("an uncaught error is a failure, unless the script allows it", async ({
  folder,
}) => {
  const app = await write(
    folder,
    'setTimeout(() => { throw new Error("Oh no"); });',
  );
  const script = join(folder, "script.yaml");
  await writeFile(script, 'page: [{ wait: "#go" }]');
  const run = await simulate(folder, app, "--script", script);
  expect(run).toMatchObject({ code: 1 });
  expect(run.failure).toContain("Oh no");
  await writeFile(script, 'allow_errors: true\npage: [{ wait: "#go" }]');
  const allowed = await simulate(folder, app, "--script", script);
  expect(allowed.code).toBe(0);
  expect(allowed.pageErrors).toHaveLength(1);
});

test("the browser ends even if the simulator is killed", async ({ folder }) => {
  const app = await write(folder, "");
  const browser = join(folder, "browser");
  const pid = join(folder, "pid");
  await writeFile(
    browser,
    `#!/bin/sh\necho $$ > '${pid}'\nexec '${CHROMIUM}' "$@"\n`,
    { mode: 0o755 },
  );
  const words = ["simulate", app, "--headless", "--browser", browser];
  const child = spawn(BINARY, words, { stdio: ["pipe", "pipe", "ignore"] });
  // It says what can be typed when the page is open.
  await new Promise((resolve) => child.stdout.once("data", resolve));
  const id = Number(await readFile(pid, "utf8"));
  const lives = () => {
    try {
      return process.kill(id, 0);
    } catch {
      return false;
    }
  };
  expect(lives()).toBe(true);
  child.kill("SIGKILL");
  await expect.poll(lives, { timeout: 20_000 }).toBe(false);
});

test("what cannot be read cannot be tried", async ({ folder }) => {
  const app = await write(folder, "");
  const run = await simulate(folder, app, "--replay", recording("none.yaml"));
  expect(run).toMatchObject({ code: 2, result: "not run" });
});
