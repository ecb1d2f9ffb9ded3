//! The program of a cinema, computed from a seed: movies, theaters, halls and showings. Nothing of it is stored.

use std::collections::BTreeSet;

use jiff::{
    ToSpan,
    civil::{Date, DateTime},
};

use super::{
    dice::SeededRandom,
    hall::Hall,
    repertoire::{HOUSES, TITLES},
};

/// Days that can be booked, including today.
pub const DAYS: i64 = 14;

/// Minutes before the start after which no seats are held, so that a hold can still become a booking.
const CLOSING: i64 = 10;

/// How many of the movies in the repertoire are used.
const MOVIES: usize = 9;
const THEATERS: usize = 5;

/// Minutes between two movies in a hall.
const CLEANING: usize = 25;

/// The last movie of a day begins before this minute of it.
const LAST: usize = 22 * 60 + 45;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Movie {
    pub id: &'static str,
    pub title: &'static str,
    pub genre: &'static str,
    pub synopsis: &'static str,
    pub minutes: usize,
    /// Out of 100.
    pub rating: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Theater {
    pub id: &'static str,
    pub name: &'static str,
    pub address: String,
    /// In hundreds of metres.
    pub distance: usize,
    halls: Vec<Hall>,
    price_cents: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Showing {
    /// Encodes all of the showing.
    pub id: String,
    pub movie: &'static str,
    pub begins: DateTime,
    pub hall: Hall,
    /// Before discounts.
    pub price_cents: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TicketType {
    pub id: &'static str,
    pub name: &'static str,
    /// Who it is for.
    pub description: &'static str,
    pub price_cents: u64,
}

/// Everything that a seed determines.
#[derive(Debug)]
pub struct Cinema {
    seed: u64,
    movies: Vec<Movie>,
    theaters: Vec<Theater>,
}

impl Cinema {
    #[must_use]
    pub fn new(seed: u64) -> Self {
        let mut dice = SeededRandom::of(seed, &["cinema"]);
        let titles = dice.shuffled(TITLES.iter().collect());
        let movies = titles.into_iter().take(MOVIES).map(|title| Movie {
            id: title.id,
            title: title.title,
            genre: title.genre,
            synopsis: title.synopsis,
            minutes: dice.between(84, 152),
            rating: dice.between(52, 94),
        });
        let movies = movies.collect();
        let houses = dice.shuffled(HOUSES.iter().collect());
        let theaters = houses.into_iter().take(THEATERS).map(|house| Theater {
            id: house.id,
            name: house.name,
            address: format!("{} {}", dice.between(1, 98), house.street),
            distance: dice.between(4, 96),
            halls: (1..=dice.between(3, 4))
                .map(|number| Hall::new(number, &mut dice))
                .collect(),
            price_cents: 950 + 50 * dice.below(7),
        });
        let theaters = theaters.collect();
        Self {
            seed,
            movies,
            theaters,
        }
    }

    #[must_use]
    pub fn movies(&self) -> &[Movie] {
        &self.movies
    }

    #[must_use]
    pub fn theaters(&self) -> &[Theater] {
        &self.theaters
    }

    #[must_use]
    pub fn movie(&self, id: &str) -> Option<&Movie> {
        self.movies.iter().find(|movie| movie.id == id)
    }

    #[must_use]
    pub fn theater(&self, id: &str) -> Option<&Theater> {
        self.theaters.iter().find(|theater| theater.id == id)
    }

    /// Whether a theater shows a movie; every movie is in at least two theaters, and every theater shows some.
    #[must_use]
    pub fn shows(&self, theater: &Theater, movie: &Movie) -> bool {
        let mut dice = SeededRandom::of(self.seed, &["shows", movie.id]);
        let order = dice.shuffled(self.theaters.iter().map(|one| one.id).collect());
        let count = dice.between(2, self.theaters.len());
        let at = order.iter().position(|id| *id == theater.id);
        let place = |id| self.theaters.iter().position(|one| one.id == id);
        let first = self.movies.iter().position(|one| one.id == movie.id);
        at.is_some_and(|at| at < count) || place(theater.id) == first
    }

    /// The days on which a seat for this movie can be booked in this theater.
    #[must_use]
    pub fn dates(&self, movie: &Movie, theater: &Theater, now: DateTime) -> Vec<Date> {
        let mut days = (0..DAYS).filter_map(|day| now.date().checked_add(day.days()).ok());
        let shown = |date: &Date| {
            let showings = self.showings(movie, theater, *date, now);
            showings
                .iter()
                .any(|showing| self.taken(showing).len() < showing.hall.seats().len())
        };
        days.by_ref().filter(shown).collect()
    }

    /// Bookable showings of a movie in a theater on a day, by time.
    #[must_use]
    pub fn showings(
        &self,
        movie: &Movie,
        theater: &Theater,
        date: Date,
        now: DateTime,
    ) -> Vec<Showing> {
        if !is_near(date, now) {
            return Vec::new();
        }
        let mut showings = self.program(theater, date);
        showings.retain(|one| one.movie == movie.id && one.is_sold(now));
        showings.sort_by_key(|one| (one.begins, one.hall.number));
        showings
    }

    /// The showing with this id, even if it is over.
    #[must_use]
    pub fn showing(&self, id: &str, now: DateTime) -> Option<Showing> {
        let mut parts = id.split('_').skip(2);
        let theater = self.theater(parts.next()?)?;
        let date: Date = parts.next()?.parse().ok()?;
        let known = is_near(date, now) || date < now.date();
        let mut found = self.program(theater, date).into_iter();
        // Compared as text: any other form of the same id is unknown.
        found.find(|one| one.id == id).filter(|_| known)
    }

    /// Seats that are taken from the start.
    #[must_use]
    pub fn taken(&self, showing: &Showing) -> BTreeSet<String> {
        let mut dice = SeededRandom::of(self.seed, &["taken", &showing.id]);
        showing.hall.taken(&mut dice)
    }

    /// All showings in a theater on a day.
    fn program(&self, theater: &Theater, date: Date) -> Vec<Showing> {
        let day = date.to_string();
        let mut dice = SeededRandom::of(self.seed, &["program", theater.id, &day]);
        let here = self
            .movies
            .iter()
            .filter(|movie| self.shows(theater, movie));
        // Round-robin, so that every movie is shown about equally often.
        let deck = dice.shuffled(here.collect());
        let mut dealt = deck.iter().cycle();
        let mut showings = Vec::new();
        for hall in &theater.halls {
            let mut minute = 10 * 60 + 30 + 5 * dice.below(18);
            while minute < LAST
                && let Some(movie) = dealt.next()
            {
                showings.extend(self.at(theater, hall, movie, date, minute));
                minute = (minute + movie.minutes + CLEANING).div_ceil(5) * 5;
            }
        }
        showings
    }

    fn at(
        &self,
        theater: &Theater,
        hall: &Hall,
        movie: &Movie,
        date: Date,
        minute: usize,
    ) -> Option<Showing> {
        let (hours, minutes) = (minute / 60, minute % 60);
        let place = |number: usize| i8::try_from(number).ok();
        let format = if hall.format == "2D" { 0 } else { 200 };
        let evening = if hours >= 17 { 150 } else { 0 };
        let (seed, number) = (self.seed, hall.number);
        Some(Showing {
            id: format!(
                "{seed}_{}_{}_{date}_{number}_{hours:02}{minutes:02}",
                movie.id, theater.id
            ),
            movie: movie.id,
            begins: date.at(place(hours)?, place(minutes)?, 0, 0),
            hall: hall.clone(),
            price_cents: u64::try_from(theater.price_cents + format + evening).ok()?,
        })
    }
}

/// Whether a day is within the booking period.
fn is_near(date: Date, now: DateTime) -> bool {
    let last = now.date().checked_add((DAYS - 1).days());
    last.is_ok_and(|last| (now.date()..=last).contains(&date))
}

impl Showing {
    /// Whether it has begun.
    #[must_use]
    pub fn is_over(&self, now: DateTime) -> bool {
        self.begins <= now
    }

    /// Whether seats can still be held.
    #[must_use]
    pub fn is_sold(&self, now: DateTime) -> bool {
        let closes = self.begins.checked_sub(CLOSING.minutes());
        closes.is_ok_and(|closes| now < closes)
    }

    #[must_use]
    pub fn ticket_types(&self) -> [TicketType; 4] {
        let kind = |id, name, description, percent: u64| TicketType {
            id,
            name,
            description,
            // In tens of cents.
            price_cents: (self.price_cents * percent).div_ceil(1000) * 10,
        };
        [
            kind("adult", "Adult", "From 15 years", 100),
            kind("student", "Student", "With a student card", 80),
            kind("senior", "Senior", "From 65 years", 75),
            kind("child", "Child", "Up to 14 years", 65),
        ]
    }
}
