//! Tests of holds and bookings.

mod cinemas;

use std::collections::{BTreeMap, HashMap};

use jiff::{SignedDuration, Timestamp};

use super::*;

const LIMITS: HoldLimits = HoldLimits {
    keep: Duration::from_secs(600),
    life: Duration::from_secs(3600),
    holds: 20,
    per_caller: 10,
};

fn at(seconds: i64) -> Timestamp {
    Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1_800_000_000 + seconds)
}

fn hold_request(id: &str, seats: &[&str]) -> HoldRequest {
    HoldRequest {
        id: id.to_owned(),
        replaces: None,
        cinema: SHARED.to_owned(),
        showing: "s1".to_owned(),
        seats: seats.iter().map(|seat| (*seat).to_owned()).collect(),
        caller: "me".to_owned(),
    }
}

fn instead(of: &str, seats: &[&str]) -> HoldRequest {
    HoldRequest {
        replaces: Some(of.to_owned()),
        ..hold_request("unused", seats)
    }
}

fn tickets(id: &str, hold: &str, adults: u32) -> BookingRequest {
    BookingRequest {
        id: id.to_owned(),
        code: format!("CODE-{id}"),
        hold: hold.to_owned(),
        cinema: SHARED.to_owned(),
        showing: "s1".to_owned(),
        tickets: BTreeMap::from([("adult".to_owned(), adults)]),
        total_cents: u64::from(adults) * 1000,
        open: true,
        caller: "me".to_owned(),
        name: None,
    }
}

fn taken(held: HoldResult) -> Vec<String> {
    match held {
        HoldResult::Taken(seats) => seats,
        other => panic!("{other:?}"),
    }
}

fn kept(held: HoldResult) -> Hold {
    match held {
        HoldResult::Kept(hold) => hold,
        other => panic!("{other:?}"),
    }
}

struct TestBookings {
    folder: tempfile::TempDir,
    store: Bookings,
}

impl TestBookings {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Bookings::at(folder.path().join("booking.db"));
        Self { folder, store }
    }

    async fn hold(&self, request: HoldRequest, seconds: i64) -> HoldResult {
        self.store.hold(request, LIMITS, at(seconds)).await.unwrap()
    }

    async fn book(&self, request: BookingRequest, seconds: i64) -> Sale {
        self.store.book(request, at(seconds)).await.unwrap()
    }

    async fn claims(&self, seconds: i64) -> Vec<(String, Option<String>)> {
        self.claims_in(SHARED, seconds).await
    }

    async fn claims_in(&self, cinema: &str, seconds: i64) -> Vec<(String, Option<String>)> {
        let of = vec!["s1".to_owned()];
        let claims = self.store.claims(cinema.to_owned(), of, at(seconds));
        let claims = claims.await.unwrap();
        let claims = claims["s1"].iter();
        claims
            .map(|claim| (claim.seat.clone(), claim.hold.clone()))
            .collect()
    }
}

#[tokio::test]
async fn a_seat_that_is_held_is_not_available_to_others_until_the_hold_is_over() {
    let office = TestBookings::new();
    let hold = kept(office.hold(hold_request("a", &["A1", "A2"]), 0).await);
    assert_eq!(hold.until, at(600));
    let refused = office.hold(hold_request("b", &["A2", "A3"]), 599).await;
    assert_eq!(taken(refused), ["A2"]);
    assert_eq!(office.claims(599).await.len(), 2, "A3 was not left behind");
    assert!(office.claims(600).await.is_empty());
    kept(office.hold(hold_request("b", &["A2", "A3"]), 600).await);
    assert_eq!(office.book(tickets("x", "a", 2), 600).await, Sale::Expired);
    let mine = instead("a", &["A1"]);
    assert_eq!(office.hold(mine, 600).await, HoldResult::Expired);
    let elsewhere = HoldRequest {
        showing: "s2".into(),
        ..hold_request("c", &["A2"])
    };
    kept(office.hold(elsewhere, 600).await);
}

#[tokio::test]
async fn replaced_seats_are_free_and_a_hold_keeps_what_it_has_when_others_are_refused() {
    let office = TestBookings::new();
    kept(office.hold(hold_request("a", &["A1", "A2"]), 0).await);
    kept(office.hold(hold_request("b", &["B1"]), 0).await);
    let refused = office.hold(instead("a", &["A2", "B1"]), 10).await;
    assert_eq!(taken(refused), ["B1"]);
    let a = Some("a".to_owned());
    let before = office.claims(10).await;
    assert_eq!(
        before[..2],
        [("A1".into(), a.clone()), ("A2".into(), a.clone())]
    );
    let hold = kept(office.hold(instead("a", &["A2", "A3"]), 20).await);
    assert_eq!((hold.id.as_str(), hold.until), ("a", at(620)));
    assert_eq!(office.claims(20).await[0], ("A2".into(), a));
    kept(office.hold(hold_request("c", &["A1"]), 20).await);
}

