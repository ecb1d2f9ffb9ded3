// A booking from its first stage to its last: what is chosen, and what may happen next. Nothing here waits or draws.
import { visible } from "./modify.ts";
import { Refused } from "./refused.ts";
import {
  LOOKS,
  STAGES,
  type Booked,
  type Item,
  type Modification,
  type Stage,
} from "./spec.ts";
import { money, seatWords } from "./words.ts";

/** The stages on which one item is chosen. */
export type SingleStage = "movie" | "theater" | "date" | "time";

export interface Hold {
  holdId: string;
  /** Milliseconds since 1970. */
  expiresAt: number;
}

export interface Booking {
  stage: Stage;
  items: Item[];
  modification: Modification;
  chosen: Partial<Record<SingleStage, Item>>;
  seats: string[];
  tickets: Record<string, number>;
  /** What each kind of ticket is, since its stage was shown. */
  ticketTypes: Item[];
  hold: Hold | null;
  booked: Booked | null;
}

/** The limit for one booking. */
export const MOST_SEATS = 10;

export function begin(): Booking {
  return {
    stage: "movie",
    items: [],
    modification: {},
    chosen: {},
    seats: [],
    tickets: {},
    ticketTypes: [],
    hold: null,
    booked: null,
  };
}

export function isSingle(stage: Stage): stage is SingleStage {
  return STAGES.indexOf(stage) < STAGES.indexOf("seat");
}

/** The same booking on another stage, with what is there; what is no longer there is no longer chosen. */
export function entered(
  booking: Booking,
  stage: Stage,
  items: Item[],
): Booking {
  const next: Booking = { ...booking, stage, items, modification: {} };
  if (isSingle(stage)) {
    const { [stage]: before, ...others } = booking.chosen;
    const still = items.find(
      ({ id, isDisabled }) => id === before?.id && !isDisabled,
    );
    next.chosen = still ? { ...others, [stage]: still } : others;
  } else if (stage === "seat") next.seats = free(items, booking.seats);
  else if (stage === "ticket") {
    next.ticketTypes = items;
    next.tickets = fitting(booking.tickets, items, booking.seats.length);
  }
  return next;
}

/** The stage as it is now, with everything done to how it is shown. */
export function refreshed(booking: Booking, items: Item[]): Booking {
  const { modification } = booking;
  return { ...entered(booking, booking.stage, items), modification };
}

export function selected(booking: Booking, itemId: string): Booking {
  needOpen(booking);
  const { stage } = booking;
  if (stage === "ticket") {
    throw failed("Tickets cannot be selected: use setQuantity.");
  }
  if (stage === "confirm")
    throw failed("There is nothing to select on this stage.");
  const item = needVisible(booking, itemId);
  if (stage === "seat") return toggled(booking, itemId);
  if (booking.chosen[stage]?.id === itemId) return booking;
  const kept = STAGES.slice(0, STAGES.indexOf(stage));
  const chosen = Object.fromEntries(
    Object.entries(booking.chosen).filter(([at]) => kept.includes(at as Stage)),
  );
  // Whatever was chosen after this stage was chosen for something else.
  return {
    ...booking,
    chosen: { ...chosen, [stage]: item },
    ...{ seats: [], tickets: {}, ticketTypes: [], hold: null },
  };
}

function toggled(booking: Booking, seat: string): Booking {
  const { seats } = booking;
  if (seats.includes(seat)) {
    return { ...booking, seats: seats.filter((each) => each !== seat) };
  }
  if (seats.length >= MOST_SEATS) {
    throw failed(`At most ${MOST_SEATS} seats can be booked at once.`);
  }
  return { ...booking, seats: [...seats, seat] };
}

export function counted(
  booking: Booking,
  typeId: string,
  quantity: number,
): Booking {
  needOpen(booking);
  if (booking.stage !== "ticket") {
    throw failed(`setQuantity is not available on the stage ${booking.stage}.`);
  }
  needVisible(booking, typeId);
  if (!Number.isSafeInteger(quantity) || quantity < 0) {
    throw invalid("quantity must be a whole number of at least 0.");
  }
  const others = ticketCount({ ...booking.tickets, [typeId]: 0 });
  const places = booking.seats.length;
  if (others + quantity > places) {
    throw invalid(
      `With ${seatWords(places)}, at most ${places - others} tickets of this type are possible.`,
    );
  }
  const { [typeId]: _, ...rest } = booking.tickets;
  const tickets = quantity === 0 ? rest : { ...rest, [typeId]: quantity };
  return { ...booking, tickets };
}

