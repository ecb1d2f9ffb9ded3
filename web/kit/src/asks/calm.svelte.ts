// Whether a person can have seen what they are about to click.

/** How long a window must have been seen and focused, without a break. */
const CALM_MS = 600;

/** Turns true once the window was visible and focused for a while, and left alone; every break starts over. */
export class Calm {
  #timer: ReturnType<typeof setTimeout> | undefined;
  ready = $state(false);

  /** Watches until the returned function is called. */
  watch(): () => void {
    const stop = new AbortController();
    const { signal } = stop;
    const again = () => this.restart();
    for (const name of ["blur", "resize"]) {
      window.addEventListener(name, again, { signal });
    }
    document.addEventListener("visibilitychange", again, { signal });
    // Clicks and keys in progress were meant for something else.
    const early = () => {
      if (!this.ready) this.restart();
    };
    for (const name of ["pointerdown", "keydown"]) {
      window.addEventListener(name, early, { signal, capture: true });
    }
    // A click that takes the focus back from a frame of this page is no break.
    window.addEventListener("focus", early, { signal });
    this.restart();
    return () => {
      stop.abort();
      clearTimeout(this.#timer);
    };
  }

  /** Something else is shown now: it wants to be seen first, too. */
  restart(): void {
    clearTimeout(this.#timer);
    this.ready = false;
    this.#timer = setTimeout(() => {
      this.ready = seen();
    }, CALM_MS);
  }
}

function seen(): boolean {
  return document.visibilityState === "visible" && document.hasFocus();
}