#[tokio::test]
async fn no_hold_lives_for_ever_however_often_its_seats_are_replaced() {
    let office = TestBookings::new();
    kept(office.hold(hold_request("a", &["A1"]), 0).await);
    for seconds in (500..3600).step_by(500) {
        let hold = kept(office.hold(instead("a", &["A1"]), seconds).await);
        assert_eq!(hold.until, at((seconds + 600).min(3600)));
    }
    let late = office.hold(instead("a", &["A1"]), 3600).await;
    assert_eq!(late, HoldResult::Expired);
}

#[tokio::test]
async fn holds_are_bounded_for_each_caller_and_for_all_together() {
    let office = TestBookings::new();
    for n in 0..10 {
        let one = hold_request(&format!("a{n}"), &[&format!("A{n}")]);
        kept(office.hold(one, n).await);
    }
    let more = || hold_request("more", &["C1"]);
    assert_eq!(office.hold(more(), 50).await, HoldResult::TooMany(at(600)));
    let other = |n: i64| HoldRequest {
        caller: "other".into(),
        ..hold_request(&format!("b{n}"), &[&format!("B{n}")])
    };
    for n in 0..10 {
        kept(office.hold(other(n), 100 + n).await);
    }
    let third = HoldRequest {
        caller: "third".into(),
        ..more()
    };
    let full = office.hold(third.clone(), 120).await;
    assert_eq!(full, HoldResult::TooMany(at(600)));
    kept(office.hold(instead("a0", &["D1"]), 120).await);
    assert!(office.store.release("a5".into(), at(120)).await.unwrap());
    assert!(!office.store.release("a5".into(), at(120)).await.unwrap());
    kept(office.hold(third, 120).await);
}

#[tokio::test]
async fn a_booking_is_made_once_however_often_it_is_asked_for() {
    let office = TestBookings::new();
    kept(office.hold(hold_request("a", &["B10", "B2"]), 0).await);
    let named = BookingRequest {
        name: Some("n1".into()),
        ..tickets("x", "a", 2)
    };
    let Sale::Booked(booking) = office.book(named.clone(), 10).await else {
        panic!("not booked")
    };
    assert_eq!(booking.seats, ["B2", "B10"]);
    let again = BookingRequest {
        id: "y".into(),
        code: "OTHER".into(),
        ..named.clone()
    };
    assert_eq!(
        office.book(again.clone(), 5000).await,
        Sale::Booked(booking.clone())
    );
    let unnamed = BookingRequest {
        name: None,
        open: false,
        ..again.clone()
    };
    assert_eq!(
        office.book(unnamed, 5000).await,
        Sale::Booked(booking.clone())
    );
    let other = BookingRequest {
        tickets: BTreeMap::from([("child".to_owned(), 2)]),
        ..again
    };
    assert_eq!(office.book(other.clone(), 10).await, Sale::OtherRequest);
    let other = BookingRequest {
        name: Some("n2".into()),
        ..other
    };
    assert_eq!(office.book(other, 10).await, Sale::Already);
    kept(office.hold(hold_request("b", &["C1"]), 10).await);
    let second = BookingRequest {
        hold: "b".into(),
        ..named
    };
    assert_eq!(office.book(second, 10).await, Sale::OtherRequest);
    assert_eq!(office.store.find("x".into()).await.unwrap(), Some(booking));
    assert_eq!(office.store.find("y".into()).await.unwrap(), None);
    assert_eq!(
        taken(office.hold(hold_request("c", &["B2"]), 9999).await),
        ["B2"]
    );
}

#[tokio::test]
async fn a_booking_that_cannot_be_changes_nothing() {
    let office = TestBookings::new();
    kept(office.hold(hold_request("a", &["A1", "A2"]), 0).await);
    let fits = || tickets("x", "a", 2);
    for (hold_request, why) in [
        (tickets("x", "a", 1), Sale::DoesNotFit(2)),
        (tickets("x", "nobody", 2), Sale::Expired),
        (
            BookingRequest {
                showing: "s2".into(),
                ..fits()
            },
            Sale::OtherShowing,
        ),
        (
            BookingRequest {
                open: false,
                ..fits()
            },
            Sale::Closed,
        ),
    ] {
        assert_eq!(office.book(hold_request, 1).await, why);
    }
    assert!(matches!(office.book(fits(), 1).await, Sale::Booked(_)));
    kept(office.hold(hold_request("b", &["A3"]), 1).await);
    let same_code = BookingRequest {
        code: "CODE-x".into(),
        ..tickets("y", "b", 1)
    };
    assert_eq!(office.book(same_code, 1).await, Sale::CodeTaken);
    let third = office.book(tickets("y", "b", 1), 1).await;
    assert!(matches!(third, Sale::Booked(_)));
}

