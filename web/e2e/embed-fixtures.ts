// What tests of embeds get: a model, a shop on an allowed origin, a Gangway between them, and no agent left behind.
import { test as base } from "./fixtures.js";
import { Clerk, Shop } from "./remote.js";
import { Server, type ServerSettings } from "./server.js";

interface Fixtures {
  clerk: Clerk;
  shop: Shop;
  strangers: string[];
}

export const test = base.extend<Fixtures>({
  // Pages of other origins are what this is about.
  // eslint-disable-next-line no-empty-pattern -- the first parameter says what is needed
  strangers: async ({}, use) => use([]),

  // eslint-disable-next-line no-empty-pattern -- the first parameter says what is needed
  clerk: async ({}, use) => {
    const clerk = await new Clerk().start();
    await use(clerk);
    await clerk.stop();
  },

  // eslint-disable-next-line no-empty-pattern -- the first parameter says what is needed
  shop: async ({}, use) => {
    const shop = await new Shop().start();
    await use(shop);
    shop.stop();
  },

  server: async ({ settings, clerk, shop }, use) => {
    const all: ServerSettings = {
      projects: { shop: {} },
      personas: { clerk: "You are a clerk. Be kind." },
      ...clerk.settings,
      ...settings,
      remote: {
        allowed_origins: [shop.origin],
        speech: { url: `${clerk.url}/v1`, model: "whisper-1" },
        ...settings.remote,
      },
    };
    const server = await Server.start(all);
    shop.gangway = server.url;
    await use(server);
    await server.endAgents();
    await server.stop();
  },
});

export { expect } from "./fixtures.js";
