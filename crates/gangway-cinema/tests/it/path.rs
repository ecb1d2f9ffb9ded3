//! From a movie to a ticket.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::TestServer;
use gangway_testing::cinema_client::{Visit, get, ids};

#[tokio::test]
async fn a_ticket_is_booked_from_the_movie_to_the_code() {
    let server = TestServer::start().await;
    let movies = get(&server, "movies").await;
    let first = movies["movies"][0].as_object().unwrap();
    let fields = ["id", "title", "genre", "minutes", "rating", "synopsis"];
    assert!(first.keys().eq(fields), "{first:?}");
    assert!((1.0..=10.0).contains(&first["rating"].as_f64().unwrap()));
    let theaters = get(&server, "theaters").await;
    let theater = theaters["theaters"][0].as_object().unwrap();
    assert!(theater.keys().eq(["id", "name", "address", "distanceKm"]));

    let visit = Visit::choose(&server).await;
    let of = format!("movieId={}&theaterId={}", visit.movie, visit.theater);
    let showings = get(&server, &format!("showings?{of}&date={}", visit.date)).await;
    let showings = showings["showings"].as_array().unwrap();
    let times: Vec<_> = showings
        .iter()
        .map(|one| one["time"].as_str().unwrap())
        .collect();
    assert!(times.is_sorted() && times.iter().all(|time| time.len() == 5));
    let left = |showings: &[Value]| {
        let one = showings.iter().find(|one| one["id"] == *visit.showing);
        one.unwrap()["seatsLeft"].as_u64().unwrap()
    };
    assert_eq!(left(showings), visit.free.len() as u64);

    let seats = &visit.free[..3];
    let (status, held) = visit.try_hold(&server, seats, None).await;
    assert_eq!(status, 201, "{held}");
    assert_eq!(held["seats"], json!(seats));
    let until: jiff::Timestamp = held["expiresAt"].as_str().unwrap().parse().unwrap();
    let seconds = until.as_second() - jiff::Timestamp::now().as_second();
    assert!((590..=600).contains(&seconds), "{seconds}");
    let hold = held["holdId"].as_str().unwrap();
    assert_eq!(visit.status(&server, &seats[0], None).await, "held");
    assert_eq!(visit.status(&server, &seats[0], Some(hold)).await, "mine");
    let showings = get(&server, &format!("showings?{of}&date={}", visit.date)).await;
    let showings = showings["showings"].as_array().unwrap();
    assert_eq!(left(showings), visit.free.len() as u64 - 3);

    let types = get(
        &server,
        &format!("ticket-types?showingId={}", visit.showing),
    )
    .await;
    let types = types["ticketTypes"].as_array().unwrap();
    assert_eq!(types.len(), 4);
    let price = |id: &str| {
        let kind = types.iter().find(|kind| kind["id"] == id).unwrap();
        kind["priceCents"].as_u64().unwrap()
    };
    let tickets = json!({ "adult": 2, "child": 1, "senior": 0 });
    let (status, booked) = visit.book(&server, hold, tickets, Some("one")).await;
    assert_eq!(status, 201, "{booked}");
    assert_eq!(booked["totalCents"], 2 * price("adult") + price("child"));
    assert_eq!(booked["tickets"], json!({ "adult": 2, "child": 1 }));
    assert_eq!(booked["showingId"], *visit.showing);
    assert_eq!(booked["seats"].as_array().unwrap().len(), 3);
    let code = booked["code"].as_str().unwrap();
    assert!(code.len() == 6 && code.chars().all(|c| c.is_ascii_alphanumeric()));
    let id = booked["bookingId"].as_str().unwrap();
    assert!(id.len() >= 32 && hold.len() >= 32, "{id} {hold}");
    assert_eq!(get(&server, &format!("bookings/{id}")).await, booked);
    assert_eq!(visit.status(&server, &seats[0], Some(hold)).await, "taken");
}

#[tokio::test]
async fn the_same_booking_is_answered_the_same_however_often_it_is_sent() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let hold = visit.hold(&server, &visit.free[..2]).await;
    let two = || json!({ "adult": 2 });
    let (_, first) = visit.book(&server, &hold, two(), Some("k")).await;
    assert_eq!(visit.book(&server, &hold, two(), Some("k")).await.1, first);
    assert_eq!(visit.book(&server, &hold, two(), None).await.1, first);
    let (status, second) = visit
        .book(&server, &hold, json!({ "child": 2 }), Some("k"))
        .await;
    assert_eq!(status, 409, "{second}");
    assert_eq!(second["error_code"], "idempotency_key_reused");
    let (_, second) = visit
        .book(&server, &hold, json!({ "child": 2 }), None)
        .await;
    assert_eq!(second["error_code"], "already_booked");
    let other = visit.hold(&server, &visit.free[2..4]).await;
    let (_, third) = visit.book(&server, &other, two(), Some("k")).await;
    assert_eq!(third["error_code"], "idempotency_key_reused");
}

#[tokio::test]
async fn requests_that_race_under_one_name_make_one_booking() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let hold = visit.hold(&server, &visit.free[..1]).await;
    let asks = (0..16).map(|_| visit.book(&server, &hold, json!({ "adult": 1 }), Some("k")));
    let answers = futures_util::future::join_all(asks).await;
    for (status, answer) in &answers {
        assert_eq!((status.as_u16(), answer), (201, &answers[0].1));
    }
}

#[tokio::test]
async fn a_hold_that_was_let_go_is_free_for_others() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let hold = visit.hold(&server, &visit.free[..1]).await;
    let path = format!("/api/booking/holds/{hold}");
    assert_eq!(server.call(Method::DELETE, &path, None).await.0, 204);
    let (status, gone) = server.call(Method::DELETE, &path, None).await;
    assert_eq!(
        (status.as_u16(), &gone["error_code"]),
        (404, &json!("hold_not_found"))
    );
    visit.hold(&server, &visit.free[..1]).await;
}

#[tokio::test]
async fn the_seed_decides_the_cinema() {
    let of = |seed: u32| async move {
        let server = TestServer::with(|config| config.seed = seed).await;
        let visit = Visit::choose(&server).await;
        (get(&server, "movies").await, visit.showing, visit.taken)
    };
    let (one, again, other) = (of(1).await, of(1).await, of(2).await);
    assert_eq!(one, again);
    assert!(one.0 != other.0 && one.1 != other.1);
    assert!(ids(&one.0["movies"]).len() > 5 && !one.2.is_empty());
}
