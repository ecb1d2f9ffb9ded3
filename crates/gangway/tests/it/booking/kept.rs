//! What stays when the server goes.

use serde_json::{Value, json};

use super::client::Visit;
use crate::support::{Gangway, TestServer};

#[tokio::test]
async fn a_restart_keeps_holds_and_bookings() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let (held, sold) = (&visit.free[..1], &visit.free[1..2]);
    let mine = visit.hold(&server, held).await;
    let other = visit.hold(&server, sold).await;
    let one = || json!({ "adult": 1 });
    let (_, booked) = visit.book(&server, &other, one(), Some("k")).await;
    let server = server.restart().await;
    assert_eq!(visit.status(&server, &held[0], Some(&mine)).await, "mine");
    assert_eq!(visit.status(&server, &held[0], None).await, "held");
    assert_eq!(visit.status(&server, &sold[0], None).await, "taken");
    assert_eq!(
        visit.book(&server, &other, one(), Some("k")).await.1,
        booked
    );
    assert_eq!(visit.book(&server, &mine, one(), None).await.0, 201);
}

async fn asked(http: &reqwest::Client, url: String, body: Option<Value>) -> Value {
    let request = match body {
        Some(body) => http.post(url).json(&body),
        None => http.get(url),
    };
    request.send().await.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn what_was_answered_survives_a_kill_at_that_moment() {
    let data = tempfile::tempdir().unwrap();
    let running = Gangway::serve(data.path(), &[]);
    let http = running.http.clone();
    let ask = async |url: String, body: Option<Value>| asked(&http, url, body).await;
    let base = format!("{}/api/booking", running.url.trim_end_matches('/'));
    let first = async |list: &str, path: String| -> String {
        let answer = ask(format!("{base}/{path}"), None).await;
        let items = answer[list].as_array().unwrap();
        let fits = |item: &&Value| match list {
            "showings" => item["seatsLeft"].as_u64() > Some(2),
            "seats" => item["status"] == "free",
            _ => true,
        };
        let item = items.iter().rev().find(fits).unwrap();
        let id = item.as_str().or_else(|| item["id"].as_str());
        id.unwrap().to_owned()
    };
    let movie = first("movies", "movies".into()).await;
    let theater = first("theaters", format!("theaters?movieId={movie}")).await;
    let of = format!("movieId={movie}&theaterId={theater}");
    let date = first("dates", format!("dates?{of}")).await;
    let showing = first("showings", format!("showings?{of}&date={date}")).await;
    let seat = first("seats", format!("showings/{showing}/seats")).await;
    let body = json!({ "showingId": showing, "seats": [seat] });
    let held = ask(format!("{base}/holds"), Some(body)).await;
    let body = json!({ "showingId": showing, "holdId": held["holdId"], "tickets": { "adult": 1 } });
    let booked = ask(format!("{base}/bookings"), Some(body.clone())).await;
    running.kill();
    let running = Gangway::serve(data.path(), &[]);
    let ask = async |url: String, body: Option<Value>| asked(&running.http, url, body).await;
    let base = format!("{}/api/booking", running.url.trim_end_matches('/'));
    let id = booked["bookingId"].as_str().unwrap();
    assert_eq!(ask(format!("{base}/bookings/{id}"), None).await, booked);
    assert_eq!(ask(format!("{base}/bookings"), Some(body)).await, booked);
    let body = json!({ "showingId": showing, "seats": [seat] });
    let refused = ask(format!("{base}/holds"), Some(body)).await;
    assert_eq!(refused["error_code"], "seat_taken");
}

#[tokio::test]
async fn bookings_that_cannot_be_read_are_a_fault_that_says_nothing_and_touches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("booking.db");
    let broken = "these were bookings once, ".repeat(50);
    std::fs::write(&file, &broken).unwrap();
    let server = TestServer::in_folder(folder, |_| {}).await;
    let (status, answer) = server.get("/api/booking/bookings/x").await;
    assert_eq!(
        (status.as_u16(), &answer["error_code"]),
        (500, &json!("data_corrupted"))
    );
    assert_eq!(server.get("/api/booking/movies").await.0, 200);
    assert_eq!(std::fs::read_to_string(file).unwrap(), broken);
}
