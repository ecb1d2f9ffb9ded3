//! What stays when the process is killed.

use gangway_testing::cinema_client::{Visit, get, refusal};
use serde_json::json;

use crate::support::Gangway;

#[tokio::test]
async fn what_was_answered_survives_a_kill_at_that_moment() {
    let data = tempfile::tempdir().unwrap();
    let running = Gangway::serve(data.path(), &[]);
    let client = running.client();
    let visit = Visit::choose(&client).await;
    let seat = &visit.free[..1];
    let hold = visit.hold(&client, seat).await;
    let one = || json!({ "adult": 1 });
    let (_, booked) = visit.book(&client, &hold, one(), None).await;
    running.kill();
    let running = Gangway::serve(data.path(), &[]);
    let client = running.client();
    let id = booked["bookingId"].as_str().unwrap();
    assert_eq!(get(&client, &format!("bookings/{id}")).await, booked);
    assert_eq!(visit.book(&client, &hold, one(), None).await.1, booked);
    let refused = visit.try_hold(&client, seat, None).await;
    assert_eq!(refusal(refused), (409, "seat_taken".into()));
}
