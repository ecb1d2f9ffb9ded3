// End-to-end tests: the real binary, and the Chromium and the Firefox that the system has.
import { defineConfig } from "@playwright/test";
import { chromiumWith, HEADLESS_SHELL } from "./chromium.js";
import { findFirefox, NO_FIREFOX } from "./firefox/browser.js";

if (findFirefox() === null) console.error(`\n${NO_FIREFOX}\n`);

export default defineConfig({
  projects: [
    // Driven by puppeteer-core: Playwright knows only a Firefox of its own making. First, since its longest test takes longer than any other.
    { name: "firefox", testDir: "firefox" },
    { name: "chromium", testDir: "tests" },
  ],
  outputDir: "results/output",
  fullyParallel: true,
  // Tests wait for servers and timers more than they compute; four keep two cores busy, more are slower again.
  workers: 4,
  // One flaky test must not hold back everything else; the summary names it, and it is a bug to fix.
  retries: process.env["CI"] ? 1 : 0,
  forbidOnly: true,
  reporter: "list",
  // A machine that does other work as well may take ten times as long.
  timeout: 90_000,
  expect: { timeout: 20_000 },
  use: {
    viewport: { width: 1280, height: 800 },
    launchOptions: { ...chromiumWith(), executablePath: HEADLESS_SHELL },
    // A click waits until what it clicks has stopped moving.
    contextOptions: { reducedMotion: "reduce" },
    // What a test did, with all requests and the console. A screencast would cost a sixth of the CPU time, and copies of the
    // page at every step another eighth; `--trace retain-on-failure` records both.
    trace: { mode: "retain-on-failure", screenshots: false, snapshots: false },
    screenshot: "only-on-failure",
  },
});
