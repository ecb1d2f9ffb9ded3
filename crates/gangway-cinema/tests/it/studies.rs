//! Study sessions that have a cinema of their own.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::TestServer;
use gangway_testing::cinema_client::{Visit, get, ids, refusal};

async fn open(server: &TestServer, request: Value) -> Value {
    let (status, opened) = server.post("/api/booking/cinemas", request).await;
    assert_eq!(status, 201, "{opened}");
    opened
}

fn id(cinema: &Value) -> &str {
    cinema["cinemaId"].as_str().unwrap()
}

async fn hold(
    server: &TestServer,
    cinema: &str,
    showing: &str,
    seat: &str,
) -> (reqwest::StatusCode, Value) {
    let body = json!({ "cinemaId": cinema, "showingId": showing, "seats": [seat] });
    server.post("/api/booking/holds", body).await
}

async fn seats(server: &TestServer, cinema: &str, showing: &str) -> Value {
    get(
        server,
        &format!("showings/{showing}/seats?cinemaId={cinema}"),
    )
    .await
}

#[tokio::test]
async fn sessions_do_not_see_each_others_seats() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let (one, two) = (
        open(&server, json!({})).await,
        open(&server, json!({})).await,
    );
    let (one, two) = (id(&one), id(&two));
    let (showing, seat) = (&visit.showing, &visit.free[0]);
    let (status, held) = hold(&server, one, showing, seat).await;
    assert_eq!(status, 201, "{held}");
    let mut book =
        json!({ "showingId": showing, "holdId": held["holdId"], "tickets": { "adult": 1 } });
    // A hold of one cinema is nothing in another.
    for cinema in [Value::Null, json!(two)] {
        book["cinemaId"] = cinema;
        let elsewhere = server.post("/api/booking/bookings", book.clone()).await;
        assert_eq!(refusal(elsewhere), (409, "hold_expired".into()));
    }
    book["cinemaId"] = json!(one);
    let (status, booked) = server.post("/api/booking/bookings", book).await;
    assert_eq!(status, 201, "{booked}");
    let again = hold(&server, one, showing, seat).await;
    assert_eq!(refusal(again), (409, "seat_taken".into()));
    assert_eq!(visit.status(&server, seat, None).await, "free");
    assert_eq!(hold(&server, two, showing, seat).await.0, 201);
    assert_eq!(visit.try_hold(&server, &visit.free[..1], None).await.0, 201);
    // Closing it takes what is in it along, and nothing else.
    let path = format!("/api/booking/cinemas/{one}");
    assert_eq!(server.call(Method::DELETE, &path, None).await.0, 204);
    let gone = server.call(Method::DELETE, &path, None).await;
    assert_eq!(refusal(gone), (404, "cinema_not_found".into()));
    let booking = format!(
        "/api/booking/bookings/{}",
        booked["bookingId"].as_str().unwrap()
    );
    assert_eq!(server.get(&booking).await.0, 404);
    assert_eq!(visit.status(&server, seat, None).await, "held");
}

#[tokio::test]
async fn the_same_setup_is_the_same_cinema_whatever_the_server_is_set_to_and_whenever_it_is() {
    let server = TestServer::start().await;
    let setup = json!({ "seed": 4, "at": "2026-02-13T10:22:17" });
    let first = open(&server, setup.clone()).await;
    assert_eq!(
        (&first["seed"], &first["at"]),
        (&setup["seed"], &setup["at"])
    );
    let look = async |server: &TestServer, cinema: &str| {
        let movies = get(server, &format!("movies?cinemaId={cinema}")).await;
        let movie = ids(&movies["movies"]).swap_remove(0);
        let path = format!("theaters?movieId={movie}&cinemaId={cinema}");
        let theaters = get(server, &path).await;
        let theater = ids(&theaters["theaters"]).swap_remove(0);
        let of = format!("movieId={movie}&theaterId={theater}&cinemaId={cinema}");
        let dates = get(server, &format!("dates?{of}")).await;
        let date = dates["dates"][1].as_str().unwrap().to_owned();
        let showings = get(server, &format!("showings?{of}&date={date}")).await;
        let showing = ids(&showings["showings"]).swap_remove(0);
        let seats = seats(server, cinema, &showing).await;
        let path = format!("ticket-types?showingId={showing}&cinemaId={cinema}");
        let kinds = get(server, &path).await;
        (
            showing,
            json!([movies, theaters, dates, showings, seats, kinds]),
        )
    };
    let (showing, seen) = look(&server, id(&first)).await;
    assert!(showing.contains("2026-02"), "{showing}");
    // Seats that were taken in the first one are free in the second.
    let free = seen[4]["seats"].as_array().unwrap().iter();
    let free = free.clone().find(|seat| seat["status"] == "free").unwrap();
    let seat = free["id"].as_str().unwrap();
    assert_eq!(hold(&server, id(&first), &showing, seat).await.0, 201);
    let server = server.restart_with(|config| config.seed = 9).await;
    let second = open(&server, setup).await;
    assert_eq!(look(&server, id(&second)).await.1, seen);
    let held = seats(&server, id(&first), &showing).await;
    assert_ne!(held, seen[4], "the first one still has its hold");
}

#[tokio::test]
async fn a_cinema_that_is_not_there_is_reported_and_its_clock_has_bounds() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    for cinema in ["x", "", "s-20260213-001"] {
        let of = format!("movieId={}&theaterId={}", visit.movie, visit.theater);
        for path in [
            "movies?".to_owned(),
            "theaters?".to_owned(),
            format!("dates?{of}&"),
            format!("showings?{of}&date={}&", visit.date),
            format!("showings/{}/seats?", visit.showing),
            format!("ticket-types?showingId={}&", visit.showing),
        ] {
            let answer = server
                .get(&format!("/api/booking/{path}cinemaId={cinema}"))
                .await;
            assert_eq!(refusal(answer), (404, "cinema_not_found".into()), "{path}");
        }
        let held = hold(&server, cinema, &visit.showing, &visit.free[0]).await;
        assert_eq!(refusal(held), (404, "cinema_not_found".into()));
    }
    for request in [
        json!({ "at": "yesterday" }),
        json!({ "at": "1066-10-14T09:00:00" }),
        json!({ "at": "9999-12-31T23:59:59" }),
        json!({ "seed": -1 }),
        json!({ "seed": 4294967296_u64 }),
        json!({ "name": "mine" }),
    ] {
        let answer = server.post("/api/booking/cinemas", request.clone()).await;
        assert_eq!(refusal(answer).0, 400, "{request}");
    }
}
