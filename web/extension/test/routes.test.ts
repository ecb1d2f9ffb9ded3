// Requests of our library, as messages to the bridge, and answers back.
import {
  Asks,
  GangwayError,
  Http,
  Permissions,
  Sessions,
  Tools,
} from "@gangway/client";
import { expect, test, vi } from "vitest";
import { serveOwn } from "../src/own-pages.js";
import { BackgroundPort } from "../src/ui/background-port.js";
import { bridgeFetch } from "../src/ui/bridge-fetch.js";
import { messageFor } from "../src/ui/routes.js";
import { FakeHost, settled } from "./fake-bridge.js";
import { FakePort } from "./fake-ports.js";

/** A page of the extension, its background and a bridge, joined as the browser joins them. */
function joined() {
  const host = new FakeHost();
  const far = new FakePort();
  const near = new FakePort();
  far.postMessage = (message) => near.say(structuredClone(message));
  near.postMessage = (message) => far.say(structuredClone(message));
  const port = new BackgroundPort(() => near, {
    state: () => undefined,
    status: () => undefined,
  });
  serveOwn(far, host.bridge);
  return { host, http: new Http({ fetch: bridgeFetch(port) }), port };
}

test("a call of the library is one message, and its result is the body of the answer", async () => {
  const { host, http } = joined();
  const tools = new Tools(http);
  const listed = tools.servers();
  await settled();
  host.answer("list_servers", { servers: [] });
  expect(await listed).toEqual({ servers: [] });
  const stopped = tools.stop("a b/c");
  await settled();
  expect(host.port.last("disconnect_server")["server_id"]).toBe("a b/c");
  host.answer("disconnect_server", null);
  expect(await stopped).toBeUndefined();
  const sent = new Sessions(http).send("s1", { prompt: "ahoy" });
  await settled();
  expect(host.port.last("chat_send_message")).toMatchObject({
    ...{ session_id: "s1", body: { prompt: "ahoy" } },
  });
  host.answer("chat_send_message", { streamId: "x" });
  expect(await sent).toEqual({ streamId: "x" });
});

test("errors have their code and status, or report that nothing was reachable", async () => {
  const { host, http } = joined();
  const asked = new Asks(http).get("q");
  await settled();
  const error = { code: "ask_not_found", message: "gone", status: 404 };
  host.fail("ask_get", error);
  await expect(asked).rejects.toMatchObject(error);
  const lost = new Permissions(http).forget("https://shop.example");
  await settled();
  host.die();
  await expect(lost).rejects.toMatchObject({ code: "unreachable" });
});

test("what was lost on the way is sent again under the same name, or not at all", async () => {
  vi.useFakeTimers();
  const { host, http } = joined();
  const sessions = new Sessions(http);
  const sent = sessions.send("s1", { prompt: "ahoy" });
  await settled();
  const { request_id: _, ...first } = host.port.last("chat_send_message");
  host.port.say({ type: "ping_result", request_id: "r99", result: null });
  host.die();
  await vi.advanceTimersByTimeAsync(250);
  const { request_id: __, ...second } = host.port.last("chat_send_message");
  expect(second).toEqual(first);
  expect(first["idempotency_key"]).toMatch(/^[0-9a-f-]{36}$/);
  host.answer("chat_send_message", { streamId: "x" });
  expect(await sent).toEqual({ streamId: "x" });
  const stopped = sessions.stop("s1");
  const failed = expect(stopped).rejects.toMatchObject({ code: "unreachable" });
  await settled();
  host.die();
  await failed;
  vi.useRealTimers();
});

test("numbers in a query are numbers in a message", () => {
  const fields = (path: string) => messageFor("GET", path, null)?.fields;
  expect(fields("/api/sessions?limit=5&before=s3")).toEqual({
    ...{ limit: 5, before: "s3" },
  });
  expect(fields("/api/history?session=s1&before=7&limit=5")).toEqual({
    ...{ session_id: "s1", before: 7, limit: 5 },
  });
  expect(fields("/api/permissions/audit?origin=https://a&before=7")).toEqual({
    ...{ origin: "https://a", before: 7 },
  });
});

test("what is not in the table cannot be asked", async () => {
  const { host, http } = joined();
  for (const path of ["/api/keys", "/api/asks/a/b", "/"]) {
    expect(messageFor("GET", path, null)).toBeNull();
  }
  const keys = http.get("/api/keys");
  await expect(keys).rejects.toBeInstanceOf(GangwayError);
  expect(host.port.sent.map(({ type }) => type)).toEqual(["hello"]);
});

test("pages of the extension cannot speak for pages of the web", async () => {
  const { host, port } = joined();
  for (const type of ["page_open", "page_frame", "hello", "cancel"]) {
    const asked = port.request(type, { origin: "https://bank.example" });
    await expect(asked).rejects.toMatchObject({ code: "unknown_type" });
  }
  expect(host.port.sent.map(({ type }) => type)).toEqual(["hello"]);
});
