//! What the person at the terminal types.

use std::io::BufRead;

use gangway_apps::manifest::is_event_name;
use serde_json::Value;
use tokio::sync::mpsc;

use super::script::Reply;

/// What can be typed.
pub(super) const WORDS: &str =
    "ack · answer JSON · deny REASON · unknown · send EVENT JSON · auto on|off · quit";

/// Something that was typed.
#[derive(Debug, PartialEq)]
pub(super) enum Typed {
    /// Reply to what has waited longest.
    Reply(Reply),
    /// Say something to the app.
    Send(String, Value),
    /// Take events at once, or not.
    Auto(bool),
    /// End the run.
    Quit,
}

/// Understands a line; nothing when it is empty.
pub(super) fn read(line: &str) -> Result<Option<Typed>, String> {
    let line = line.trim();
    let (word, rest) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
    let rest = rest.trim();
    let json = |text: &str| match text {
        "" => Ok(Value::Null),
        text => serde_json::from_str(text).map_err(|error| format!("this is not JSON: {error}")),
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
                    "an event name has lowercase letters, digits and hyphens, beginning with a letter"
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

/// Lines of standard input.
pub(super) fn lines() -> mpsc::Receiver<String> {
    let (tell, lines) = mpsc::channel(16);
    // A thread of its own, since nothing can wake one that waits for a person; the process ends without it.
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
