// Which request each call about models makes.
import { expect, test, vi } from "vitest";
import { Http } from "../src/http.js";
import { Models } from "../src/models.js";

test("each call is one request", async () => {
  const fetch = vi.fn<typeof globalThis.fetch>(() =>
    Promise.resolve(Response.json({})),
  );
  const models = new Models(new Http({ fetch }));
  await models.providers();
  await models.detect();
  await models.setKey("my/one", "k");
  await models.removeKey("my/one");
  await models.list();
  await models.setDefault("ollama/a:b");
  await models.setDefault(null);
  await models.activity();
  await models.weights();
  await models.pull("small one");
  await models.removeWeights("small one");
  const seen = fetch.mock.calls.map(([url, init]) =>
    [init?.method, url, init?.body].filter((part) => part !== undefined),
  );
  expect(seen).toEqual([
    ["GET", "/api/providers"],
    ["POST", "/api/providers/detect"],
    ["PUT", "/api/providers/my%2Fone/key", '{"key":"k"}'],
    ["DELETE", "/api/providers/my%2Fone/key"],
    ["GET", "/api/models"],
    ["PUT", "/api/models/default", '{"model":"ollama/a:b"}'],
    ["PUT", "/api/models/default", '{"model":null}'],
    ["GET", "/api/models/activity"],
    ["GET", "/api/weights"],
    ["POST", "/api/weights", '{"name":"small one"}'],
    ["DELETE", "/api/weights/small%20one"],
  ]);
});
