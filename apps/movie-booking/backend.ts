// The cinema's side: what there is to choose, holds on seats, and bookings, over REST.
import type { Booking, Hold } from "./booking.ts";
import { summary } from "./booking.ts";
import type { Booked, Item, Stage } from "./spec.ts";
import { dayWords, money, runningTime } from "./words.ts";

/** An answer that was no good; `code` is the server's. */
export class BackendError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = "BackendError";
    this.code = code;
  }
}

/** What it takes to open the same cinema again: what decides its program, and what its clock shows. */
export interface Setup {
  seed: number;
  at: string;
}

type Row = Record<string, unknown>;
type Fetch = (path: string, init?: RequestInit) => Promise<Response>;

// A cinema that takes longer is taken for gone.
const PATIENCE_MS = 15_000;

export class Backend {
  readonly #fetch: Fetch;
  /** The cinema of a study session; the one that everybody shares without it. */
  cinemaId: string | null = null;

  constructor(fetch: Fetch) {
    this.#fetch = fetch;
  }

  /** What can be chosen on a stage, after what was chosen before it. */
  async items(stage: Stage, booking: Booking): Promise<Item[]> {
    const { movie, theater, date, time } = booking.chosen;
    const query = { movieId: movie?.id, theaterId: theater?.id };
    switch (stage) {
      case "movie":
        return (await this.#list("movies", {})).map(movieItem);
      case "theater":
        return (await this.#list("theaters", { movieId: query.movieId }))
          .map(theaterItem)
          .sort((a, b) => Number(a["distanceKm"]) - Number(b["distanceKm"]));
      case "date":
        return (await this.#list("dates", query)).map(dateItem);
      case "time": {
        const rows = await this.#list("showings", { ...query, date: date?.id });
        return rows.map(showingItem);
      }
      case "seat": {
        const path = `showings/${encodeURIComponent(time?.id ?? "")}/seats`;
        const holdId = booking.hold?.holdId;
        return (await this.#list(path, { holdId }, "seats")).map(seatItem);
      }
      case "ticket": {
        const showingId = time?.id;
        const rows = await this.#list(
          "ticket-types",
          { showingId },
          "ticketTypes",
        );
        return rows.map(ticketItem);
      }
      case "confirm":
        return summary(booking);
    }
  }

  /** Keeps the seats for a while; another hold of the same id is replaced. */
  async hold(booking: Booking): Promise<Hold> {
    const answer = await this.#ask("POST", "holds", {
      ...this.#where,
      showingId: booking.chosen.time?.id,
      seats: booking.seats,
      ...(booking.hold && { holdId: booking.hold.holdId }),
    });
    const { holdId, expiresAt } = answer;
    return { holdId: String(holdId), expiresAt: momentOf(expiresAt) };
  }

  async release({ holdId }: Hold): Promise<void> {
    await this.#ask("DELETE", `holds/${encodeURIComponent(holdId)}`);
  }

  async book(booking: Booking): Promise<Booked> {
    const body = {
      ...this.#where,
      showingId: booking.chosen.time?.id,
      holdId: booking.hold?.holdId ?? "",
      tickets: booking.tickets,
    };
    // Asking again for the same gives the same booking, also when the first answer was lost.
    const key = `${body.holdId}-${fingerprint(JSON.stringify(body))}`;
    const answer = await this.#ask("POST", "bookings", body, key);
    const { bookingId, code, seats, totalCents } = answer;
    return {
      bookingId: String(bookingId),
      code: String(code),
      seats: Array.isArray(seats) ? seats.map(String) : booking.seats,
      totalCents: Number(totalCents),
    };
  }

  async cancel({ bookingId }: Booked): Promise<void> {
    await this.#ask("DELETE", `bookings/${encodeURIComponent(bookingId)}`);
  }

  /** Opens a cinema with separate seats; the same setup gives the same seats. */
  async openCinema(setup?: unknown): Promise<Setup & { cinemaId: string }> {
    const { seed, at } = (setup ?? {}) as Partial<Setup>;
    const wish = {
      ...(Number.isInteger(seed) && { seed }),
      ...(typeof at === "string" && { at }),
    };
    let answer: Row;
    try {
      answer = await this.#ask("POST", "cinemas", wish);
    } catch (error) {
      const bad = (error as { code?: unknown }).code === "invalid_request";
      if (!bad) throw error;
      // A setup that no cinema has: a fresh one is better than none.
      answer = await this.#ask("POST", "cinemas", {});
    }
    return {
      cinemaId: text(answer["cinemaId"]),
      seed: Number(answer["seed"]),
      at: text(answer["at"]),
    };
  }

  async closeCinema(cinemaId: string): Promise<void> {
    await this.#ask("DELETE", `cinemas/${encodeURIComponent(cinemaId)}`);
  }

  get #where(): { cinemaId?: string } {
    return this.cinemaId === null ? {} : { cinemaId: this.cinemaId };
  }

