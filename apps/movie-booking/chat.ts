// The conversation beside the booking: what was said, what agents did and why.
import { find, make } from "./elements.ts";
import type { Entry } from "./history.ts";

const NEAR_PX = 60;

export class Chat {
  readonly #log = find("log");
  readonly #drawn = new Map<string, HTMLElement>();
  #unread = 0;

  constructor(send: (text: string) => void) {
    const words = find<HTMLTextAreaElement>("words");
    const form = find<HTMLFormElement>("say");
    form.addEventListener("submit", (event) => {
      event.preventDefault();
      const text = words.value.trim();
      if (text === "") return;
      words.value = "";
      send(text);
      this.#toEnd();
    });
    words.addEventListener("keydown", (event) => {
      // Enter that ends a composition is part of writing.
      const composing = event.isComposing || event.keyCode === 229;
      if (event.key !== "Enter" || event.shiftKey || composing) return;
      event.preventDefault();
      form.requestSubmit();
    });
    const toggle = find("show-chat");
    toggle.addEventListener("click", () => {
      const open = document.body.classList.toggle("chatting");
      toggle.setAttribute("aria-expanded", String(open));
      this.#unread = 0;
      this.#label();
      if (open) words.focus();
    });
  }

  /** Whether it can be seen: on a phone it may be put away. */
  get shown(): boolean {
    return this.#log.checkVisibility();
  }

  draw(entries: readonly Entry[]): void {
    const log = this.#log;
    const following =
      log.scrollHeight - log.scrollTop - log.clientHeight < NEAR_PX;
    const kept = new Set(entries.map(({ id }) => id));
    for (const [id, element] of this.#drawn) {
      if (kept.has(id)) continue;
      element.remove();
      this.#drawn.delete(id);
    }
    const first = this.#drawn.size === 0;
    for (const entry of entries) {
      if (this.#drawn.has(entry.id)) continue;
      const element = drawEntry(entry);
      this.#drawn.set(entry.id, element);
      log.append(element);
      if (!first && !this.shown && entry.type !== "user") this.#unread += 1;
    }
    this.#label();
    if (following) this.#toEnd();
  }

  #toEnd(): void {
    this.#log.scrollTop = this.#log.scrollHeight;
  }

  #label(): void {
    const words = document.body.classList.contains("chatting")
      ? "Booking"
      : "Chat";
    find("show-chat").textContent =
      this.#unread > 0 ? `${words} (${this.#unread} new)` : words;
  }
}

function drawEntry({
  type,
  text,
  tool,
  reason,
  ok,
  timestamp,
}: Entry): HTMLElement {
  const said = tool === undefined || tool === "postMessage";
  const who = type === "agent" ? "Agent" : type === "user" ? "You" : "Cinema";
  return make(
    "article",
    {
      class: `${type} ${said ? "said" : "done"}${ok === false ? " failed" : ""}`,
    },
    make(
      "p",
      { class: "who" },
      who,
      make("time", { datetime: timestamp }, timestamp.slice(11, 16)),
    ),
    make("p", { class: "text" }, ok === false ? `Could not: ${text}` : text),
    reason !== undefined &&
      reason !== text &&
      make("p", { class: "why" }, reason),
  );
}
