//! The transcript of a session for MCP clients.

use gangway_core::{
    SessionId, Source,
    conversation::{Conversation, Entry, EntryBody},
};
use serde_json::{Value, json};

use crate::app::App;

/// Characters per line; the full text is in the log.
const LINE: usize = 20_000;

/// The newest lines of a session, oldest first, and whether there are older ones.
pub(super) async fn read(
    app: &App,
    session: SessionId,
    before: Option<u64>,
    events: usize,
) -> gangway_core::Result<(Vec<Value>, bool)> {
    let tail = app.hub.store().tail(session, before, events).await?;
    let message = Conversation::fold(&tail);
    Ok((message.entries.iter().map(line).collect(), tail.older))
}

fn line(entry: &Entry) -> Value {
    let mut said = match &entry.line {
        EntryBody::User { text, source } => {
            json!({ "role": "user", "from": name_of(source), "text": cut(text) })
        }
        EntryBody::Assistant {
            text, streaming, ..
        } => {
            json!({ "role": "assistant", "text": cut(text), "done": !streaming })
        }
        EntryBody::Tool {
            tool,
            arguments,
            result,
            ..
        } => {
            let call = json!({ "role": "tool", "tool": tool, "arguments": short(arguments) });
            ended(call, result)
        }
        EntryBody::PageCall {
            tool,
            arguments,
            by,
            result,
            ..
        } => {
            let call = json!({
                "role": "tool", "from": name_of(by), "tool": tool, "arguments": short(arguments),
            });
            ended(call, result)
        }
        EntryBody::Asked {
            text,
            options,
            answer,
            ..
        } => {
            json!({ "role": "question", "text": cut(text), "options": options, "answer": answer })
        }
        EntryBody::App {
            launch,
            app,
            app_event,
        } => {
            let mut reported = json!({ "role": "app", "app": app, "launchId": launch });
            reported["news"] = short(&json!(app_event));
            reported
        }
        EntryBody::PageMessage { text, by, .. } => {
            json!({ "role": "message", "from": by.as_deref().unwrap_or("person"), "text": cut(text) })
        }
        EntryBody::Notice { text } => json!({ "role": "notice", "text": cut(text) }),
        EntryBody::Failed { code, message, .. } => {
            json!({ "role": "error", "code": code, "text": cut(message) })
        }
        EntryBody::Ended { outcome } => json!({ "role": "end", "outcome": outcome }),
    };
    said["seq"] = json!(entry.seq);
    said["at"] = json!(entry.at.to_string());
    said
}

fn name_of(source: &Source) -> String {
    match source {
        Source::Person => "person".to_owned(),
        Source::Applet { slug } => format!("applet:{slug}"),
        Source::Agent { name } => format!("agent:{name}"),
        Source::Page { origin } => format!("page:{origin}"),
    }
}

fn ended(mut call: Value, result: &Option<Result<Value, String>>) -> Value {
    match result {
        Some(Ok(value)) => call["result"] = short(value),
        Some(Err(error)) => call["error"] = json!(cut(error)),
        None => {}
    }
    call
}

/// A long value is truncated as text.
fn short(value: &Value) -> Value {
    let text = value.to_string();
    if text.len() <= LINE {
        return value.clone();
    }
    json!(cut(&text))
}

fn cut(text: &str) -> String {
    match text.char_indices().nth(LINE) {
        Some((end, _)) => format!("{} […]", &text[..end]),
        None => text.to_owned(),
    }
}
