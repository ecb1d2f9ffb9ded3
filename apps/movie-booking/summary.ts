// The last look at a booking, and the ticket once it is made.
import { itemOf, marksOf, type Act } from "./choices.ts";
import { button, make } from "./elements.ts";
import type { BookingState, UiSpec } from "./spec.ts";

/** The booking that the person wants to cancel and is asked about once more. */
let asked: string | undefined;

export function drawSummary(box: HTMLElement, spec: UiSpec, act: Act): void {
  const { booking } = spec.state;
  const list = make("dl", { class: "summary" });
  for (const shown of spec.visibleItems) {
    const { label, value } = itemOf(spec, shown);
    const { classes, note } = marksOf(spec, shown.id);
    list.append(
      make(
        "div",
        { class: `line${classes}` },
        make("dt", {}, String(label ?? shown.id)),
        make(
          "dd",
          {},
          String(value ?? ""),
          note !== null && make("span", { class: "note" }, note),
        ),
      ),
    );
  }
  const again = () => drawSummary(box, spec, act);
  box.replaceChildren(
    ...(booking.status === "open" ? [] : [drawTicket(booking)]),
    list,
    ...(booking.status === "booked" ? [drawCancel(booking, again, act)] : []),
  );
}

function drawTicket({ status, code = "" }: BookingState): HTMLElement {
  const cancelled = status === "cancelled";
  return make(
    "div",
    { class: `ticket${cancelled ? " cancelled" : ""}` },
    make("p", { class: "quiet" }, cancelled ? "Your code was" : "Your code"),
    make("p", { class: "code" }, code),
    make(
      "p",
      {},
      cancelled
        ? "It is no longer valid. The seats are free again."
        : "Show it at the entrance. Enjoy the movie!",
    ),
  );
}

/** Cancelling cannot be undone, so it takes two steps. */
function drawCancel(
  { bookingId }: BookingState,
  again: () => void,
  act: Act,
): HTMLElement {
  const ask = (id: string | undefined, next: string) => () => {
    asked = id;
    again();
    document.querySelector<HTMLElement>(`[data-key="${next}"]`)?.focus();
  };
  if (asked !== bookingId) {
    return make(
      "div",
      { class: "cancel" },
      button("cancel", {}, ask(bookingId, "keep"), "Cancel this booking"),
    );
  }
  return make(
    "div",
    { class: "cancel", role: "group", "aria-label": "Cancel this booking" },
    make("p", {}, "Your seats will be free for others."),
    button("keep", {}, ask(undefined, "cancel"), "Keep it"),
    button(
      "cancel-now",
      { class: "danger" },
      () => {
        asked = undefined;
        act({ tool: "cancelBooking", params: {} });
      },
      "Cancel it now",
    ),
  );
}
