//! Holds on seats and bookings of them, in a file of its own. It is never thrown away, and a write is on the disk
//! before anyone is told of it.

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

pub use cinemas::{CinemaWish, Opened, StudyCinema};

/// The cinema that everybody shares; study sessions have their own.
pub const SHARED: &str = "";

/// Each step brings the tables from the format before it to its own; steps are only ever added.
///
/// A seat has one row for each showing of a cinema: the primary key of that table keeps it from being sold twice.
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
    // Cinemas of study sessions, and bookings that can be cancelled and are pruned.
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

/// Holds and bookings. Clones share them; nothing is opened before it is used.
#[derive(Clone)]
pub struct Bookings {
    shared: Arc<Shared>,
}

struct Shared {
    file: PathBuf,
    connection: Mutex<Option<Connection>>,
    /// One at a time, and whoever waits takes no thread.
    turn: Arc<Semaphore>,
}

/// Seats that are wanted for a while.
#[derive(Debug, Clone)]
pub struct HoldWish {
    /// The id of the hold, if it is a new one.
    pub id: String,
    /// The hold whose seats these replace.
    pub replaces: Option<String>,
    /// The cinema; `SHARED` unless it is that of a study session.
    pub cinema: String,
    /// The showing.
    pub showing: String,
    /// The seats.
    pub seats: Vec<String>,
    /// Who wants them.
    pub caller: String,
}

/// How long holds last and how many there may be.
#[derive(Debug, Clone, Copy)]
pub struct HoldLimits {
    /// How long seats are kept.
    pub keep: Duration,
    /// How long a hold may live, however often its seats are replaced.
    pub life: Duration,
    /// Holds at once.
    pub holds: usize,
    /// Holds of one caller at once.
    pub per_caller: usize,
}

/// Seats that are kept for somebody.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hold {
    /// Whoever knows this has the hold.
    pub id: String,
    /// The showing.
    pub showing: String,
    /// The seats.
    pub seats: Vec<String>,
    /// When it ends.
    pub until: Timestamp,
}

/// What came of a wish to hold seats.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Held {
    /// They are held.
    Kept(Hold),
    /// Somebody else has these; everything is as it was.
    Taken(Vec<String>),
    /// There is no hold that they could replace.
    Expired,
    /// There are as many holds as there may be; the first of them ends then.
    TooMany(Timestamp),
}

/// A booking that is wanted.
#[derive(Debug, Clone)]
pub struct BookingWish {
    /// Its id.
    pub id: String,
    /// What a person says at the entrance.
    pub code: String,
    /// The hold that has the seats.
    pub hold: String,
    /// The cinema; `SHARED` unless it is that of a study session.
    pub cinema: String,
    /// The showing.
    pub showing: String,
    /// How many of each kind of ticket.
    pub tickets: BTreeMap<String, u32>,
    /// What all of it costs.
    pub total_cents: u64,
    /// Whether the showing can still be booked; what was booked before is answered in any case.
    pub open: bool,
    /// Who wants it.
    pub caller: String,
    /// The caller's name for this request.
    pub name: Option<String>,
}

/// A booking.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Booking {
    /// Unguessable: knowing it is the right to see and cancel the booking.
    pub id: String,
    /// What a person says at the entrance.
    pub code: String,
    /// The cinema; `SHARED` unless it is that of a study session.
    pub cinema: String,
    /// The showing.
    pub showing: String,
    /// The seats.
    pub seats: Vec<String>,
    /// How many of each kind of ticket.
    pub tickets: BTreeMap<String, u32>,
    /// What all of it costs.
    pub total_cents: u64,
    /// When it was cancelled.
    pub cancelled: Option<Timestamp>,
}

/// What came of a wish to book.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sold {
    /// It is booked, now or by the same request before.
    Booked(Booking),
    /// The hold is over, or never was.
    Expired,
    /// The showing can no longer be booked.
    Closed,
    /// The hold is for another showing.
    OtherShowing,
    /// The hold has so many seats, and the tickets are not as many.
    DoesNotFit(usize),
    /// The caller gave this name to another request.
    OtherRequest,
    /// The seats of this hold were booked with other tickets.
    Already,
    /// Another booking has this code.
    CodeTaken,
    /// The same request made a booking that was cancelled since.
    Cancelled,
    /// The cinema of a study session has as many bookings as it may have.
    TooMany,
}

/// A seat that somebody has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claim {
    /// The seat.
    pub seat: String,
    /// The hold that has it; booked seats have none.
    pub hold: Option<String>,
}

impl Bookings {
    /// Those in this file.
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

    /// Holds seats, or replaces the seats of a hold; all of them or none.
    pub async fn hold(&self, wish: HoldWish, limits: HoldLimits, now: Timestamp) -> Result<Held> {
        self.write(now, move |tables| hold::keep(tables, &wish, limits, now))
            .await
    }

    /// Lets the seats of a hold go; false when there is no such hold.
    pub async fn release(&self, hold: String, now: Timestamp) -> Result<bool> {
        self.write(now, move |tables| hold::release(tables, &hold))
            .await
    }

    /// Books the seats of a hold.
    pub async fn book(&self, wish: BookingWish, now: Timestamp) -> Result<Sold> {
        self.write(now, move |tables| sell::book(tables, &wish, now))
            .await
    }

    /// Cancels a booking, so that its seats are free again; false when there is no such booking.
    pub async fn cancel(&self, id: String, now: Timestamp) -> Result<bool> {
        self.write(now, move |tables| sell::cancel(tables, &id, now))
            .await
    }

    /// Opens a cinema for a study session.
    pub async fn open_cinema(&self, wish: CinemaWish, now: Timestamp) -> Result<Opened> {
        self.write(now, move |tables| cinemas::open(tables, &wish, now))
            .await
    }

    /// The cinema of a study session; none when it was closed, or not used for a week.
    pub async fn cinema(&self, id: String, now: Timestamp) -> Result<Option<StudyCinema>> {
        self.run(move |connection| cinemas::find(connection, &id, now))
            .await
    }

    /// Closes the cinema of a study session with everything in it; false when there is no such cinema.
    pub async fn close_cinema(&self, id: String, now: Timestamp) -> Result<bool> {
        self.write(now, move |tables| cinemas::close(tables, &id))
            .await
    }

    /// The booking with this id.
    pub async fn find(&self, id: String) -> Result<Option<Booking>> {
        self.run(move |connection| sell::find(connection, &id))
            .await
    }

    /// The seats of a cinema that somebody has, by showing.
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

    /// One transaction, before which everything that is over is gone.
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
            // A refusal leaves everything as it was; what is over is swept by the next one.
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
        let gone = |words: String| Error::Storage(words);
        let turn = Arc::clone(&self.shared.turn).acquire_owned().await;
        let turn = turn.map_err(|error| gone(error.to_string()))?;
        let shared = Arc::clone(&self.shared);
        let done = tokio::task::spawn_blocking(move || {
            // Kept until the work is done, also when nobody waits for it any more.
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
    // Every commit waits for the disk: tickets are sold once.
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