  async #list(
    path: string,
    query: Record<string, string | undefined>,
    name = path,
  ): Promise<Row[]> {
    const given = Object.entries({ ...query, ...this.#where }).filter(
      (entry): entry is [string, string] => entry[1] !== undefined,
    );
    const search = new URLSearchParams(given).toString();
    const answer = await this.#ask("GET", search ? `${path}?${search}` : path);
    const list = answer[name];
    if (!Array.isArray(list)) throw unreadable();
    return list.map((each) =>
      typeof each === "string" ? { id: each } : (each as Row),
    );
  }

  async #ask(
    method: string,
    path: string,
    body?: unknown,
    key?: string,
  ): Promise<Row> {
    let response: Response;
    try {
      response = await this.#fetch(`/api/booking/${path}`, {
        method,
        signal: AbortSignal.timeout(PATIENCE_MS),
        headers: {
          ...(body !== undefined && { "content-type": "application/json" }),
          ...(key !== undefined && { "idempotency-key": key }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
    } catch {
      throw new BackendError(
        "unreachable",
        "The cinema is not responding. Try again in a moment.",
      );
    }
    if (response.status === 204) return {};
    let answer: Row;
    try {
      answer = (await response.json()) as Row;
    } catch {
      throw unreadable();
    }
    if (response.ok) return answer;
    const code = text(answer["error_code"]) || `http_${response.status}`;
    throw new BackendError(
      code,
      text(answer["message"]) || "The cinema rejected the request.",
    );
  }
}

function unreadable(): BackendError {
  return new BackendError("unreadable", "The cinema sent an invalid response.");
}

function text(value: unknown): string {
  return typeof value === "string" || typeof value === "number"
    ? String(value)
    : "";
}

/** A moment as text, or as milliseconds since 1970. */
function momentOf(value: unknown): number {
  return typeof value === "number" ? value : Date.parse(text(value));
}

function movieItem(row: Row): Item {
  const minutes = Number(row["minutes"]);
  return {
    id: text(row["id"]),
    title: text(row["title"]),
    genre: text(row["genre"]),
    minutes,
    length: runningTime(minutes),
    rating: Number(row["rating"]) || text(row["rating"]),
    synopsis: text(row["synopsis"]),
  };
}

function theaterItem(row: Row): Item {
  return {
    id: text(row["id"]),
    name: text(row["name"]),
    address: text(row["address"]),
    distanceKm: Number(row["distanceKm"]),
  };
}

function dateItem(row: Row): Item {
  const id = text(row["id"]);
  return { id, date: id, ...dayWords(id) };
}

function showingItem(row: Row): Item {
  const [seatsLeft, priceCents] = [row["seatsLeft"], row["priceCents"]].map(
    Number,
  );
  return {
    id: text(row["id"]),
    time: text(row["time"]),
    hall: text(row["hall"]),
    format: text(row["format"]),
    priceCents: priceCents ?? 0,
    price: money(priceCents ?? 0),
    seatsLeft: seatsLeft ?? 0,
    ...(seatsLeft === 0 && { isDisabled: true }),
  };
}

function seatItem(row: Row): Item {
  const status = text(row["status"]);
  return {
    id: text(row["id"]),
    label: text(row["id"]),
    row: text(row["row"]),
    number: Number(row["number"]),
    kind: text(row["kind"]) || "standard",
    status,
    ...((status === "taken" || status === "held") && { isDisabled: true }),
  };
}

function ticketItem(row: Row): Item {
  const priceCents = Number(row["priceCents"]);
  return {
    id: text(row["id"]),
    name: text(row["name"]),
    description: text(row["description"]),
    priceCents,
    price: money(priceCents),
  };
}

/** Short, and the same for the same text. */
function fingerprint(words: string): string {
  let hash = 0x811c9dc5;
  for (const letter of words) {
    hash = Math.imul(hash ^ (letter.codePointAt(0) ?? 0), 0x01000193);
  }
  return (hash >>> 0).toString(16);
}
