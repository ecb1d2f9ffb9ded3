// A booking as it is on the screen: what people see drawn, and agents read.
import {
  isSingle,
  missing,
  ticketCount,
  totalCents,
  type Booking,
} from "./booking.ts";
import { visible } from "./modify.ts";
import {
  LOOKS,
  STAGES,
  type BookingState,
  type Counted,
  type Item,
  type Named,
  type Stage,
  type UiSpec,
} from "./spec.ts";

export function specOf(booking: Booking): UiSpec {
  const { stage, items, modification, chosen, seats, tickets } = booking;
  const { title, description, valueField, component } = LOOKS[stage];
  const why = missing(booking);
  const words = Object.entries(chosen).map(([at, item]) => [
    at,
    named(at as Stage, item).value,
  ]);
  return {
    ...{ stage, title, description },
    visibleItems: visible(items, modification, valueField),
    state: stateOf(booking),
    ...{ items, modification, display: { valueField, component } },
    meta: {
      step: STAGES.indexOf(stage) + 1,
      steps: STAGES.length,
      chosen: {
        ...(Object.fromEntries(words) as UiSpec["meta"]["chosen"]),
        ...(seats.length > 0 && { seat: seats.join(", ") }),
        ...(ticketCount(tickets) > 0 && {
          ticket: String(ticketCount(tickets)),
        }),
      },
      canGoOn: why === null,
      ...(why !== null && { missing: why }),
      ...(booking.hold && {
        seatsHeldUntil: new Date(booking.hold.expiresAt).toISOString(),
      }),
    },
  };
}

/** What is chosen on this stage, and on all of them. */
function stateOf(booking: Booking): UiSpec["state"] {
  const { stage, items, modification, chosen, seats } = booking;
  const single = isSingle(stage) ? chosen[stage] : undefined;
  const marked = modification.highlight?.itemIds;
  return {
    ...(single && { selected: named(stage, single) }),
    ...(stage === "seat" && { selectedList: seats.map(seatNamed) }),
    ...(marked && {
      highlighted: items
        .filter(({ id }) => marked.includes(id))
        .map((item) => named(stage, item)),
    }),
    ...(stage === "ticket" && { quantities: counts(booking) }),
    booking: runningOf(booking),
  };
}

/** Everything that is chosen so far, so that an agent that joins in the middle knows it. */
function runningOf(booking: Booking): BookingState {
  const { chosen, seats, booked } = booking;
  const tickets = counts(booking).filter(({ count }) => count > 0);
  const singles = Object.entries(chosen).map(([stage, item]) => [
    stage,
    named(stage as Stage, item),
  ]);
  const total = booked?.totalCents ?? totalCents(booking);
  return {
    status: !booked ? "open" : booked.cancelled ? "cancelled" : "booked",
    ...(Object.fromEntries(singles) as Pick<BookingState, "movie">),
    ...(seats.length > 0 && { seats: seats.map(seatNamed) }),
    ...(tickets.length > 0 && { tickets, totalCents: total }),
    ...(booked && { bookingId: booked.bookingId, code: booked.code }),
  };
}

function counts({ ticketTypes, tickets }: Booking): Counted[] {
  return ticketTypes.map((type) => ({
    item: named("ticket", type),
    count: tickets[type.id] ?? 0,
  }));
}

function named(stage: Stage, item: Item): Named {
  const value = item[LOOKS[stage].valueField];
  return { id: item.id, value: String(value ?? item.id) };
}

/** The display name of a seat. */
function seatNamed(id: string): Named {
  return { id, value: id };
}
