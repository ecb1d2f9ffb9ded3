// Browsers beside the one that most tests share, each started when a test of the worker first needs it.
// All tests have this fixture, since Playwright starts another worker, with new browsers, for every other set of fixtures of workers.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  chromium,
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
} from "@playwright/test";
import { chromiumWith } from "./chromium.js";

type Look = Pick<BrowserContextOptions, "viewport" | "colorScheme">;

/** Chromium with a profile, which extensions can be installed into. */
export interface PersistentChromium {
  profile: string;
  context: BrowserContext;
}

export class Browsers {
  readonly #chromium = new Map<string, Promise<Browser>>();
  readonly #persistent = new Map<string, Promise<PersistentChromium>>();

  /** Chromium itself, with these arguments. */
  chromium(args: string[]): Promise<Browser> {
    return once(this.#chromium, args, () =>
      chromium.launch(chromiumWith(...args)),
    );
  }

  /** One for each size and theme. */
  persistent(look: Look): Promise<PersistentChromium> {
    return once(this.#persistent, look, () => startPersistent(look));
  }

  async close(): Promise<void> {
    for (const browser of this.#chromium.values())
      await (await browser).close();
    for (const started of this.#persistent.values()) {
      const { profile, context } = await started;
      await context.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    }
  }
}

function once<Value>(
  kept: Map<string, Value>,
  key: unknown,
  make: () => Value,
): Value {
  const name = JSON.stringify(key);
  const found = kept.get(name) ?? make();
  kept.set(name, found);
  return found;
}

async function startPersistent(look: Look): Promise<PersistentChromium> {
  const profile = await mkdtemp(join(tmpdir(), "gangway-profile-"));
  const context = await chromium.launchPersistentContext(profile, {
    // Lets the developer tools install extensions.
    ...chromiumWith("--enable-unsafe-extension-debugging"),
    ignoreDefaultArgs: ["--disable-extensions"],
    ...look,
  });
  return { profile, context };
}
