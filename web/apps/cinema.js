// The cinema's REST interface in memory, for tests: it stands for the server, on its real wire.

const GENRES = ["Comedy", "Drama", "Science fiction", "Thriller", "Family"];
const HOLD_MS = 10 * 60_000;

export class Cinema {
  holds = new Map();
  bookings = new Map();
  /** Cinemas of study sessions, by id. */
  studies = new Map();
  now = Date.parse("2026-11-15T10:00:00Z");
  #count = 0;

  movies = GENRES.map((genre, at) => ({
    id: `m${at + 1}`,
    title: [
      "The Late Tram",
      "Salt Road",
      "Quiet Orbit",
      "Nine Doors",
      "Bear in Boots",
    ][at],
    genre,
    minutes: 90 + at * 7,
    rating: 6 + at / 2,
    synopsis: "Something happens, and then something else.",
  }));
  theaters = ["Harbour", "Old Town", "Hill"].map((name, at) => ({
    id: `t${at + 1}`,
    name: `${name} Cinema`,
    address: `${at + 3} Main Street`,
    distanceKm: 4.5 - at * 1.5,
  }));
  dates = Array.from({ length: 10 }, (_, at) =>
    new Date(Date.UTC(2026, 10, 15 + at)).toISOString().slice(0, 10),
  );
  ticketTypes = [
    {
      id: "adult",
      name: "Adult",
      description: "From 15 years",
      priceCents: 1250,
    },
    {
      id: "child",
      name: "Child",
      description: "Up to 14 years",
      priceCents: 800,
    },
    {
      id: "senior",
      name: "Senior",
      description: "From 65 years",
      priceCents: 950,
    },
  ];

