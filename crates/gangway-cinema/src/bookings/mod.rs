//! Holds on seats and bookings, in their own database. A write is on the disk before it is acknowledged.

mod cinemas;
mod hold;
mod sell;
#[cfg(test)]
mod tests;

use std::{
    collections::{BTreeMap, HashMap},
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use gangway_core::{
    Error, Result,
    store::{make_private, upgrade},
};
use jiff::Timestamp;
use parking_lot::Mutex;
use rusqlite::{Connection, TransactionBehavior};
use tokio::sync::Semaphore;

pub use cinemas::{CinemaOutcome, NewCinema, StudyCinema};

/// The shared cinema; study sessions have their own.
pub const SHARED: &str = "";

/// Migrations; steps are only ever added.
///
/// The primary key of the seats table (cinema, showing, seat) keeps a seat from being sold twice.
const STEPS: [&str; 2] = [
    "
    CREATE TABLE holds (
        id TEXT NOT NULL PRIMARY KEY,
        showing TEXT NOT NULL,
        caller TEXT NOT NULL,
        made INTEGER NOT NULL,
        until INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX holds_until ON holds (until);
    CREATE TABLE seats (
        showing TEXT NOT NULL,
        seat TEXT NOT NULL,
        hold TEXT,
        booking TEXT,
        PRIMARY KEY (showing, seat),
        CHECK ((hold IS NULL) <> (booking IS NULL))
    ) WITHOUT ROWID;
    CREATE INDEX seats_hold ON seats (hold) WHERE hold IS NOT NULL;
    CREATE TABLE bookings (
        id TEXT NOT NULL PRIMARY KEY,
        code TEXT NOT NULL UNIQUE,
        hold TEXT NOT NULL UNIQUE,
        showing TEXT NOT NULL,
        seats TEXT NOT NULL,
        tickets TEXT NOT NULL,
        total_cents INTEGER NOT NULL,
        caller TEXT NOT NULL,
        name TEXT,
        made INTEGER NOT NULL,
        UNIQUE (caller, name)
    ) WITHOUT ROWID;
",
    // Cinemas of study sessions; bookings that can be cancelled and are pruned.
    "
    CREATE TABLE cinemas (
        id TEXT NOT NULL PRIMARY KEY,
        seed INTEGER NOT NULL,
        shift INTEGER NOT NULL,
        caller TEXT NOT NULL,
        used INTEGER NOT NULL
    ) WITHOUT ROWID;
    CREATE INDEX cinemas_used ON cinemas (used);
    ALTER TABLE holds ADD COLUMN cinema TEXT NOT NULL DEFAULT '';
    ALTER TABLE bookings ADD COLUMN cinema TEXT NOT NULL DEFAULT '';
    ALTER TABLE bookings ADD COLUMN cancelled INTEGER;
    CREATE INDEX bookings_made ON bookings (made);
    CREATE INDEX bookings_cinema ON bookings (cinema);
    CREATE TABLE seats_by_cinema (
        cinema TEXT NOT NULL,
        showing TEXT NOT NULL,
        seat TEXT NOT NULL,
        hold TEXT,
        booking TEXT,
        PRIMARY KEY (cinema, showing, seat),
        CHECK ((hold IS NULL) <> (booking IS NULL))
    ) WITHOUT ROWID;
    INSERT INTO seats_by_cinema (cinema, showing, seat, hold, booking)
        SELECT '', showing, seat, hold, booking FROM seats;
    DROP TABLE seats;
    ALTER TABLE seats_by_cinema RENAME TO seats;
    CREATE INDEX seats_hold ON seats (hold) WHERE hold IS NOT NULL;
    CREATE INDEX seats_booking ON seats (booking) WHERE booking IS NOT NULL;
",
];

/// Holds and bookings. Clones share them; the database is opened on first use.
#[derive(Clone)]
pub struct Bookings {
    shared: Arc<Shared>,
}

struct Shared {
    file: PathBuf,
    connection: Mutex<Option<Connection>>,
    /// One transaction at a time; waiting callers take no thread.
    turn: Arc<Semaphore>,
}

#[derive(Debug, Clone)]
pub struct HoldRequest {
    /// Id for a new hold.
    pub id: String,
    /// The hold whose seats these replace.
    pub replaces: Option<String>,
    /// `SHARED`, or the cinema of a study session.
    pub cinema: String,
    pub showing: String,
    pub seats: Vec<String>,
    pub caller: String,
}

#[derive(Debug, Clone, Copy)]
pub struct HoldLimits {
    /// How long seats are held.
    pub keep: Duration,
    /// The longest life of a hold, however often its seats are replaced.
    pub life: Duration,
    /// Holds at once, of all callers.
    pub holds: usize,
    /// Holds at once per caller.
    pub per_caller: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// Unguessable: knowing it is the right to use the hold.
    pub id: String,
    pub showing: String,
    pub seats: Vec<String>,
    pub until: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HoldResult {
    Kept(Hold),
    /// Others have these seats; nothing changed.
    Taken(Vec<String>),
    /// The hold to replace does not exist.
    Expired,
    /// The limit is reached; the next hold expires at this time.
    TooMany(Timestamp),
}

#[derive(Debug, Clone)]
pub struct BookingRequest {
    pub id: String,
    /// The short code that is read out at the entrance.
    pub code: String,
    pub hold: String,
    /// `SHARED`, or the cinema of a study session.
    pub cinema: String,
    pub showing: String,
    pub tickets: BTreeMap<String, u32>,
    pub total_cents: u64,
    /// Whether the showing can still be booked; an earlier booking is returned in any case.
    pub open: bool,
    pub caller: String,
    /// The idempotency key.
    pub name: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Booking {
    /// Unguessable: knowing it is the right to see and cancel the booking.
    pub id: String,
    /// The short code that is read out at the entrance.
    pub code: String,
    /// `SHARED`, or the cinema of a study session.
    pub cinema: String,
    pub showing: String,
    pub seats: Vec<String>,
    pub tickets: BTreeMap<String, u32>,
    pub total_cents: u64,
    pub cancelled: Option<Timestamp>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sale {
    /// Booked now, or by the same request before.
    Booked(Booking),
    Expired,
    /// The showing can no longer be booked.
    Closed,
    /// The hold is for another showing.
    OtherShowing,
    /// The number of tickets differs from this number of held seats.
    DoesNotFit(usize),
    /// The idempotency key was used for another request.
    OtherRequest,
    /// The hold was booked with other tickets.
    Already,
    /// Another booking has this code.
    CodeTaken,
    /// The same request made a booking that was cancelled since.
    Cancelled,
    /// The booking limit of a study session's cinema is reached.
    TooMany,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    pub seat: String,
    /// `None` for a booked seat.
    pub hold: Option<String>,
}

impl Bookings {
    #[must_use]
    pub fn at(file: PathBuf) -> Self {
        let connection = Mutex::default();
        let turn = Arc::new(Semaphore::new(1));
        let shared = Arc::new(Shared {
            file,
            connection,
            turn,
        });
        Self { shared }
    }

    /// Holds seats, or replaces the seats of a hold: all or nothing.
    pub async fn hold(
        &self,
        request: HoldRequest,
        limits: HoldLimits,
        now: Timestamp,
    ) -> Result<HoldResult> {
        self.write(now, move |tables| hold::keep(tables, &request, limits, now))
            .await
    }

    /// Releases a hold; false when there is none.
    pub async fn release(&self, hold: String, now: Timestamp) -> Result<bool> {
        self.write(now, move |tables| hold::release(tables, &hold))
            .await
    }

    pub async fn book(&self, request: BookingRequest, now: Timestamp) -> Result<Sale> {
        self.write(now, move |tables| sell::book(tables, &request, now))
            .await
    }

    /// Cancels a booking and frees its seats; false when there is none.
    pub async fn cancel(&self, id: String, now: Timestamp) -> Result<bool> {
        self.write(now, move |tables| sell::cancel(tables, &id, now))
            .await
    }

    pub async fn open_cinema(&self, request: NewCinema, now: Timestamp) -> Result<CinemaOutcome> {
        self.write(now, move |tables| cinemas::open(tables, &request, now))
            .await
    }

    /// The cinema of a study session; `None` when it was closed, or not used for a week.
    pub async fn cinema(&self, id: String, now: Timestamp) -> Result<Option<StudyCinema>> {
        self.run(move |connection| cinemas::find(connection, &id, now))
            .await
    }

    /// Closes the cinema of a study session with everything in it; false when there is none.
    pub async fn close_cinema(&self, id: String, now: Timestamp) -> Result<bool> {
        self.write(now, move |tables| cinemas::close(tables, &id))
            .await
    }

    pub async fn find(&self, id: String) -> Result<Option<Booking>> {
        self.run(move |connection| sell::find(connection, &id))
            .await
    }

    /// Held and booked seats of a cinema, by showing.
    pub async fn claims(
        &self,
        cinema: String,
        showings: Vec<String>,
        now: Timestamp,
    ) -> Result<HashMap<String, Vec<Claim>>> {
        self.run(move |connection| {
            let of = |showing: String| {
                let claims = hold::claims(connection, &cinema, &showing, now)?;
                Ok((showing, claims))
            };
            showings.into_iter().map(of).collect()
        })
        .await
    }

    /// Runs one transaction, after removing everything that has expired.
    async fn write<T: Send + 'static>(
        &self,
        now: Timestamp,
        work: impl FnOnce(&rusqlite::Transaction<'_>) -> Result<(T, bool)> + Send + 'static,
    ) -> Result<T> {
        self.run(move |connection| {
            let behaviour = TransactionBehavior::Immediate;
            let transaction = connection.transaction_with_behavior(behaviour)?;
            hold::sweep(&transaction, now)?;
            cinemas::sweep(&transaction, now)?;
            sell::sweep(&transaction, now)?;
            let (answer, changed) = work(&transaction)?;
            // A refused request leaves everything unchanged; the next one sweeps.
            if changed {
                transaction.commit()?;
            }
            Ok(answer)
        })
        .await
    }

    async fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let gone = |message: String| Error::Storage(message);
        let turn = Arc::clone(&self.shared.turn).acquire_owned().await;
        let turn = turn.map_err(|error| gone(error.to_string()))?;
        let shared = Arc::clone(&self.shared);
        let done = tokio::task::spawn_blocking(move || {
            // Held until the transaction is done, even when the caller went away.
            let _turn = turn;
            let mut held = shared.connection.lock();
            let connection = match &mut *held {
                Some(connection) => connection,
                none => none.insert(open_file(&shared.file)?),
            };
            work(connection)
        });
        done.await.map_err(|error| gone(error.to_string()))?
    }
}

fn open_file(file: &Path) -> Result<Connection> {
    make_private(file)?;
    let mut connection = Connection::open(file)?;
    connection.busy_timeout(Duration::from_secs(5))?;
    connection.pragma_update(None, "journal_mode", "WAL")?;
    // Every commit waits for the disk, so that a seat is sold once.
    connection.pragma_update(None, "synchronous", "FULL")?;
    upgrade(&mut connection, file, &STEPS)?;
    Ok(connection)
}

fn list<T: serde::de::DeserializeOwned>(text: &str) -> Result<T> {
    serde_json::from_str(text).map_err(|error| Error::Storage(error.to_string()))
}

fn text<T: serde::Serialize>(value: &T) -> Result<String> {
    serde_json::to_string(value).map_err(|error| Error::Storage(error.to_string()))
}

impl std::fmt::Debug for Bookings {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bookings")
    }
}
