//! Cinemas of study sessions, bookings that are cancelled, and what is pruned.

use super::*;

const DAY: i64 = 24 * 3600;

fn cinema(id: &str) -> NewCinema {
    NewCinema {
        id: id.to_owned(),
        seed: 7,
        shift: -60,
        caller: "me".to_owned(),
    }
}

fn in_cinema(cinema: &str, request: HoldRequest) -> HoldRequest {
    HoldRequest {
        cinema: cinema.to_owned(),
        ..request
    }
}

async fn open(office: &TestBookings, id: &str, seconds: i64) -> CinemaOutcome {
    let opened = office.store.open_cinema(cinema(id), at(seconds)).await;
    opened.unwrap()
}

#[tokio::test]
async fn the_same_seat_can_be_had_in_each_cinema_and_a_hold_works_in_its_own_alone() {
    let office = TestBookings::new();
    assert_eq!(open(&office, "c1", 0).await, CinemaOutcome::Open);
    kept(office.hold(hold_request("a", &["A1"]), 0).await);
    kept(
        office
            .hold(in_cinema("c1", hold_request("b", &["A1"])), 0)
            .await,
    );
    kept(
        office
            .hold(in_cinema("c2", hold_request("c", &["A1"])), 0)
            .await,
    );
    let again = in_cinema("c1", hold_request("d", &["A1"]));
    assert_eq!(taken(office.hold(again, 1).await), ["A1"]);
    let elsewhere = in_cinema("c1", instead("a", &["A2"]));
    assert_eq!(office.hold(elsewhere, 1).await, HoldResult::Expired);
    assert_eq!(office.book(tickets("x", "b", 1), 1).await, Sale::Expired);
    let own = BookingRequest {
        cinema: "c1".into(),
        ..tickets("x", "b", 1)
    };
    assert!(matches!(office.book(own, 1).await, Sale::Booked(_)));
    assert_eq!(office.claims_in("c1", 2).await, [("A1".into(), None)]);
    assert_eq!(office.claims(2).await, [("A1".into(), Some("a".into()))]);
}

#[tokio::test]
async fn a_cinema_that_is_closed_or_idle_for_a_week_is_gone_with_everything_in_it() {
    let office = TestBookings::new();
    for id in ["closed", "idle", "used"] {
        open(&office, id, 0).await;
        kept(
            office
                .hold(in_cinema(id, hold_request(id, &["A1"])), 0)
                .await,
        );
        let own = BookingRequest {
            cinema: id.into(),
            ..tickets(&format!("x-{id}"), id, 1)
        };
        assert!(matches!(office.book(own, 1).await, Sale::Booked(_)));
    }
    let find = |id: &str, seconds| office.store.cinema(id.to_owned(), at(seconds));
    let found = find("used", 4 * DAY).await.unwrap();
    assert_eq!(
        found,
        Some(StudyCinema {
            seed: 7,
            shift: -60
        })
    );
    let close = || office.store.close_cinema("closed".into(), at(5));
    assert!(close().await.unwrap());
    assert!(!close().await.unwrap());
    assert_eq!(find("idle", 8 * DAY).await.unwrap(), None);
    kept(office.hold(hold_request("sweeps", &["B1"]), 8 * DAY).await);
    for (id, there) in [("closed", false), ("idle", false), ("used", true)] {
        let booking = office.store.find(format!("x-{id}")).await.unwrap();
        assert_eq!(booking.is_some(), there, "{id}");
        let seats = office.claims_in(id, 8 * DAY).await;
        assert_eq!(!seats.is_empty(), there, "{id}");
    }
}

