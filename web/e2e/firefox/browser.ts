// Starts the Firefox that the system has, without a window and with a profile that is gone afterwards.
import { existsSync } from "node:fs";
import { launch, type Browser, type Page } from "puppeteer-core";
import type { Tab } from "../context.js";

/** Where Firefox is; null where there is none. */
export function findFirefox(): string | null {
  const named = process.env["FIREFOX"];
  const places = named ? [named] : PLACES;
  return places.find((place) => existsSync(place)) ?? null;
}

const PLACES = ["/usr/bin/firefox-esr", "/usr/bin/firefox"];

export const NO_FIREFOX =
  "FIREFOX WAS NOT FOUND: skipping its tests. Run scripts/setup.sh firefox, or set FIREFOX to its path.";

export interface FirefoxOptions {
  /** Preferences, as in about:config. */
  prefs?: Record<string, unknown>;
  /** The person's own folder, where Firefox looks for programs that extensions may use. */
  home?: string;
  /** Further variables of its environment. */
  env?: Record<string, string>;
}

export async function startFirefox(
  options: FirefoxOptions = {},
): Promise<Browser> {
  const executablePath = findFirefox();
  if (executablePath === null) throw new Error(NO_FIREFOX);
  return launch({
    browser: "firefox",
    executablePath,
    headless: true,
    extraPrefsFirefox: options.prefs ?? {},
    env: {
      ...process.env,
      ...options.env,
      ...(options.home && { HOME: options.home }),
    },
  });
}

/** A page of Firefox as the parts that both browsers share see it. */
export function tabOf(page: Page): Tab {
  return {
    goto: (url) => page.goto(url),
    evaluate: async (work, arg) => page.evaluate(work as never, arg as never),
    bringToFront: () => page.bringToFront(),
    close: () => page.close(),
  };
}

/** The page whose address is as wanted, once it is there. */
export async function pageAt(
  firefox: Browser,
  wanted: (href: string) => boolean,
): Promise<Page> {
  for (;;) {
    for (const page of await firefox.pages()) {
      // Firefox says what a window shows to its scripts alone; in a tab that is being opened they may never run.
      const href = await Promise.race([
        page.evaluate(() => location.href).catch(() => ""),
        new Promise<string>((resolve) => setTimeout(resolve, 2_000, "")),
      ]);
      if (wanted(href)) return page;
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
