//! What cannot be had, and what cannot be read.

use reqwest::{Method, StatusCode};
use serde_json::{Value, json};

use crate::server::TestServer;
use gangway_testing::cinema_client::{Visit, refusal};

#[tokio::test]
async fn what_is_not_there_is_reported() {
    let server = TestServer::start().await;
    let Visit {
        movie,
        theater,
        showing,
        ..
    } = Visit::choose(&server).await;
    let day = "date=2026-11-16";
    for (path, code) in [
        ("theaters?movieId=x".to_owned(), "movie_not_found"),
        (
            format!("dates?movieId=x&theaterId={theater}"),
            "movie_not_found",
        ),
        (
            format!("dates?movieId={movie}&theaterId=x"),
            "theater_not_found",
        ),
        (
            format!("showings?movieId=x&theaterId={theater}&{day}"),
            "movie_not_found",
        ),
        (
            format!("showings?movieId={movie}&theaterId=x&{day}"),
            "theater_not_found",
        ),
        ("showings/x/seats".to_owned(), "showing_not_found"),
        ("showings/..%2f..%2fx/seats".to_owned(), "showing_not_found"),
        (format!("showings/{showing}x/seats"), "showing_not_found"),
        ("showings/%ff/seats".to_owned(), "not_found"),
        ("ticket-types?showingId=x".to_owned(), "showing_not_found"),
        ("bookings/x".to_owned(), "booking_not_found"),
        ("seats".to_owned(), "not_found"),
    ] {
        let answer = server.get(&format!("/api/booking/{path}")).await;
        assert_eq!(refusal(answer), (404, code.to_owned()), "{path}");
    }
}

#[tokio::test]
async fn queries_that_do_not_fit_say_what_is_wrong() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let of = format!("movieId={}&theaterId={}", visit.movie, visit.theater);
    for (path, word) in [
        ("dates".to_owned(), "movieId"),
        (format!("dates?movieId={}", visit.movie), "theaterId"),
        (format!("dates?{of}&movieId=y"), "movieId"),
        (format!("dates?{of}&more=1"), "more"),
        (format!("showings?{of}"), "date"),
        ("theaters?movie=x".to_owned(), "movie"),
        ("ticket-types".to_owned(), "showingId"),
        (format!("showings/{}/seats?hold=x", visit.showing), "hold"),
    ] {
        let (status, answer) = server.get(&format!("/api/booking/{path}")).await;
        let message = answer["message"].as_str().unwrap().to_owned();
        assert!(message.contains(word), "{path}: {message}");
        assert_eq!(refusal((status, answer)), (400, "invalid_request".into()));
    }
    for date in [
        "",
        "x",
        "today",
        "20261116",
        "2026-11-31",
        "2026-1-1",
        "16.11.2026",
        "2026-11-16T10:00",
        "-1",
        "99999-01-01",
        "%00",
    ] {
        let path = format!("/api/booking/showings?{of}&date={date}");
        let answer = server.get(&path).await;
        assert_eq!(refusal(answer), (400, "invalid_request".into()), "{date}");
    }
    for date in ["1999-01-01", "9999-12-31", "-009999-01-01"] {
        let path = format!("/api/booking/showings?{of}&date={date}");
        let (status, answer) = server.get(&path).await;
        assert_eq!((status.as_u16(), answer), (200, json!({ "showings": [] })));
    }
}

#[tokio::test]
async fn holds_that_make_no_sense_are_refused() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let (showing, seat) = (visit.showing.as_str(), visit.free[0].as_str());
    let with = |seats: Value| json!({ "showingId": showing, "seats": seats });
    let invalid = (400, "invalid_request");
    for (body, (status, code)) in [
        (json!({}), invalid),
        (json!({ "showingId": showing }), invalid),
        (json!({ "showingId": 1, "seats": [seat] }), invalid),
        (with(json!(seat)), invalid),
        (with(json!([])), invalid),
        (with(json!([seat, seat])), invalid),
        (with(json!([1])), invalid),
        (with(json!(visit.free[..11])), invalid),
        (with(json!(["A0"])), (400, "unknown_seat")),
        (with(json!(["A01"])), (400, "unknown_seat")),
        (with(json!([seat, "Z99"])), (400, "unknown_seat")),
        (
            with(json!(["A1'; DROP TABLE seats; --"])),
            (400, "unknown_seat"),
        ),
        (
            json!({ "showingId": "x", "seats": [seat] }),
            (404, "showing_not_found"),
        ),
        (
            json!({ "showingId": showing, "seats": [seat], "holdId": "x" }),
            (409, "hold_expired"),
        ),
        (
            json!({ "showingId": showing, "seats": [seat], "holdid": "x" }),
            invalid,
        ),
        (
            json!({ "showingId": showing, "seats": [seat], "holdId": 7 }),
            invalid,
        ),
        (with(json!(["A1".repeat(3000)])), (413, "body_too_large")),
    ] {
        let answer = server.post("/api/booking/holds", body.clone()).await;
        assert_eq!(refusal(answer), (status, code.to_owned()), "{body}");
    }
    assert_eq!(visit.status(&server, seat, None).await, "free");
}

