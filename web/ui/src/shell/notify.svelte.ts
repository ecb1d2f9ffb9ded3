// Notifications of the browser, for people who are elsewhere.
import { read, write } from "../storage.js";

const KEY = "notify";

export class NotifyState {
  #wanted = $state(read(KEY) === "on");
  #permission: NotificationPermission = $state(
    available() ? Notification.permission : "denied",
  );

  /** Whether this browser has notifications at all. */
  readonly available = available();

  /** Whether the person switched them on, and the browser lets them through. */
  get on(): boolean {
    return this.#wanted && this.#permission === "granted";
  }

  /** Whether the browser refuses to show any. */
  get blocked(): boolean {
    return this.#permission === "denied";
  }

  /** Switches them on, which the browser may ask the person about, or off. */
  async turn(on: boolean): Promise<void> {
    if (on && this.#permission === "default") {
      this.#permission = await Notification.requestPermission();
    }
    this.#wanted = on && this.#permission === "granted";
    write(KEY, this.#wanted ? "on" : "");
  }

  /** Shows one, unless the person looks at this page; the same tag replaces one that is still shown. */
  show(title: string, body: string, tag: string, onclick: () => void): void {
    if (!this.on || document.hasFocus()) return;
    const shown = new Notification(title, { body, tag });
    shown.onclick = () => {
      window.focus();
      shown.close();
      onclick();
    };
  }
}

function available(): boolean {
  return "Notification" in window;
}
