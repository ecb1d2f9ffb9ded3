// Opens the applets that come with Gangway, and reaches their state and files from outside.
import { mkdir } from "node:fs/promises";
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
  const response = await server.fetch(`/api/sessions/${session}`);
  const { cwd } = (await response.json()) as Session;
  // Gangway creates it when a page first uses it.
  await mkdir(cwd, { recursive: true });
  const channel = { session, applet: slug, key: server.token };
  return {
    frame: page.frameLocator("iframe"),
    session,
    folder: cwd,
    setState: (data) => page.evaluate(write, { ...channel, data }),
    getState: () => page.evaluate(read, channel),
  };
}

interface Channel {
  session: string;
  applet: string;
  key: string;
}

interface Gangway {
  connect: (options: Channel) => {
    setState: (data: Record<string, unknown>) => Promise<void>;
    getState: () => Promise<Record<string, unknown>>;
    dispose: () => void;
  };
}

// Runs in the chat page, with the library that the server hands to everybody.
async function write({
  data,
  ...to
}: Channel & { data: Record<string, unknown> }): Promise<void> {
  const library = "/applet.js";
  const { connect } = (await import(library)) as Gangway;
  const channel = connect(to);
  await channel.setState(data);
  channel.dispose();
}

async function read(from: Channel): Promise<Record<string, unknown>> {
  const library = "/applet.js";
  const { connect } = (await import(library)) as Gangway;
  const channel = connect(from);
  const state = await channel.getState();
  channel.dispose();
  return state;
}
