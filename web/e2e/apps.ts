// Opens the applets that come with Gangway, and reaches their state and files from outside.
import { expect, type FrameLocator, type Page } from "@playwright/test";
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
}

export async function openApp(
  page: Page,
  server: Server,
  slug: string,
): Promise<Opened> {
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