#[tokio::test]
async fn cinemas_of_one_caller_and_bookings_in_one_cinema_are_bounded() {
    let office = TestBookings::new();
    for n in 0..250 {
        assert_eq!(
            open(&office, &format!("c{n}"), 0).await,
            CinemaOutcome::Open
        );
    }
    assert_eq!(open(&office, "more", 0).await, CinemaOutcome::TooMany);
    let other = NewCinema {
        caller: "other".into(),
        ..cinema("other")
    };
    let other = office.store.open_cinema(other, at(0)).await.unwrap();
    assert_eq!(other, CinemaOutcome::Open);
    for n in 0..=100 {
        let (hold, seat) = (format!("h{n}"), format!("A{n}"));
        kept(
            office
                .hold(in_cinema("c1", hold_request(&hold, &[&seat])), 0)
                .await,
        );
        let own = BookingRequest {
            cinema: "c1".into(),
            ..tickets(&format!("b{n}"), &hold, 1)
        };
        match office.book(own, 0).await {
            Sale::Booked(_) => assert!(n < 100),
            other => assert_eq!((n, other), (100, Sale::TooMany)),
        }
    }
}

#[tokio::test]
async fn a_booking_that_is_cancelled_frees_its_seats_and_is_not_made_again() {
    let office = TestBookings::new();
    kept(office.hold(hold_request("a", &["A1", "A2"]), 0).await);
    let named = BookingRequest {
        name: Some("n1".into()),
        ..tickets("x", "a", 2)
    };
    assert!(matches!(
        office.book(named.clone(), 1).await,
        Sale::Booked(_)
    ));
    let cancel = |id: &str, seconds| office.store.cancel(id.to_owned(), at(seconds));
    assert!(!cancel("nobody", 2).await.unwrap());
    assert!(cancel("x", 2).await.unwrap());
    assert!(office.claims(2).await.is_empty());
    kept(office.hold(hold_request("b", &["A1"]), 3).await);
    assert!(cancel("x", 4).await.unwrap());
    assert_eq!(office.claims(4).await.len(), 1, "the seat is another's now");
    let found = office.store.find("x".into()).await.unwrap().unwrap();
    assert_eq!(found.cancelled, Some(at(2)));
    assert_eq!(office.book(named, 5).await, Sale::Cancelled);
    assert_eq!(office.book(tickets("y", "a", 2), 5).await, Sale::Cancelled);
}

#[tokio::test]
async fn bookings_are_pruned_long_after_their_showings() {
    let office = TestBookings::new();
    kept(office.hold(hold_request("a", &["A1"]), 0).await);
    office.book(tickets("x", "a", 1), 0).await;
    kept(office.hold(hold_request("b", &["B1"]), 59 * DAY).await);
    assert!(office.store.find("x".into()).await.unwrap().is_some());
    kept(office.hold(hold_request("c", &["C1"]), 60 * DAY).await);
    assert!(office.store.find("x".into()).await.unwrap().is_none());
    kept(office.hold(hold_request("d", &["A1"]), 60 * DAY).await);
}

#[tokio::test]
async fn a_file_of_the_previous_version_keeps_its_holds_and_bookings() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("booking.db");
    let mut old = Connection::open(&file).unwrap();
    upgrade(&mut old, &file, &STEPS[..1]).unwrap();
    old.execute_batch(
        r#"INSERT INTO holds VALUES ('a', 's1', 'me', 1800000000000, 1800000600000);
           INSERT INTO seats VALUES ('s1', 'A1', 'a', NULL), ('s1', 'B1', NULL, 'x');
           INSERT INTO bookings VALUES ('x', 'CODE', 'h', 's1', '["B1"]', '{"adult":1}', 1000, 'me', NULL, 1800000000000);"#,
    )
    .unwrap();
    drop(old);
    let office = TestBookings {
        store: Bookings::at(file),
        folder,
    };
    let claims = office.claims(1).await;
    assert_eq!(
        claims,
        [("A1".into(), Some("a".into())), ("B1".into(), None)]
    );
    let booking = office.store.find("x".into()).await.unwrap().unwrap();
    assert_eq!((booking.cinema.as_str(), booking.cancelled), (SHARED, None));
    assert!(matches!(
        office.book(tickets("y", "a", 1), 1).await,
        Sale::Booked(_)
    ));
}
