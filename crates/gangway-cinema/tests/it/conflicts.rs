//! Two people and one seat, and time that passes.

use std::time::Duration;

use serde_json::json;

use crate::server::TestServer;
use gangway_testing::cinema_client::{Visit, refusal};

#[tokio::test]
async fn a_seat_that_is_taken_is_refused_by_name() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let seats = &visit.free;
    visit.hold(&server, &seats[..2]).await;
    let (status, answer) = visit.try_hold(&server, &seats[1..3], None).await;
    let message = answer["message"].as_str().unwrap().to_owned();
    assert!(
        message.contains(&seats[1]) && !message.contains(&seats[2]),
        "{message}"
    );
    assert_eq!(refusal((status, answer)), (409, "seat_taken".into()));
    let (status, answer) = visit.try_hold(&server, &visit.taken[..1], None).await;
    assert!(
        answer["message"]
            .as_str()
            .unwrap()
            .contains(&visit.taken[0])
    );
    assert_eq!(refusal((status, answer)), (409, "seat_taken".into()));
    assert_eq!(visit.status(&server, &seats[2], None).await, "free");
}

#[tokio::test]
async fn a_hold_keeps_its_seats_when_others_are_refused() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let seats = &visit.free;
    let mine = visit.hold(&server, &seats[..2]).await;
    visit.hold(&server, &seats[2..3]).await;
    for wanted in [&seats[1..3], &[seats[3].clone(), visit.taken[0].clone()]] {
        let answer = visit.try_hold(&server, wanted, Some(&mine)).await;
        assert_eq!(refusal(answer).1, "seat_taken");
        for (seat, status) in [
            (&seats[0], "mine"),
            (&seats[1], "mine"),
            (&seats[3], "free"),
        ] {
            assert_eq!(visit.status(&server, seat, Some(&mine)).await, status);
        }
    }
    let (status, held) = visit.try_hold(&server, &seats[1..2], Some(&mine)).await;
    assert_eq!((status.as_u16(), &held["holdId"]), (201, &json!(mine)));
    assert_eq!(visit.status(&server, &seats[0], None).await, "free");
}

#[tokio::test]
async fn of_many_who_want_one_seat_at_once_one_has_it() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    for seat in 0..4 {
        let wanted = [visit.free[seat].clone(), visit.free[4 + seat].clone()];
        let asks = (0..40).map(|n| {
            // Some want the other seat first.
            let mut wanted = wanted.to_vec();
            wanted.rotate_left(n % 2);
            let (visit, server) = (&visit, &server);
            async move { visit.try_hold(server, &wanted, None).await }
        });
        let answers = futures_util::future::join_all(asks).await;
        let won: Vec<_> = answers
            .iter()
            .filter(|(status, _)| *status == 201)
            .collect();
        assert_eq!(won.len(), 1);
        let lost = answers.into_iter().filter(|(status, _)| *status != 201);
        for answer in lost {
            assert_eq!(refusal(answer), (409, "seat_taken".into()));
        }
    }
}

#[tokio::test]
async fn seats_are_free_again_when_a_hold_expires() {
    let mut server = TestServer::with(|config| config.hold_seconds = 60).await;
    let visit = Visit::choose(&server).await;
    let seats = &visit.free[..1];
    let hold = visit.hold(&server, seats).await;
    server.pass(Duration::from_secs(50)).await;
    assert_eq!(visit.status(&server, &seats[0], None).await, "held");
    let again = visit.try_hold(&server, seats, Some(&hold)).await;
    assert_eq!(again.0, 201, "it starts again");
    server.pass(Duration::from_secs(50)).await;
    assert_eq!(visit.status(&server, &seats[0], None).await, "held");
    server.pass(Duration::from_secs(11)).await;
    assert_eq!(visit.status(&server, &seats[0], Some(&hold)).await, "free");
    let late = visit
        .book(&server, &hold, json!({ "adult": 1 }), None)
        .await;
    assert_eq!(refusal(late), (409, "hold_expired".into()));
    let late = visit.try_hold(&server, seats, Some(&hold)).await;
    assert_eq!(refusal(late), (409, "hold_expired".into()));
    let other = visit.hold(&server, seats).await;
    let booked = visit
        .book(&server, &other, json!({ "adult": 1 }), None)
        .await;
    assert_eq!(booked.0, 201);
    server.pass(Duration::from_secs(7 * 24 * 3600)).await;
    let (status, again) = visit
        .book(&server, &other, json!({ "adult": 1 }), None)
        .await;
    assert_eq!((status.as_u16(), again), (201, booked.1), "a booking stays");
}

#[tokio::test]
async fn a_showing_that_began_is_listed_no_more_and_cannot_be_booked() {
    let mut server = TestServer::with(|config| config.hold_seconds = 86_400).await;
    let visit = Visit::choose(&server).await;
    let hold = visit.hold(&server, &visit.free[..1]).await;
    let mut waited = 0;
    // The showing may be any of the next days; the hold ends after six of them at the latest.
    while visit
        .try_hold(&server, &visit.free[..1], Some(&hold))
        .await
        .0
        == 201
    {
        server.pass(Duration::from_secs(6 * 3600)).await;
        waited += 6;
        assert!(waited < 24 * 7, "it never began");
    }
    let path = format!("/api/booking/showings/{}/seats", visit.showing);
    while server.get(&path).await.0 == 200 {
        server.pass(Duration::from_secs(600)).await;
    }
    assert_eq!(
        refusal(server.get(&path).await),
        (409, "showing_over".into())
    );
    let types = format!("/api/booking/ticket-types?showingId={}", visit.showing);
    assert_eq!(
        refusal(server.get(&types).await),
        (409, "showing_over".into())
    );
    let held = visit.try_hold(&server, &visit.free[1..2], None).await;
    assert_eq!(refusal(held), (409, "showing_over".into()));
    let booked = visit
        .book(&server, &hold, json!({ "adult": 1 }), None)
        .await;
    assert_eq!(refusal(booked), (409, "showing_over".into()));
}

#[tokio::test]
async fn holds_are_limited_per_caller_and_in_time() {
    let mut server = TestServer::with(|config| config.max_holds = 10).await;
    let visit = Visit::choose(&server).await;
    visit.hold(&server, &visit.free[..1]).await;
    server.pass(Duration::from_secs(100)).await;
    visit.hold(&server, &visit.free[1..2]).await;
    let (status, answer) = visit.try_hold(&server, &visit.free[2..3], None).await;
    let wait = answer["retry_after_seconds"].as_u64().unwrap();
    assert!((490..=500).contains(&wait), "{answer}");
    assert_eq!(refusal((status, answer)), (429, "too_many_holds".into()));
    server.pass(Duration::from_secs(500)).await;
    visit.hold(&server, &visit.free[2..3]).await;
}
