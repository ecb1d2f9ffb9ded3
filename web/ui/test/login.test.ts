// @vitest-environment jsdom
// The login that the pages of a browser share.
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { LoginState } from "../src/login/login.svelte.js";

const KEPT = "gangway.login";
let sent: string[];
let good: string | undefined;

beforeEach(() => {
  sent = [];
  good = "gwl_1";
  localStorage.clear();
  history.replaceState(null, "", "/");
  vi.stubGlobal("fetch", (path: string, init: RequestInit) => {
    const headers = init.headers as Record<string, string>;
    const token = headers["authorization"]?.slice("Bearer ".length);
    sent.push(`${init.method} ${path} ${token ?? "-"}`);
    return Promise.resolve(answer(path, token, init.body));
  });
});

afterEach(() => vi.unstubAllGlobals());

function answer(path: string, token?: string, body?: unknown): Response {
  if (path === "/api/login") {
    if (body !== '{"key":"code"}') return refusal("invalid_key");
    return Response.json({ token: good });
  }
  if (path === "/v1/models") return refusal("provider_refused");
  if (token !== good) return refusal(token ? "login_ended" : "missing_key");
  return Response.json({ logins: [] });
}

function refusal(code: string): Response {
  const body = { error_code: code, message: "No.", retryable: false };
  return Response.json(body, { status: 401 });
}

/** A change of storage by another page of this browser. */
function elsewhere(token: string | null): void {
  if (token === null) localStorage.removeItem(KEPT);
  else localStorage.setItem(KEPT, token);
  window.dispatchEvent(new StorageEvent("storage", { key: KEPT }));
}

test("a rejected page is locked until a login", async () => {
  const login = new LoginState();
  expect(login.locked).toBe(false);
  await expect(login.http.get("/api/agents")).rejects.toThrow("No.");
  expect(login.locked).toBe(true);
  await expect(login.enter("wrong")).rejects.toThrow("No.");
  expect(login.locked).toBe(true);
  await login.enter("code");
  expect(login.locked).toBe(false);
  expect(localStorage.getItem(KEPT)).toBe("gwl_1");
  await login.http.get("/api/agents");
  expect(sent.at(-1)).toBe("GET /api/agents gwl_1");
});

test("a login that ended is forgotten, and no other refusal ends one", async () => {
  localStorage.setItem(KEPT, "gwl_1");
  const login = new LoginState();
  await expect(login.http.get("/v1/models")).rejects.toThrow("No.");
  expect(login.locked).toBe(false);
  good = undefined;
  await expect(login.http.get("/api/agents")).rejects.toThrow("No.");
  expect(login.locked).toBe(true);
  expect(localStorage.getItem(KEPT)).toBeNull();
});

test("a late refusal of an old token does not end a new login", async () => {
  localStorage.setItem(KEPT, "gwl_0");
  const login = new LoginState();
  const late = login.http.get("/api/agents");
  elsewhere("gwl_1");
  await expect(late).rejects.toThrow("No.");
  expect([login.token, login.locked]).toEqual(["gwl_1", false]);
});

test("a page logs in and out with the other pages of its browser", () => {
  const login = new LoginState();
  elsewhere("gwl_1");
  expect([login.token, login.locked]).toEqual(["gwl_1", false]);
  elsewhere(null);
  expect([login.token, login.locked]).toEqual([undefined, true]);
});

test("logging out ends the login and forgets it", async () => {
  localStorage.setItem(KEPT, "gwl_1");
  const login = new LoginState();
  await login.leave();
  expect(sent).toEqual(["POST /api/logout gwl_1"]);
  expect(login.locked).toBe(true);
  expect(localStorage.getItem(KEPT)).toBeNull();
});

test("the code of a link logs in once and leaves the address", async () => {
  history.replaceState(null, "", "/study?x=1#login=code");
  const login = new LoginState();
  await login.begin();
  expect(location.href).toMatch(/\/study\?x=1$/);
  expect(login.token).toBe("gwl_1");

  history.replaceState(null, "", "/#login=code");
  sent = [];
  await login.begin();
  expect(sent).toEqual(["GET /api/logins gwl_1"]);
});

test("an expired code is reported", async () => {
  history.replaceState(null, "", "/#login=old");
  const login = new LoginState();
  await login.begin();
  expect(login.problem?.status).toBe(401);
  await login.enter("code");
  expect(login.problem).toBeNull();
});
