// What apps import: it works with an agent and without one.
import { afterEach, expect, test, vi } from "vitest";
import {
  AgentDeniedError,
  AgentError,
  AgentTimeoutError,
  emitToAgent,
  getAgentConfig,
  getAgentContext,
  getAgentData,
  isAgentLaunched,
  requestAgentAction,
  requireAgentContext,
} from "../src/context/agent.js";

afterEach(() => {
  vi.unstubAllGlobals();
  vi.resetModules();
});

function launched(fields: object): void {
  vi.stubGlobal("window", {
    __AGENT_CONTEXT__: { data: {}, config: {}, ...fields },
  });
}

test("TS-AGT-002: a page that was opened directly has no context", () => {
  vi.stubGlobal("window", {});
  expect(getAgentContext()).toBeNull();
  expect(isAgentLaunched()).toBe(false);
  expect(() => requireAgentContext()).toThrow("No agent context available");
});

test("TS-AGT-010: without an agent nothing is sent, and nothing fails", async () => {
  vi.stubGlobal("window", {});
  expect(await emitToAgent("event", {})).toBe(false);
  expect(getAgentData("x", 7)).toBe(7);
  expect(getAgentConfig("x", "y")).toBe("y");
  expect(await requestAgentAction("x", {}, () => "fallback")).toBe("fallback");
});

test("the same code runs where there is no window at all", async () => {
  vi.stubGlobal("window", undefined);
  expect(await emitToAgent("event")).toBe(false);
});

test("TS-AGT-011: data and config come from the agent, or are the default", () => {
  launched({
    data: { theme: "dark", none: null },
    config: { theme: "light", zero: 0 },
  });
  expect(isAgentLaunched()).toBe(true);
  expect(getAgentData("theme", "light")).toBe("dark");
  expect(getAgentData("missing", "default")).toBe("default");
  expect(getAgentData("none", "default")).toBeNull();
  expect(getAgentConfig("theme", "dark")).toBe("light");
  expect(getAgentConfig("zero", 5)).toBe(0);
  expect(getAgentData("toString", "default")).toBe("default");
});

test("emitToAgent says true once the agent has it, and passes a failure on", async () => {
  const emit = vi.fn(() => Promise.resolve());
  launched({ emit });
  expect(await emitToAgent("saved", { a: 1 })).toBe(true);
  expect(emit).toHaveBeenCalledWith("saved", { a: 1 });
  launched({ emit: () => Promise.reject(new AgentTimeoutError("emit", 1)) });
  await expect(emitToAgent("saved")).rejects.toBeInstanceOf(AgentTimeoutError);
});

test("an agent that will not do it leaves it to the fallback, whose own failure is not hidden", async () => {
  launched({ request: () => Promise.resolve("done") });
  expect(await requestAgentAction("x", {}, () => "fallback")).toBe("done");
  launched({ request: () => Promise.reject(new AgentDeniedError("x")) });
  expect(await requestAgentAction("x", {}, () => "fallback")).toBe("fallback");
  const broken = () => Promise.reject(new Error("disk full"));
  await expect(requestAgentAction("x", {}, broken)).rejects.toThrow(
    "disk full",
  );
});

test("errors say what they are as the contract writes them", () => {
  expect(new AgentTimeoutError("emit", 30_000)).toMatchObject({
    name: "AgentTimeoutError",
    code: "E-AGT-003",
    message: "emit timed out after 30000ms",
    details: { operation: "emit", timeout: 30_000 },
  });
  expect(new AgentTimeoutError("request", 60_000).code).toBe("E-AGT-005");
  expect(new AgentDeniedError("send-email", "not now").message).toBe(
    "Agent denied: send-email - not now",
  );
  expect(new AgentDeniedError("send-email").message).toBe(
    "Agent denied: send-email",
  );
});

test("an error of the context is an instance of the app's own copy of the class", async () => {
  vi.resetModules();
  const other = await import("../src/context/agent.js");
  expect(other.AgentError).not.toBe(AgentError);
  const timeout = new other.AgentTimeoutError("emit", 1);
  expect(timeout).toBeInstanceOf(AgentTimeoutError);
  expect(timeout).toBeInstanceOf(AgentError);
  expect(timeout).not.toBeInstanceOf(AgentDeniedError);
  expect(new other.AgentError("x", "y")).not.toBeInstanceOf(AgentTimeoutError);
  expect(new Error("x")).not.toBeInstanceOf(AgentError);
  expect(null).not.toBeInstanceOf(AgentError);
  class Mine extends AgentError {}
  expect(new Mine("x", "y")).toBeInstanceOf(Mine);
  expect(new Mine("x", "y")).toBeInstanceOf(AgentError);
  expect(new AgentError("x", "y")).not.toBeInstanceOf(Mine);
});