#[tokio::test]
async fn holds_and_bookings_are_there_when_the_file_is_opened_again() {
    let mut office = TestBookings::new();
    kept(office.hold(hold_request("a", &["A1"]), 0).await);
    kept(office.hold(hold_request("b", &["B1"]), 0).await);
    office.book(tickets("x", "a", 1), 1).await;
    let before = office.claims(2).await;
    let file = office.folder.path().join("booking.db");
    // Opened beside the first, which was never closed, as after a kill.
    office.store = Bookings::at(file.clone());
    assert_eq!(office.claims(2).await, before);
    assert!(office.store.find("x".into()).await.unwrap().is_some());
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        let mode = std::fs::metadata(file).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "an id grants access to its hold");
    }
}

#[tokio::test]
async fn a_file_that_is_broken_or_newer_is_left_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("booking.db");
    let broken = "these were bookings once, ".repeat(100);
    std::fs::write(&file, &broken).unwrap();
    assert!(Bookings::at(file.clone()).find("x".into()).await.is_err());
    assert_eq!(std::fs::read_to_string(&file).unwrap(), broken);
    std::fs::remove_file(&file).unwrap();
    let newer = Connection::open(&file).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    drop(newer);
    let error = Bookings::at(file).find("x".into()).await.unwrap_err();
    assert!(matches!(error, Error::NewerData { .. }), "{error}");
}

/// Numbers that look like chance and are the same every time.
struct FixedRandom(u64);

impl FixedRandom {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

#[tokio::test]
async fn no_seat_is_sold_twice_whatever_people_do_in_whatever_order() {
    for seed in 1..=12 {
        let office = TestBookings::new();
        let mut chance = FixedRandom(seed * 0x9e37_79b9);
        let mut now = 0;
        // What must be true: who has a seat, kept beside the store in the simplest way.
        let mut holds: HashMap<String, (Vec<String>, i64, i64)> = HashMap::new();
        let mut sold: HashMap<String, String> = HashMap::new();
        for step in 0..150 {
            now += i64::try_from(chance.below(200)).unwrap();
            holds.retain(|_, (_, _, until)| *until > now);
            let known: Vec<_> = holds.keys().cloned().collect();
            let any = chance.below(known.len() as u64 + 1);
            let mut known = known;
            known.sort();
            let some = known.get(usize::try_from(any).unwrap()).cloned();
            let mut seats: Vec<String> = Vec::new();
            for _ in 0..=chance.below(3) {
                let seat = format!("A{}", chance.below(9));
                if !seats.contains(&seat) {
                    seats.push(seat);
                }
            }
            match chance.below(4) {
                0 | 1 => {
                    let id = format!("h{step}");
                    let replaces = some.filter(|_| chance.below(2) == 0);
                    let wanted = HoldRequest {
                        replaces: replaces.clone(),
                        seats: seats.clone(),
                        ..hold_request(&id, &[])
                    };
                    let others = |seat: &String| {
                        let held = |(id, (has, _, _)): (&String, &(Vec<String>, i64, i64))| {
                            Some(id) != replaces.as_ref() && has.contains(seat)
                        };
                        sold.contains_key(seat) || holds.iter().any(held)
                    };
                    let gone: Vec<_> = seats.iter().filter(|s| others(s)).cloned().collect();
                    match office.hold(wanted, now).await {
                        HoldResult::Taken(found) => assert_eq!(found, gone),
                        HoldResult::TooMany(_) => assert!(replaces.is_none() && holds.len() >= 10),
                        HoldResult::Expired => panic!("a live hold is not known"),
                        HoldResult::Kept(hold) => {
                            assert!(gone.is_empty(), "{gone:?} have two holders");
                            let made = holds.get(&hold.id).map_or(now, |(_, made, _)| *made);
                            let until = (now + 600).min(made + 3600);
                            assert_eq!(hold.until, at(until));
                            holds.insert(hold.id, (seats, made, until));
                        }
                    }
                }
                2 => {
                    let Some(id) = some else { continue };
                    assert!(office.store.release(id.clone(), at(now)).await.unwrap());
                    holds.remove(&id);
                }
                _ => {
                    let Some(id) = some else { continue };
                    let count = u32::try_from(holds[&id].0.len()).unwrap();
                    let booking = format!("b{step}");
                    let answer = office.book(tickets(&booking, &id, count), now).await;
                    let Sale::Booked(made) = answer else {
                        panic!("{answer:?}")
                    };
                    holds.remove(&id);
                    for seat in made.seats {
                        let before = sold.insert(seat.clone(), booking.clone());
                        assert_eq!(before, None, "{seat} was sold twice");
                    }
                }
            }
            let claims = office.claims(now).await;
            let held: usize = holds.values().map(|(seats, _, _)| seats.len()).sum();
            assert_eq!(claims.len(), sold.len() + held, "step {step} of {seed}");
        }
    }
}