/** What is missing before the booking can continue; nothing if it can. */
export function missing(booking: Booking): string | null {
  const { stage, seats, tickets } = booking;
  if (booking.booked) {
    return booking.booked.cancelled
      ? "The booking was cancelled."
      : "The booking is complete.";
  }
  if (isSingle(stage)) {
    return booking.chosen[stage] ? null : `Choose a ${stage} first.`;
  }
  if (stage === "seat") return seats.length > 0 ? null : "Choose a seat first.";
  if (stage === "ticket") {
    const left = seats.length - ticketCount(tickets);
    return left === 0
      ? null
      : `${left} of ${seatWords(seats.length)} have no ticket yet.`;
  }
  return null;
}

export function stageAfter(booking: Booking): Stage {
  const why = missing(booking);
  if (why !== null) throw failed(why);
  const next = STAGES[STAGES.indexOf(booking.stage) + 1];
  if (!next) throw failed("This is the last stage.");
  return next;
}

export function stageBefore(booking: Booking): Stage {
  needOpen(booking);
  const before = STAGES[STAGES.indexOf(booking.stage) - 1];
  if (!before) throw failed("This is the first stage.");
  return before;
}

/** Seats that are gone are let go of. */
export function withoutSeats(
  booking: Booking,
  gone: readonly string[],
): Booking {
  const seats = booking.seats.filter((seat) => !gone.includes(seat));
  return { ...booking, seats, tickets: {} };
}

export function ticketCount(tickets: Record<string, number>): number {
  return Object.values(tickets).reduce((sum, each) => sum + each, 0);
}

export function totalCents({ tickets, ticketTypes }: Booking): number {
  return ticketTypes.reduce(
    (sum, { id, priceCents }) =>
      sum + (tickets[id] ?? 0) * Number(priceCents ?? 0),
    0,
  );
}

/** The lines of the summary. */
export function summary(booking: Booking): Item[] {
  const { chosen, seats, tickets, ticketTypes } = booking;
  const kinds = ticketTypes
    .filter(({ id }) => tickets[id])
    .map(({ id, name }) => `${tickets[id] ?? 0} × ${String(name)}`);
  const line = (id: string, label: string, value: string): Item => ({
    ...{ id, label, value },
  });
  return [
    line("movie", "Movie", String(chosen.movie?.["title"] ?? "")),
    line("theater", "Theater", String(chosen.theater?.["name"] ?? "")),
    line("date", "Day", String(chosen.date?.["long"] ?? "")),
    line("time", "Time", String(chosen.time?.["time"] ?? "")),
    line("seat", "Seats", seats.join(", ")),
    line("ticket", "Tickets", kinds.join(", ")),
    line(
      "total",
      "Total",
      money(booking.booked?.totalCents ?? totalCents(booking)),
    ),
  ];
}

function free(items: readonly Item[], seats: readonly string[]): string[] {
  const open = new Set(
    items.filter(({ isDisabled }) => !isDisabled).map(({ id }) => id),
  );
  return seats.filter((seat) => open.has(seat));
}

/** The tickets that there still are, unless they are more than the seats. */
function fitting(
  tickets: Record<string, number>,
  items: readonly Item[],
  seats: number,
): Record<string, number> {
  const known = Object.entries(tickets).filter(([id]) =>
    items.some((item) => item.id === id),
  );
  const left = Object.fromEntries(known);
  return ticketCount(left) <= seats ? left : {};
}

function needVisible(booking: Booking, itemId: string): Item {
  const { items, modification, stage } = booking;
  const item = items.find(({ id }) => id === itemId);
  if (!item) {
    throw invalid(
      `Unknown item "${itemId.slice(0, 40)}" on the stage ${stage}.`,
    );
  }
  const shown = visible(items, modification, LOOKS[stage].valueField);
  if (!shown.some(({ id }) => id === itemId)) {
    throw invalid(`${itemId} is hidden by a filter. Clear the filter first.`);
  }
  if (item.isDisabled) throw invalid(`${itemId} is not available.`);
  return item;
}

function needOpen({ booked }: Booking): void {
  if (booked) throw failed("The booking is complete and cannot be changed.");
}

function invalid(message: string): Refused {
  return new Refused("INVALID_PARAMS", message);
}

function failed(message: string): Refused {
  return new Refused("TOOL_EXECUTION_FAILED", message);
}
