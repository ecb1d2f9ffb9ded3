// Opens the applets that come with Gangway, and reaches their state and files from outside.
import AxeBuilder from "@axe-core/playwright";
import { expect, test, type FrameLocator, type Page } from "@playwright/test";
import type { Session } from "@gangway/client";
import type { Server } from "./server.js";

export interface Opened {
  /** What is inside the frame. */
  frame: FrameLocator;
  session: string;
  /** The session's folder on disk. */
  folder: string;
  /** Changes the state as an agent or another tab would. */
  setState: (data: Record<string, unknown>) => Promise<void>;
  getState: () => Promise<Record<string, unknown>>;
  /** Pictures of the frame in both themes and on a phone. */
  shoot: (name: string) => Promise<void>;
}

export async function openApp(
  page: Page,
  server: Server,
  slug: string,
): Promise<Opened> {
  // Pictures and checks of accessibility in both themes take their time on a busy machine.
  test.info().setTimeout(90_000);
  await page.goto(`${server.url}/?applet=${slug}`);
  await expect(page).toHaveURL(/\/sessions\/[^/?]+\?applet=/);
  const session = new URL(page.url()).pathname.split("/").at(-1) ?? "";
  const response = await page.request.get(
    `${server.url}/api/sessions/${session}`,
  );
  const { cwd } = (await response.json()) as Session;
  return {
    frame: page.frameLocator("iframe"),
    session,
    folder: cwd,
    setState: (data) => page.evaluate(write, { session, slug, data }),
    getState: () => page.evaluate(read, { session, slug }),
    shoot: (name) => shoot(page, name),
  };
}

interface Gangway {
  connect: (options: { session: string; applet: string }) => {
    setState: (data: Record<string, unknown>) => Promise<void>;
    getState: () => Promise<Record<string, unknown>>;
    dispose: () => void;
  };
}

// Runs in the chat page, with the library that the server hands to everybody.
async function write({
  session,
  slug,
  data,
}: {
  session: string;
  slug: string;
  data: Record<string, unknown>;
}): Promise<void> {
  const library = "/applet.js";
  const { connect } = (await import(library)) as Gangway;
  const channel = connect({ session, applet: slug });
  await channel.setState(data);
  channel.dispose();
}

async function read({
  session,
  slug,
}: {
  session: string;
  slug: string;
}): Promise<Record<string, unknown>> {
  const library = "/applet.js";
  const { connect } = (await import(library)) as Gangway;
  const channel = connect({ session, applet: slug });
  const state = await channel.getState();
  channel.dispose();
  return state;
}

async function shoot(page: Page, name: string): Promise<void> {
  const before = page.viewportSize();
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(150);
    await page.screenshot({ path: `results/app-${name}-${colorScheme}.png` });
  }
  await page.setViewportSize({ width: 360, height: 740 });
  await page.waitForTimeout(300);
  await page.screenshot({ path: `results/app-${name}-phone.png` });
  if (before) await page.setViewportSize(before);
  await page.emulateMedia({ colorScheme: "light" });
}

/** Nothing that a screen reader or the keyboard would stumble over, in either theme. */
export async function expectAccessible(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(150);
    const { violations } = await new AxeBuilder({ page })
      .include("iframe")
      // It would fetch the style sheet, which the frame's policy does not let it.
      .options({ preload: false })
      .analyze();
    const found = violations.map(({ id, nodes }) => [
      id,
      nodes.map(({ html }) => html).slice(0, 3),
    ]);
    expect(found, `accessibility in ${colorScheme}`).toEqual([]);
  }
  await page.emulateMedia({ colorScheme: "light" });
}
