// What tests of pages of other origins get: a model that thinks, a site, and a Gangway between them.
import { test as base } from "./fixtures.js";
import { Server, type ServerSettings } from "./server.js";
import { Site, Thinker } from "./sites.js";

interface Fixtures {
  thinker: Thinker;
  site: Site;
  strangers: string[];
  complaints: string[];
}

export const test = base.extend<Fixtures>({
  // Pages of other origins are what this is about, and what fails there is looked at where it is expected.
  // eslint-disable-next-line no-empty-pattern -- the first parameter says what is needed
  strangers: async ({}, use) => use([]),
  // eslint-disable-next-line no-empty-pattern -- the first parameter says what is needed
  complaints: async ({}, use) => use([]),

  // eslint-disable-next-line no-empty-pattern -- the first parameter says what is needed
  thinker: async ({}, use) => {
    const thinker = await new Thinker().start();
    await use(thinker);
    await thinker.stop();
  },

  server: async ({ settings, thinker }, use) => {
    const all: ServerSettings = { ...thinker.settings, ...settings };
    const server = await Server.start(all);
    await use(server);
    await server.stop();
  },

  site: async ({ server }, use) => {
    const site = await new Site(server.url).start();
    await use(site);
    site.stop();
  },
});

export { expect } from "./fixtures.js";