#[tokio::test]
async fn bookings_that_make_no_sense_are_refused_and_the_hold_stays() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let hold = visit.hold(&server, &visit.free[..2]).await;
    let tickets =
        |tickets: Value| json!({ "showingId": visit.showing, "holdId": hold, "tickets": tickets });
    let invalid = (400, "invalid_request");
    let unfit = (400, "tickets_do_not_fit");
    let other = visit.showing.replacen("1_", "2_", 1);
    for (body, (status, code)) in [
        (json!({}), invalid),
        (tickets(json!([])), invalid),
        (tickets(json!({ "adult": -1 })), invalid),
        (tickets(json!({ "adult": 1.5 })), invalid),
        (tickets(json!({ "adult": "2" })), invalid),
        (tickets(json!({ "adult": 99999999999_u64 })), invalid),
        (tickets(json!({ "adult": null })), invalid),
        (tickets(json!({})), unfit),
        (tickets(json!({ "adult": 1 })), unfit),
        (tickets(json!({ "adult": 3 })), unfit),
        (
            tickets(json!({ "adult": 4294967295_u32, "child": 4294967295_u32 })),
            unfit,
        ),
        (tickets(json!({ "king": 2 })), (400, "unknown_ticket_type")),
        (
            tickets(json!({ "adult": 2, "": 0 })),
            (400, "unknown_ticket_type"),
        ),
        (
            json!({ "showingId": visit.showing, "holdId": "x", "tickets": { "adult": 2 } }),
            (409, "hold_expired"),
        ),
        (
            json!({ "showingId": other, "holdId": hold, "tickets": { "adult": 2 } }),
            (404, "showing_not_found"),
        ),
        (
            json!({ "showingId": visit.showing, "holdId": hold, "tickets": { "adult": 2 }, "free": true }),
            invalid,
        ),
    ] {
        let answer = server.post("/api/booking/bookings", body.clone()).await;
        assert_eq!(refusal(answer), (status, code.to_owned()), "{body}");
    }
    for name in ["".to_owned(), "k".repeat(201)] {
        let answer = visit
            .book(&server, &hold, json!({ "adult": 2 }), Some(&name))
            .await;
        assert_eq!(refusal(answer), (400, "invalid_request".into()));
    }
    assert_eq!(
        visit.status(&server, &visit.free[0], Some(&hold)).await,
        "mine"
    );
    let booked = visit
        .book(&server, &hold, json!({ "adult": 2 }), None)
        .await;
    assert_eq!(booked.0, 201);
}

#[tokio::test]
async fn a_hold_books_its_own_showing_alone() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let hold = visit.hold(&server, &visit.free[..1]).await;
    let of = format!("movieId={}&theaterId={}", visit.movie, visit.theater);
    let (_, dates) = server.get(&format!("/api/booking/dates?{of}")).await;
    let last = dates["dates"].as_array().unwrap().last().unwrap();
    let last = last.as_str().unwrap();
    let path = format!("/api/booking/showings?{of}&date={last}");
    let (_, showings) = server.get(&path).await;
    let other = showings["showings"][0]["id"].as_str().unwrap();
    assert_ne!(other, visit.showing);
    let body = json!({ "showingId": other, "holdId": hold, "tickets": { "adult": 1 } });
    let answer = server.post("/api/booking/bookings", body).await;
    assert_eq!(refusal(answer), (400, "other_showing".into()));
}

#[tokio::test]
async fn bodies_that_are_no_json_and_methods_that_are_none_are_refused() {
    let server = TestServer::start().await;
    let send = |kind: &'static str, body: &'static str| {
        let url = server.url("/api/booking/holds");
        let request = server
            .http
            .post(url)
            .header("content-type", kind)
            .body(body);
        async move {
            let response = request.send().await.unwrap();
            (response.status(), response.json::<Value>().await.unwrap())
        }
    };
    let json = "application/json";
    for (kind, body, status, code) in [
        ("text/plain", "{}", 415, "unsupported_media_type"),
        (
            "application/x-www-form-urlencoded",
            "a=b",
            415,
            "unsupported_media_type",
        ),
        (json, "{", 400, "malformed_json"),
        (json, "[\"x\", [\"A1\"]]", 400, "invalid_request"),
        (json, "null", 400, "invalid_request"),
    ] {
        assert_eq!(
            refusal(send(kind, body).await),
            (status, code.to_owned()),
            "{body}"
        );
    }
    for (method, path) in [
        (Method::POST, "movies"),
        (Method::GET, "holds"),
        (Method::PUT, "bookings/x"),
        (Method::DELETE, "bookings"),
    ] {
        let answer = server
            .call(method, &format!("/api/booking/{path}"), None)
            .await;
        assert_eq!(answer.0, StatusCode::METHOD_NOT_ALLOWED, "{path}");
    }
}