  fetch = (path, init = {}) => {
    const url = new URL(path, "http://cinema");
    const body = init.body ? JSON.parse(init.body) : null;
    const answer = this.#answer(
      init.method ?? "GET",
      url,
      body,
      init.headers ?? {},
    );
    const [status, json] = answer;
    return Promise.resolve(
      status === 204
        ? new Response(null, { status })
        : new Response(JSON.stringify(json), { status }),
    );
  };

  /** Another client books these seats. */
  take(showingId, seats) {
    this.bookings.set(`other-${(this.#count += 1)}`, { showingId, seats });
  }

  #answer(method, url, body, headers) {
    const parts = url.pathname.split("/").slice(3).map(decodeURIComponent);
    const ask = Object.fromEntries(url.searchParams);
    const [what, id, more] = parts;
    if (method === "DELETE" && what === "holds") {
      return this.holds.delete(id)
        ? [204]
        : refuse(404, "not_found", "there is no such hold");
    }
    const cinema = ask.cinemaId ?? body?.cinemaId ?? null;
    if (cinema !== null && !this.studies.has(cinema)) {
      return refuse(404, "cinema_not_found", "there is no such cinema");
    }
    if (method === "POST" && what === "cinemas") return this.#open(body);
    if (method === "DELETE" && what === "cinemas") {
      return this.studies.delete(id)
        ? [204]
        : refuse(404, "cinema_not_found", "there is no such cinema");
    }
    if (method === "DELETE" && what === "bookings") return this.#cancel(id);
    if (method === "POST" && what === "holds") return this.#hold(body);
    if (method === "POST" && what === "bookings")
      return this.#book(body, headers["idempotency-key"]);
    if (what === "movies") return [200, { movies: this.movies }];
    if (what === "theaters") return [200, { theaters: this.theaters }];
    if (what === "dates") return [200, { dates: this.dates }];
    if (what === "ticket-types")
      return [200, { ticketTypes: this.ticketTypes }];
    if (what === "showings" && more === "seats") {
      return [
        200,
        { rows: [..."ABCDEFGH"], seats: this.#seats(id, ask.holdId, cinema) },
      ];
    }
    if (what === "showings") {
      return [200, { showings: this.#showings(ask, cinema) }];
    }
    return refuse(404, "not_found", "there is nothing here");
  }

  #open({ seed = 1, at = "2026-11-15T11:00:00" }) {
    if (at === "bad") return refuse(400, "invalid_request", "at is no time");
    const cinemaId = `c${(this.#count += 1)}`;
    this.studies.set(cinemaId, { seed, at });
    return [201, { cinemaId, seed, at }];
  }

  #cancel(id) {
    const found = [...this.bookings.values()].find(
      ({ bookingId }) => bookingId === id,
    );
    if (!found) return refuse(404, "booking_not_found", "no such booking");
    if (found.begun) return refuse(409, "showing_over", "it has begun");
    found.seats = [];
    return [204];
  }

  #showings({ movieId, theaterId, date }, cinema) {
    return ["14:00", "17:15", "19:30", "21:45"].map((time, at) => {
      const id = [movieId, theaterId, date, time.replace(":", "")].join("_");
      const free = this.#seats(id, undefined, cinema).filter(
        ({ status }) => status === "free",
      );
      const seatsLeft = at === 1 ? 0 : free.length;
      return {
        id,
        time,
        hall: `Hall ${at + 1}`,
        format: at === 3 ? "3D" : "2D",
        priceCents: 1250,
        seatsLeft,
      };
    });
  }

  #seats(showingId, holdId, cinema = null) {
    const states = new Map();
    for (const { showingId: of, seats, cinemaId = null } of [
      ...this.bookings.values(),
    ]) {
      if (of === showingId && cinemaId === cinema)
        for (const seat of seats) states.set(seat, "taken");
    }
    for (const [id, hold] of this.holds) {
      if (hold.showingId !== showingId || hold.until <= this.now) continue;
      if ((hold.cinemaId ?? null) !== cinema) continue;
      for (const seat of hold.seats)
        states.set(seat, id === holdId ? "mine" : "held");
    }
    return [..."ABCDEFGH"].flatMap((row, at) =>
      Array.from({ length: 10 }, (_, number) => {
        const id = `${row}${number + 1}`;
        const kind =
          row === "H"
            ? "premium"
            : at === 0 && number < 2
              ? "accessible"
              : "standard";
        // Some are always gone.
        const gone = (at * 7 + number * 3) % 11 === 0;
        const status = states.get(id) ?? (gone ? "taken" : "free");
        return { id, row, number: number + 1, kind, status };
      }),
    );
  }

  #hold({ showingId, seats, holdId, cinemaId = null }) {
    const known = this.holds.get(holdId);
    if (holdId && (!known || known.until <= this.now)) {
      return refuse(
        409,
        "hold_expired",
        "the hold has expired; make a new one",
      );
    }
    const all = this.#seats(showingId, holdId, cinemaId);
    const bad = seats.filter((seat) => {
      const found = all.find(({ id }) => id === seat);
      return !found || !["free", "mine"].includes(found.status);
    });
    if (bad.length > 0)
      return refuse(409, "seat_taken", `${bad.join(", ")}: taken`);
    const id = holdId ?? `h${(this.#count += 1)}`;
    const until = this.now + HOLD_MS;
    this.holds.set(id, { showingId, seats, until, cinemaId });
    return [
      201,
      { holdId: id, seats, expiresAt: new Date(until).toISOString() },
    ];
  }

  #book({ showingId, holdId, tickets }, key) {
    const before = this.bookings.get(key);
    if (before) return [201, before];
    const hold = this.holds.get(holdId);
    if (!hold || hold.until <= this.now)
      return refuse(409, "hold_expired", "the hold has expired");
    const count = Object.values(tickets).reduce((sum, each) => sum + each, 0);
    if (count !== hold.seats.length)
      return refuse(400, "tickets_do_not_fit", "tickets do not fit");
    this.holds.delete(holdId);
    const priceOf = (type) =>
      this.ticketTypes.find(({ id }) => id === type).priceCents;
    const totalCents = Object.entries(tickets).reduce(
      (sum, [type, n]) => sum + n * priceOf(type),
      0,
    );
    const code = `K${1000 + (this.#count += 1)}`;
    const booking = {
      bookingId: `b${this.#count}`,
      code,
      showingId,
      seats: hold.seats,
      tickets,
      totalCents,
    };
    const { cinemaId } = hold;
    this.bookings.set(key, { ...booking, cinemaId });
    return [201, booking];
  }
}

function refuse(status, error_code, message) {
  return [status, { status, error_code, message, retryable: false }];
}
