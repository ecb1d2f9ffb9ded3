// The other end of an applet's channel in a replay: it knows the state at one step, and nothing can be changed through it.
import type { JsonValue } from "../generated/wire.js";
import type { LiveState } from "../live.js";
import type { HostLink } from "./host.js";
import type { ClientMessage, LinkEvents, State } from "./wire.js";

export interface RecordedApplet {
  session: string;
  applet: string;
  /** The address of its frame. */
  frame: string;
  /** Its state at the first step that is shown. */
  state: State;
}

type Values = Record<string, JsonValue>;

export class RecordedLink implements HostLink {
  readonly #recorded: RecordedApplet;
  readonly #events: LinkEvents;
  #state: State;
  // Counts on when the steps go back: an applet takes no older state than the one it has.
  #version = 1;

  constructor(recorded: RecordedApplet, events: LinkEvents) {
    this.#recorded = recorded;
    this.#events = events;
    this.#state = recorded.state;
    // The host is made with this link, and hears nothing before.
    queueMicrotask(() => this.#ready());
  }

  get state(): LiveState {
    return "live";
  }

  /** Gives the applet the state at another step. */
  show(state: State): void {
    const gone = Object.keys(this.#state).filter(
      (key) => !Object.hasOwn(state, key),
    );
    const changed = Object.entries(state).filter(
      ([key, value]) => this.#state[key] !== value,
    );
    this.#state = state;
    if (gone.length + changed.length === 0) return;
    this.#version += 1;
    const data = Object.fromEntries([
      ...changed,
      ...gone.map((key) => [key, null] as const),
    ]) as Values;
    const { applet } = this.#recorded;
    const version = this.#version;
    this.#events.onFrame({
      type: "stateUpdate",
      applet,
      data,
      version,
      seq: 0,
    });
  }

  send(message: ClientMessage): void {
    const { id } = message;
    if (id === undefined) return;
    if (message.type === "getState") {
      const { key } = message;
      const data = (
        key === undefined ? this.#state : { [key]: this.#state[key] ?? null }
      ) as Values;
      const version = this.#version;
      this.#events.onFrame({ type: "state", id, data, version });
      return;
    }
    const error = "This is a replay: an applet can only read its state in it.";
    this.#events.onFrame({ type: "error", id, code: "replay", error });
  }

  forget(): void {}
  dispose(): void {}
  reset(): void {}
  reconnect(): void {}

  #ready(): void {
    const { session, applet, frame } = this.#recorded;
    const version = this.#version;
    this.#events.onFrame({
      ...{ type: "ready", session, applet, frame, seq: 0, version },
    });
  }
}
