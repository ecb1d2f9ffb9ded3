//! What stays when the server goes.

use serde_json::json;

use crate::server::TestServer;
use gangway_testing::cinema_client::Visit;

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

#[tokio::test]
async fn bookings_that_cannot_be_read_are_a_fault_that_says_nothing_and_touches_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("booking.db");
    let broken = "these were bookings once, ".repeat(50);
    std::fs::write(&file, &broken).unwrap();
    let server = TestServer::on(folder, |_| {}).await;
    let (status, answer) = server.get("/api/booking/bookings/x").await;
    assert_eq!(
        (status.as_u16(), &answer["error_code"]),
        (500, &json!("data_corrupted"))
    );
    assert_eq!(server.get("/api/booking/movies").await.0, 200);
    assert_eq!(std::fs::read_to_string(file).unwrap(), broken);
}
