//! Commands of the user at the terminal.

use std::io::BufRead;

use gangway_apps::manifest::is_event_name;
use serde_json::Value;
use tokio::sync::mpsc;

use super::script::Reply;

pub(super) const WORDS: &str =
    "ack · answer JSON · deny REASON · unknown · send EVENT JSON · auto on|off · quit";

#[derive(Debug, PartialEq)]
pub(super) enum Typed {
    /// To the oldest waiting message.
    Reply(Reply),
    Send(String, Value),
    /// Acknowledge events automatically, or not.
    Auto(bool),
    Quit,
}

/// `None` for an empty line.
pub(super) fn read(line: &str) -> Result<Option<Typed>, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let json = |text: &str| match text {
        "" => Ok(Value::Null),
        text => serde_json::from_str(text).map_err(|error| format!("invalid JSON: {error}")),
    };
    Ok(Some(match (word, rest) {
        ("", _) => return Ok(None),
        ("ack", "") => Typed::Reply(Reply::Ack),
        ("answer", rest) => Typed::Reply(Reply::Result(json(rest)?)),
        ("deny", why) => Typed::Reply(Reply::Deny(why.to_owned())),
        ("unknown", "") => Typed::Reply(Reply::Unknown),
        ("send", rest) => {
            let (event, payload) = rest.split_once(char::is_whitespace).unwrap_or((rest, ""));
            if !is_event_name(event) {
                return Err(
                    "an event name must be lowercase letters, digits and hyphens, beginning with a letter"
                        .to_owned(),
                );
            }
            Typed::Send(event.to_owned(), json(payload.trim())?)
        }
        ("auto", "on") => Typed::Auto(true),
        ("auto", "off") => Typed::Auto(false),
        ("quit" | "exit", "") => Typed::Quit,
        _ => return Err(format!("type one of: {WORDS}")),
    }))
}

pub(super) fn lines() -> mpsc::Receiver<String> {
    let (tell, lines) = mpsc::channel(16);
    // Its own thread, since a blocking read cannot be cancelled; the process exits without it.
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if tell.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn commands_are_words_and_json() {
        let send = Typed::Send("new-game".to_owned(), json!({"a": 1}));
        assert_eq!(read(" send new-game {\"a\": 1} "), Ok(Some(send)));
        let answer = Typed::Reply(Reply::Result(json!([1, 2])));
        assert_eq!(read("answer [1, 2]"), Ok(Some(answer)));
        let deny = Typed::Reply(Reply::Deny("not now".to_owned()));
        assert_eq!(read("deny not now"), Ok(Some(deny)));
        assert_eq!(read("ack"), Ok(Some(Typed::Reply(Reply::Ack))));
        assert_eq!(read("  "), Ok(None));
        for bad in ["send", "send Big {}", "answer {", "ack 5", "auto", "dance"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
