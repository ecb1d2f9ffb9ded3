//! Starting and ending study sessions.

use std::{borrow::Cow, sync::Arc};

use crate::{
    Code, FromAgent, FromHost, Refusal, RelaySession, StudyAsker,
    message::with,
    raw,
    study::{Direction, LogEntry},
};
use gangway_core::Result;
use serde_json::{json, value::RawValue};

use crate::{
    RelayState,
    wire::{EndPayload, StartPayload},
};

/// Length limit of study and participant ids.
const LONGEST: usize = 200;

/// The path of a study log relative to the data folder, as reported to agents.
fn log_file(id: &str) -> String {
    format!("logs/study/{id}.jsonl")
}

fn failed(error: gangway_core::Error) -> Refusal {
    tracing::error!(%error, "cannot store a study session");
    let message = "cannot store the study session; see the server's log";
    Refusal::new(Code::ToolExecutionFailed, message)
}

fn no_page() -> Refusal {
    let message = "no page has joined this session; open one and try again";
    Refusal::new(Code::SessionNotActive, message)
}

/// Starts a study session for an agent, and answers once the page was notified.
pub async fn start(
    state: &RelayState,
    asker: &StudyAsker,
    id: Option<&str>,
    payload: &RawValue,
) -> std::result::Result<(), Refusal> {
    let session = asker.session();
    let request: StartPayload = serde_json::from_str(payload.get()).map_err(|_| {
        Refusal::new(
            Code::InvalidParams,
            "studyId and participantId must be strings",
        )
    })?;
    let long = |text: &Option<String>| text.as_ref().is_some_and(|text| text.len() > LONGEST);
    if long(&request.study_id) || long(&request.participant_id) {
        let message = format!("studyId and participantId must be at most {LONGEST} bytes");
        return Err(Refusal::new(Code::InvalidParams, message));
    }
    if !session.has_host() {
        return Err(no_page());
    }
    let about = (request.study_id.clone(), request.participant_id.clone());
    let starting = session.starting.lock().await;
    let study = match open_already(state, session, &request)
        .await
        .map_err(failed)?
    {
        Some(Ok(id)) => id,
        Some(Err(refusal)) => return Err(refusal),
        None => begin(state, session, request).await?,
    };
    drop(starting);
    let about = json!({
        "sessionId": study, "studyId": about.0, "participantId": about.1,
    });
    session.note_study(FromHost::SessionStarted, &about, asker.label());
    let reported = with(payload, [("sessionId", json!(study))]);
    // A page without support for studies answers with an error or not at all; the study session has started anyway.
    let _ = session.ask(FromAgent::SessionStart, &reported).await;
    let answer = raw(&json!({ "sessionId": study }));
    asker.answer(FromHost::SessionStarted, id, &answer);
    Ok(())
}

/// Returns the open study session if it is the requested one, and an error for any other.
async fn open_already(
    state: &RelayState,
    session: &Arc<RelaySession>,
    request: &StartPayload,
) -> Result<Option<std::result::Result<String, Refusal>>> {
    let Some(open) = session.study() else {
        return Ok(None);
    };
    let record = state.relay.studies.get(open.id()).await?;
    let same = record.is_some_and(|record| {
        record.study_id == request.study_id && record.participant_id == request.participant_id
    });
    Ok(Some(match same {
        true => Ok(open.id().to_string()),
        false => {
            let message = format!("study session {} is already open; end it first", open.id());
            Err(Refusal::new(Code::InvalidParams, message))
        }
    }))
}

async fn begin(
    state: &RelayState,
    session: &Arc<RelaySession>,
    request: StartPayload,
) -> std::result::Result<String, Refusal> {
    let studies = &state.relay.studies;
    let log = studies
        .begin(session.name(), request.study_id, request.participant_id)
        .await
        .map_err(failed)?;
    match session.begin_study(Arc::clone(&log)) {
        Ok(()) => Ok(log.id().to_string()),
        Err(open) => {
            // Another one was started concurrently; this one was never used.
            let reason = Some(format!("{open} was started at the same time"));
            studies.end(&log, reason).await.map_err(failed)?;
            let message = format!("study session {open} is already open; end it first");
            Err(Refusal::new(Code::InvalidParams, message))
        }
    }
}

/// Ends the study session: the page resets itself, the log is synced to disk, and then the agents are notified.
pub async fn end(
    state: &RelayState,
    asker: &StudyAsker,
    id: Option<&str>,
    payload: &RawValue,
) -> std::result::Result<(), Refusal> {
    let session = asker.session();
    let request: EndPayload = serde_json::from_str(payload.get())
        .map_err(|_| Refusal::new(Code::InvalidParams, "reason must be a string"))?;
    let Some(log) = session.study() else {
        let message = "no study session is open; start one with session.start";
        return Err(Refusal::new(Code::SessionNotActive, message));
    };
    // A missing page needs no reset and must not keep the study session open forever.
    let answer = match session.has_host() {
        false => {
            let ended = raw(&json!({ "stateReset": false }));
            session.log(LogEntry::of(Direction::In, "session.end", payload));
            session.log(LogEntry::of(Direction::Internal, "session.ended", &ended));
            ended
        }
        true => match session.ask(FromAgent::SessionEnd, payload).await? {
            (FromHost::Error, refusal) => {
                asker.answer(FromHost::Error, id, &refusal);
                return Ok(());
            }
            (_, answer) => answer,
        },
    };
    if !session.end_study(&log) {
        let message = "another agent has ended the study session";
        return Err(Refusal::new(Code::SessionNotActive, message));
    }
    if let Err(error) = state.relay.studies.end(&log, request.reason).await {
        // It has not ended until that is stored.
        let _ = session.begin_study(log);
        return Err(failed(error));
    }
    let study = log.id().to_string();
    let file = log_file(&study);
    let text = with(
        &answer,
        [("sessionId", json!(study)), ("logFile", json!(file))],
    );
    let about = json!({ "sessionId": study, "logFile": file });
    session.note_study(FromHost::SessionEnded, &about, asker.label());
    // In this order no reconnecting agent gets the message twice.
    asker.broadcast_to_others(FromHost::SessionEnded, &text);
    asker.answer(FromHost::SessionEnded, id, &text);
    Ok(())
}

/// A snapshot with the study session id that `session.started` had, even if the page has its own ids.
pub(super) fn snapshot<'a>(session: &RelaySession, payload: &'a RawValue) -> Cow<'a, RawValue> {
    match session.study() {
        Some(log) => {
            let id = json!(log.id().to_string());
            Cow::Owned(with(payload, [("sessionId", id)]))
        }
        None => Cow::Borrowed(payload),
    }
}
