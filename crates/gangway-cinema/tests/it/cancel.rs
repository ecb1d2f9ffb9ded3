//! Bookings that are cancelled.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::TestServer;
use gangway_testing::cinema_client::{Visit, get, refusal};

async fn booked(server: &TestServer, visit: &Visit, key: Option<&str>) -> (String, Value) {
    let hold = visit.hold(server, &visit.free[..2]).await;
    let (status, booked) = visit.book(server, &hold, json!({ "adult": 2 }), key).await;
    assert_eq!(status, 201, "{booked}");
    (hold, booked)
}

fn path(booked: &Value) -> String {
    format!(
        "/api/booking/bookings/{}",
        booked["bookingId"].as_str().unwrap()
    )
}

#[tokio::test]
async fn a_cancelled_booking_frees_its_seats_and_can_be_cancelled_again() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let (hold, booked) = booked(&server, &visit, Some("k")).await;
    let path = path(&booked);
    for _ in 0..2 {
        assert_eq!(server.call(Method::DELETE, &path, None).await.0, 204);
    }
    assert_eq!(visit.status(&server, &visit.free[0], None).await, "free");
    let shown = get(&server, path.strip_prefix("/api/booking/").unwrap()).await;
    assert!(shown["cancelledAt"].is_string(), "{shown}");
    assert_eq!(shown["code"], booked["code"]);
    assert!(booked.get("cancelledAt").is_none(), "{booked}");
    // What was cancelled is not booked again by a request that comes late.
    for key in [Some("k"), None] {
        let again = visit.book(&server, &hold, json!({ "adult": 2 }), key).await;
        assert_eq!(refusal(again), (409, "booking_cancelled".into()));
    }
    // Nor does cancelling again take the seats from their new owner.
    visit.hold(&server, &visit.free[..1]).await;
    assert_eq!(server.call(Method::DELETE, &path, None).await.0, 204);
    assert_eq!(visit.status(&server, &visit.free[0], None).await, "held");
}

#[tokio::test]
async fn a_booking_is_cancelled_by_its_id_alone() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let (hold, booked) = booked(&server, &visit, None).await;
    let code = booked["code"].as_str().unwrap();
    for guess in ["x", code, hold.as_str(), visit.showing.as_str(), "%00", ""] {
        let path = format!("/api/booking/bookings/{guess}");
        let (status, _) = server.call(Method::DELETE, &path, None).await;
        assert!(
            matches!(status.as_u16(), 400 | 404 | 405),
            "{guess}: {status}"
        );
    }
    let unknown = server.call(Method::DELETE, "/api/booking/bookings/x", None);
    assert_eq!(refusal(unknown.await), (404, "booking_not_found".into()));
    assert_eq!(visit.status(&server, &visit.free[0], None).await, "taken");
}

#[tokio::test]
async fn a_booking_is_not_cancelled_once_its_showing_has_begun() {
    let mut server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let (_, booked) = booked(&server, &visit, None).await;
    let day: jiff::civil::Date = visit.date.parse().unwrap();
    let days = (day - jiff::Zoned::now().date()).get_days() + 1;
    let days = u64::try_from(days).unwrap();
    server.pass(Duration::from_secs(24 * 3600 * days)).await;
    let late = server.call(Method::DELETE, &path(&booked), None).await;
    assert_eq!(refusal(late), (409, "showing_over".into()));
}
