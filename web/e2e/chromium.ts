// Where Chromium is, and how the tests start it.
import { existsSync } from "node:fs";

export const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

const SHELL = "/usr/bin/chromium-headless-shell";

/** The same engine without a browser around it, where it is installed: no extensions, and less CPU time. */
export const HEADLESS_SHELL = existsSync(SHELL) ? SHELL : CHROMIUM;

// Only the last `--disable-features` counts, so the list of Playwright 1.65 is repeated here.
const PLAYWRIGHT = [
  ...["AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose"],
  ...["HttpsUpgrades", "HttpsFirstBalancedModeAutoEnable", "LensOverlay"],
  ...["MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning"],
  ...["AvoidCorsURLLoaderRestartOnRedirect", "OptimizationHints"],
  ...["NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"],
];

// Every window loads two pages for the address bar, although nobody sees it. That is half a second of CPU time for each test.
const ADDRESS_BAR = ["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"];

// A renderer that waits for the next page is started in vain where each test has a browser context of its own.
const SPARE = ["SpareRendererForSitePerProcess"];

/** Options for starting it, with further arguments. */
export function chromiumWith(...args: string[]) {
  const features = [...PLAYWRIGHT, ...ADDRESS_BAR, ...SPARE].join(",");
  return {
    executablePath: CHROMIUM,
    args: [`--disable-features=${features}`, ...args],
  };
}
