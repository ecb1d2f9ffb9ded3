//! P10: junk on the pipe never kills the bridge, and leaves nothing behind in it.

use std::time::Duration;

use gangway_bridge::NAMES;
use rand::{Rng, RngExt, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};

use super::{
    alone,
    pipe::{Pipe, framed},
};
use crate::{
    promises::{Vitals, scale},
    support::Gangway,
};

/// A JSON value of any shape.
fn value(chance: &mut StdRng, depth: usize) -> Value {
    match chance.random_range(0..if depth == 0 { 6 } else { 8 }) {
        0 => Value::Null,
        1 => json!(chance.random::<bool>()),
        2 => json!(chance.random::<i64>()),
        3 => json!(chance.random::<f64>() * 1e300),
        4 => json!("\u{0}\u{202e}\u{feff}../../etc/passwd"),
        5 => json!(["none", "https://a.example", "memory/none"][chance.random_range(0..3)]),
        6 => (0..chance.random_range(0..4))
            .map(|_| value(chance, depth - 1))
            .collect(),
        _ => json!({ "x": value(chance, depth - 1), "prompt": value(chance, depth - 1) }),
    }
}

const FIELDS: [&str; 20] = [
    "server_id",
    "session_id",
    "install_id",
    "ask",
    "body",
    "tool",
    "args",
    "uri",
    "query",
    "limit",
    "before",
    "after",
    "since",
    "origin",
    "tab",
    "visit",
    "seen",
    "page",
    "frame",
    "target",
];

/// Something that is nearly a message.
fn junk(chance: &mut StdRng, n: usize) -> Vec<u8> {
    if chance.random_bool(0.2) {
        let mut junk = vec![0; chance.random_range(0..300)];
        chance.fill_bytes(&mut junk);
        return junk;
    }
    let own = [
        "cancel",
        "page_open",
        "page_frame",
        "page_close",
        "ping",
        "hello",
        "x",
    ];
    let kind = match chance.random_bool(0.3) {
        true => own[chance.random_range(0..own.len())],
        false => NAMES[chance.random_range(0..NAMES.len())],
    };
    let mut message = json!({ "type": kind, "request_id": format!("j{n}") });
    for name in FIELDS {
        if chance.random_bool(0.4) {
            message[name] = value(chance, 2);
        }
    }
    if kind == "page_open" {
        message["origin"] = json!(format!("https://s{}.example", n % 50));
        message["tab"] = json!("0".repeat(32));
    }
    // What would start programs that are not there, or make what is never swept, is not what this is about.
    if [
        "add_server",
        "chat_create_session",
        "permission_set",
        "check_runtimes",
    ]
    .contains(&kind)
    {
        message["body"] = json!(7);
        message["type"] = json!("permission_set");
    }
    let mut bytes = message.to_string().into_bytes();
    if chance.random_bool(0.2) {
        let at = chance.random_range(0..bytes.len());
        bytes[at] = chance.random();
    }
    bytes
}

/// Throws, then ends whatever is still open.
fn round(pipe: &mut Pipe, seed: u64, count: usize) {
    let mut chance = StdRng::seed_from_u64(seed);
    for n in 0..count {
        let bytes = junk(&mut chance, n);
        pipe.throw(&framed(&bytes));
        if n % 200 == 199 {
            for open in n - 199..=n {
                pipe.send_message(&json!({ "type": "page_close", "page": format!("j{open}") }));
                let cancel = json!({ "type": "cancel", "request_id": format!("c{open}"), "target": format!("j{open}") });
                pipe.send_message(&cancel);
            }
            // So that everything was looked at, and nothing piles up here.
            let last = format!("c{n}");
            loop {
                let message = pipe.receive();
                if message["request_id"] == json!(last) {
                    break;
                }
            }
        }
    }
    while pipe.hear_within(Duration::from_millis(500)).is_some() {}
}

/// P10
#[test]
fn the_bridge_survives_junk_and_keeps_nothing_of_it() {
    let folder = alone();
    let config = format!(
        "{}limits: {{requests_per_second: 1000000, request_burst: 1000000}}\n",
        super::ALONE
    );
    std::fs::write(folder.path().join("config.yaml"), config).unwrap();
    let server = Gangway::serve(folder.path(), &["--log-level", "error"]);
    let mut pipe = Pipe::start(folder.path());
    pipe.hello();
    let vitals = Vitals::of_process(pipe.child.id());
    let count = scale(3000, 100_000);
    // As much as is measured after it, so that what is kept within bounds has reached them.
    round(&mut pipe, 1, count);
    let (before, descriptors) = (vitals.memory_kib(), vitals.descriptors());
    round(&mut pipe, 2, count);
    assert_eq!(pipe.get("ping", json!({ "data": "there" })), "there");
    pipe.get("list_servers", json!({}));
    let after = vitals.memory_kib();
    println!("{count} junk messages: {before} KiB before, {after} KiB after");
    assert!(
        after <= before + (2 << 10),
        "{after} KiB, but {before} KiB before"
    );
    let open = vitals.descriptors();
    assert!(
        open.len() <= descriptors.len() + 1,
        "{descriptors:?} {open:?}"
    );
    assert_eq!(pipe.end(), 0);
    drop(server);
}
