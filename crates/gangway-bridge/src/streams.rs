//! Requests that are answered by a stream of events.

use futures_util::StreamExt;
use serde_json::{Map, Value, json, value::RawValue};
use sse_stream::SseStream;
use tokio_tungstenite::tungstenite::{Message, protocol::CloseFrame};

use crate::{
    bridge::Bridge,
    frame,
    message::RequestId,
    named::raw,
    out::too_long,
    problem::Problem,
    server::{Core, RestCall, refused},
};

/// Numbers the events of one request.
struct Events<'a> {
    bridge: &'a Bridge,
    kind: &'a str,
    id: &'a RequestId,
    next: u64,
}

impl<'a> Events<'a> {
    /// Acknowledges the stream, since the first event may take long.
    async fn begin(bridge: &'a Bridge, kind: &'a str, id: &'a RequestId) -> Result<Self, Problem> {
        let mut events = Self {
            bridge,
            kind,
            id,
            next: 0,
        };
        events.say("null").await?;
        Ok(events)
    }

    async fn say(&mut self, event: &str) -> Result<(), Problem> {
        let (kind, id, n) = (self.kind, self.id, self.next);
        self.next += 1;
        let json =
            format!(r#"{{"type":"{kind}_event","request_id":"{id}","n":{n},"event":{event}}}"#);
        if json.len() > frame::MESSAGE {
            return Err(too_long());
        }
        self.bridge.out.message(json).await;
        Ok(())
    }
}

/// A close code and reason as JSON.
pub(crate) fn closed(code: u16, reason: &str) -> String {
    json!({ "code": code, "reason": reason }).to_string()
}

pub(crate) fn closed_by(frame: Option<CloseFrame>) -> (u16, String) {
    match frame {
        Some(frame) => (frame.code.into(), frame.reason.as_str().to_owned()),
        None => (1005, String::new()),
    }
}

impl Bridge {
    /// Forwards a WebSocket until the server closes it.
    pub(crate) async fn follow(
        &self,
        core: &Core,
        path: &str,
        kind: &str,
        id: &RequestId,
    ) -> Result<String, Problem> {
        let mut socket = core.socket(path).await?;
        let mut events = Events::begin(self, kind, id).await?;
        loop {
            match socket.next().await {
                Some(Ok(Message::Text(text))) => {
                    let whole: Result<&RawValue, _> = serde_json::from_str(&text);
                    if whole.is_ok() {
                        events.say(&text).await?;
                    }
                }
                Some(Ok(Message::Close(frame))) => {
                    let (code, reason) = closed_by(frame);
                    return Ok(closed(code, &reason));
                }
                Some(Ok(_)) => {}
                Some(Err(tokio_tungstenite::tungstenite::Error::Capacity(_))) => {
                    return Err(too_long());
                }
                Some(Err(_)) | None => {
                    return Err(Problem::server_gone(Some("the connection was lost")));
                }
            }
        }
    }

    /// Forwards a model's streamed answer.
    pub(crate) async fn chat(
        &self,
        core: &Core,
        mut question: Map<String, Value>,
        kind: &str,
        id: &RequestId,
    ) -> Result<String, Problem> {
        question.insert("stream".into(), true.into());
        let options = question
            .entry("stream_options")
            .or_insert_with(|| json!({}));
        if let Value::Object(options) = options {
            options.insert("include_usage".into(), true.into());
        }
        let rest = RestCall::post("/v1/chat/completions").with(raw(&question)?);
        let response = core.while_there(core.send(&rest.patiently(), &[])).await?;
        let mut events = Events::begin(self, kind, id).await?;
        let (mut finish, mut usage) = (Value::Null, Value::Null);
        let mut chunks = SseStream::from_bytes_stream(response.bytes_stream());
        let broke_off =
            || Problem::server_gone(Some("the connection was lost in the middle of the answer"));
        loop {
            let next = core.while_there(async { Ok(chunks.next().await) }).await?;
            let Some(Ok(chunk)) = next else {
                return Err(broke_off());
            };
            let Some(data) = chunk.data else { continue };
            if data.trim() == "[DONE]" {
                return Ok(json!({ "finish_reason": finish, "usage": usage }).to_string());
            }
            let piece: Value = serde_json::from_str(&data)
                .map_err(|_| Problem::internal("the server's answer is not JSON"))?;
            if piece.get("error").is_some() {
                let mut problem = refused(502, &data);
                problem.status = None;
                return Err(problem);
            }
            if !piece["choices"][0]["finish_reason"].is_null() {
                finish = piece["choices"][0]["finish_reason"].clone();
            }
            if !piece["usage"].is_null() {
                usage = piece["usage"].clone();
            }
            events.say(&data).await?;
        }
    }
}
