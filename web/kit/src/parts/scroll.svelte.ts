// Keeps the end of a growing log in view, but only for someone who is at the end.
import { tick } from "svelte";

// Someone within this many pixels of the end counts as being there.
const NEAR = 48;

export class ScrollState {
  #scroller: HTMLElement | null = null;
  #growing = 0;
  #top = 0;
  following = $state(true);

  /** Attach to the element that scrolls. */
  readonly scroller = (element: HTMLElement): (() => void) => {
    this.#scroller = element;
    const onScroll = () => {
      const left =
        element.scrollHeight - element.clientHeight - element.scrollTop;
      // Growing content never moves the top up: only a person does, and a wheel
      // does it in steps, the first of which is still near the end.
      if (element.scrollTop < this.#top - 1) this.following = left <= 1;
      else if (left <= NEAR) this.following = true;
      this.#top = element.scrollTop;
    };
    element.addEventListener("scroll", onScroll, { passive: true });
    const resized = new ResizeObserver(() => this.#keep());
    resized.observe(element);
    return () => {
      element.removeEventListener("scroll", onScroll);
      resized.disconnect();
      this.#scroller = null;
    };
  };

  /** Attach to the element whose height grows. */
  readonly content = (element: HTMLElement): (() => void) => {
    const resized = new ResizeObserver(() => this.#keep());
    resized.observe(element);
    this.#growing += 1;
    return () => {
      resized.disconnect();
      this.#growing -= 1;
    };
  };

  /** Goes to the end and stays there. */
  toEnd(): void {
    this.following = true;
    this.#keep();
  }

  /** Runs a change above the view without moving what is in view. */
  async holding(change: () => Promise<void>): Promise<void> {
    const element = this.#scroller;
    const below = element ? element.scrollHeight - element.scrollTop : 0;
    await change();
    await tick();
    if (element) {
      element.scrollTop = element.scrollHeight - below;
      this.#top = element.scrollTop;
    }
  }

  #keep(): void {
    const element = this.#scroller;
    if (!element || !this.#growing || !this.following) return;
    element.scrollTop = element.scrollHeight;
    this.#top = element.scrollTop;
  }
}
