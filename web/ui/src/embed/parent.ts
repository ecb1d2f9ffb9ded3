// The parent page of the embed: receives events, and may send a few messages.
import type { EmbedEventName, EmbedEvents, EmbedStyle } from "@gangway/client";
import { lookOf } from "./look.js";

/** What the parent page may ask for. */
export interface ParentMessages {
  send: (text: string) => void;
  style: (style: EmbedStyle) => void;
  focus: () => void;
}

// As much as a person would ever paste.
const MAX_TEXT = 100_000;

export class Parent {
  readonly #origin: string;
  readonly #stop = new AbortController();

  private constructor(origin: string, wishes: ParentMessages) {
    this.#origin = origin;
    window.addEventListener(
      "message",
      (event: MessageEvent<unknown>) => {
        const known = event.source === window.parent && event.origin === origin;
        if (known) hear(event.data, wishes);
      },
      { signal: this.#stop.signal },
    );
  }

  /** None, unless the URL has an origin that the server allows. */
  static of(
    origin: string | null,
    allowed: readonly string[],
    wishes: ParentMessages,
  ): Parent | null {
    if (origin === null || window.parent === window) return null;
    const exact =
      origin !== "null" &&
      URL.canParse(origin) &&
      new URL(origin).origin === origin;
    if (!exact || !allowed.includes(origin)) return null;
    return new Parent(origin, wishes);
  }

  tell<Name extends EmbedEventName>(
    type: Name,
    ...[fields]: object extends EmbedEvents[Name] ? [] : [EmbedEvents[Name]]
  ): void {
    const message = { source: "gangway", type, ...fields };
    window.parent.postMessage(message, this.#origin);
  }

  dispose(): void {
    this.#stop.abort();
  }
}

function hear(data: unknown, wishes: ParentMessages): void {
  if (typeof data !== "object" || data === null) return;
  const { target, type, text, variables } = data as Record<string, unknown>;
  if (target !== "gangway") return;
  if (type === "focus") wishes.focus();
  else if (type === "style") wishes.style(lookOf(variables));
  else if (type === "send" && typeof text === "string") {
    const words = text.trim();
    if (words !== "" && words.length <= MAX_TEXT) wishes.send(words);
  }
}
