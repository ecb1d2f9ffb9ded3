//! Junk for every endpoint.

use gangway_applets::wire::channel::AppletClientMessage;
use rand::{Rng, RngExt, rngs::StdRng};
use serde_json::{Value, json};

pub fn bytes(chance: &mut StdRng, most: usize) -> Vec<u8> {
    let mut bytes = vec![0; chance.random_range(0..most)];
    chance.fill_bytes(&mut bytes);
    bytes
}

/// A JSON value of any shape.
pub fn value(chance: &mut StdRng, depth: usize) -> Value {
    match chance.random_range(0..if depth == 0 { 6 } else { 8 }) {
        0 => Value::Null,
        1 => json!(chance.random::<bool>()),
        2 => json!(chance.random::<i64>()),
        3 => json!(chance.random::<f64>() * 1e300),
        4 => json!(String::from_utf8_lossy(&bytes(chance, 60))),
        5 => json!("\u{0}\u{202e}\u{feff}../../etc/passwd"),
        6 => (0..chance.random_range(0..4))
            .map(|_| value(chance, depth - 1))
            .collect(),
        _ => {
            let names = [
                "prompt",
                "title",
                "cwd",
                "model",
                "agent",
                "whenBusy",
                "questionId",
                "answer",
                "name",
                "key",
                "x",
            ];
            let field = |_| {
                let name = names[chance.random_range(0..names.len())];
                (name.to_owned(), value(chance, depth - 1))
            };
            Value::Object((0..3).map(field).collect())
        }
    }
}

/// A message for the session channel with fields of any shape.
pub fn said(chance: &mut StdRng) -> String {
    let kinds: Vec<_> = AppletClientMessage::NAMES.split(", ").collect();
    let mut message = json!({ "type": kinds[chance.random_range(0..kinds.len())], "id": 1 });
    for name in [
        "data", "path", "key", "content", "prompt", "session", "offset",
    ] {
        if chance.random_bool(0.5) {
            message[name] = match chance.random_range(0..4) {
                0 => json!({ "a": value(chance, 2) }),
                1 => json!("x/y.txt"),
                _ => value(chance, 3),
            };
        }
    }
    message.to_string()
}

/// What a broker says for a page, with fields of any shape; most of them say first who they are.
pub fn brokered(chance: &mut StdRng) -> Vec<String> {
    let origin = format!("https://{}.example", chance.random_range(0..8));
    let hello = json!({ "type": "hello", "v": 1, "origin": origin, "tab": "0".repeat(32) });
    let mut texts = vec![hello.to_string()];
    texts.truncate(chance.random_range(0..8).min(1));
    for id in 1..chance.random_range(2..5) {
        let kinds = [
            "call",
            "call",
            "call",
            "call",
            "abort",
            "tools",
            "tool_result",
            "ack",
            "hello",
            "bye",
            "x",
        ];
        let mut message = json!({ "type": kinds[chance.random_range(0..kinds.len())], "id": id });
        let methods: Vec<_> = METHODS.split(' ').collect();
        message["method"] = json!(methods[chance.random_range(0..methods.len())]);
        for name in [
            "params", "tools", "call", "result", "n", "visit", "id", "scopes",
        ] {
            if chance.random_bool(0.3) {
                message[name] = value(chance, 3);
            }
        }
        if chance.random_bool(0.5) {
            let mut params = json!({});
            for name in [
                "scopes",
                "reason",
                "tool",
                "args",
                "sessionId",
                "input",
                "task",
                "url",
                "name",
                "serverId",
                "chatId",
                "style",
                "systemPrompt",
                "provider",
                "tools",
            ] {
                if chance.random_bool(0.5) {
                    params[name] = match chance.random_bool(0.5) {
                        true => json!("model:prompt"),
                        false => value(chance, 2),
                    };
                }
            }
            message["params"] = params;
        }
        texts.push(message.to_string());
    }
    texts
}

/// What pages call.
const METHODS: &str = "permissions.request permissions.list tools.list tools.call text.create text.prompt text.destroy \
    run providers.list capabilities native.begin tab.readability tab.elements tab.click tab.fill tab.screenshot mcp.register mcp.unregister chat.canOpen chat.open \
    chat.close nothing";

/// What a page or an agent says to the relay, with fields of any shape; most of them have joined.
pub fn relayed(chance: &mut StdRng) -> Vec<String> {
    let roles = ["host", "agent"];
    let name = format!("s{}", chance.random_range(0..4));
    let join = json!({ "role": roles[chance.random_range(0..2)], "sessionId": name });
    let join = json!({ "v": "mvp-0.2", "type": "relay.join", "id": "j", "payload": join });
    let mut texts = vec![join.to_string()];
    texts.truncate(chance.random_range(0..8).min(1));
    for id in 1..chance.random_range(2..6) {
        let kinds = RELAYED.split(' ').collect::<Vec<_>>();
        let mut message = json!({
            "v": "mvp-0.2", "id": id.to_string(), "type": kinds[chance.random_range(0..kinds.len())],
            "payload": { "toolName": "next", "params": {}, "reason": "r", "studyId": "s", "uiSpec": {} },
        });
        for name in ["v", "id", "type", "replyTo", "payload", "seq"] {
            if chance.random_bool(0.2) {
                message[name] = value(chance, 3);
            }
        }
        texts.push(message.to_string());
    }
    texts
}

/// Messages for the relay. They start no study session, since its log would be kept.
const RELAYED: &str = "relay.join tool.call snapshot.get agent.message session.end session.started \
    snapshot.state tool.result state.updated user.message session.ended error nothing";
