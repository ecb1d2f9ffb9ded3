//! What is written about the bridge is complete.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that cannot go on should say where"
)]

use gangway_bridge::NAMES;

#[test]
fn every_message_is_described() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/bridge.md");
    let text = std::fs::read_to_string(path).unwrap();
    let own = [
        "hello",
        "ping",
        "cancel",
        "status",
        "part",
        "page_open",
        "page_frame",
        "page_close",
        "error",
    ];
    for name in NAMES.iter().chain(&own) {
        assert!(
            text.contains(&format!("`{name}`")),
            "docs/bridge.md lacks {name}"
        );
    }
    for code in [
        "bad_message",
        "bad_field",
        "unknown_type",
        "duplicate_request",
        "too_many_requests",
        "too_large",
        "cancelled",
        "server_gone",
        "wrong_protocol",
        "internal",
    ] {
        assert!(
            text.contains(&format!("`{code}`")),
            "docs/bridge.md lacks {code}"
        );
    }
}
