// Where Chromium is, and how the tests start it.

export const CHROMIUM = process.env["CHROMIUM"] ?? "/usr/bin/chromium";

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

/** Options for starting it, with further arguments. */
export function chromiumWith(...args: string[]) {
  const features = [...PLAYWRIGHT, ...ADDRESS_BAR].join(",");
  return {
    executablePath: CHROMIUM,
    args: [`--disable-features=${features}`, ...args],
  };
}
