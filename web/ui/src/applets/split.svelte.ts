// How wide the applet is, and on a phone, which of the two is shown.
import { HALF } from "./share.js";
import { read, write } from "../storage.js";

export type Side = "applet" | "chat";

export class SplitState {
  /** Percent of the width that the applet takes. */
  share = $state(stored());
  /** What a phone shows. */
  side: Side = $state("applet");

  set(share: number): void {
    this.share = share;
  }

  /** Remembers the width once it is chosen, not on the way there. */
  keep(): void {
    write("split", this.share === HALF ? "" : this.share.toFixed(1));
  }
}

function stored(): number {
  const share = Number(read("split") ?? HALF);
  return share > 0 && share < 100 ? share : HALF;
}
