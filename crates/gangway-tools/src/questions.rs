//! Questions that servers ask the person in the middle of a call; a page shows them and brings the answers.

use std::{collections::BTreeMap, sync::Arc};

use axum::{Json, extract::State, http::StatusCode};
use futures_util::future::BoxFuture;
use gangway_core::sanitize::escape_text;
use gangway_http::{
    access::{Scope, scope},
    error::{ApiError, ApiResult},
    extract::{self, Id},
    routes::Routes,
};
use gangway_mcp::{Answer, Asker, Question, fits};
use jiff::Timestamp;
use parking_lot::{Mutex, MutexGuard};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::oneshot;
use ts_rs::TS;
use utoipa::ToSchema;

use crate::ToolsState;

/// Questions that may be open at the same time; a person answers one after the other.
const MOST: usize = 32;

/// Characters of a question, and bytes of the form that comes with it.
const WORDS: usize = 4000;
const FORM: usize = 64 << 10;

/// The questions that are open.
#[derive(Default)]
pub struct Questions {
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    last: u64,
    asked: BTreeMap<u64, (OpenQuestion, oneshot::Sender<Answer>)>,
}

/// A question of a server.
#[derive(Debug, Clone, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub struct OpenQuestion {
    /// Names it in the answer.
    pub id: String,
    /// The server that asks, and gets the answer.
    pub server: String,
    /// What it asks, in its own words.
    pub message: String,
    /// The form to fill in: a JSON Schema of flat properties.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    #[ts(optional, type = "JsonValue")]
    pub schema: Option<Value>,
    /// A page to visit instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub url: Option<String>,
    /// When it was asked.
    #[ts(type = "string")]
    #[schema(value_type = String, format = DateTime)]
    pub asked_at: Timestamp,
}

/// The questions that are open.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
pub struct QuestionList {
    /// Oldest first.
    pub questions: Vec<OpenQuestion>,
}

/// What the person said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
pub enum QuestionAction {
    /// Yes; what was filled in comes along.
    Accept,
    /// No.
    Decline,
    /// Neither.
    Cancel,
}

/// An answer to a question of a server.
#[derive(Debug, Serialize, Deserialize, ToSchema, TS)]
#[serde(deny_unknown_fields)]
pub struct AnswerQuestion {
    /// What the person said.
    pub action: QuestionAction,
    /// What was filled in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    #[ts(optional, type = "Record<string, JsonValue>")]
    pub content: Option<Map<String, Value>>,
}

/// A question that is open until it is answered or nobody waits any more.
struct Asked<'a>(&'a Questions, u64);

impl Drop for Asked<'_> {
    fn drop(&mut self) {
        self.0.lock().asked.remove(&self.1);
    }
}

impl Questions {
    fn lock(&self) -> MutexGuard<'_, Open> {
        self.open.lock()
    }

    /// Puts a question before the person; nothing when it cannot be asked.
    fn put(&self, question: Question) -> Option<(Asked<'_>, oneshot::Receiver<Answer>)> {
        let web = |url: &String| url.starts_with("https://") || url.starts_with("http://");
        let form = question.schema.as_ref().map(|form| form.to_string().len());
        if form.is_some_and(|size| size > FORM)
            || question
                .url
                .as_ref()
                .is_some_and(|url| !web(url) || url.len() > WORDS)
        {
            return None;
        }
        let mut open = self.lock();
        if open.asked.len() >= MOST {
            return None;
        }
        open.last += 1;
        let number = open.last;
        let shown = OpenQuestion {
            id: format!("q{number}"),
            server: question.server.to_string(),
            message: escape_text(&question.message).chars().take(WORDS).collect(),
            schema: question.schema,
            url: question.url,
            asked_at: Timestamp::now(),
        };
        let (reply, answer) = oneshot::channel();
        open.asked.insert(number, (shown, reply));
        Some((Asked(self, number), answer))
    }

    fn list(&self) -> QuestionList {
        let open = self.lock();
        let questions = open.asked.values().map(|(shown, _)| shown.clone());
        QuestionList {
            questions: questions.collect(),
        }
    }

    fn answer(&self, id: &str, answer: AnswerQuestion) -> ApiResult<()> {
        let number = id.strip_prefix('q').and_then(|n| n.parse::<u64>().ok());
        let gone = || {
            let message =
                "this question is no longer open: it was answered, or nobody waits for it";
            ApiError::new(StatusCode::NOT_FOUND, "question_not_found", message)
        };
        let number = number.ok_or_else(gone)?;
        let mut open = self.lock();
        let (shown, _) = open.asked.get(&number).ok_or_else(gone)?;
        let answer = match answer.action {
            QuestionAction::Decline => Answer::Decline,
            QuestionAction::Cancel => Answer::Cancel,
            QuestionAction::Accept => {
                let content = Value::Object(answer.content.unwrap_or_default());
                match &shown.schema {
                    Some(schema) => {
                        let checked = fits(schema, &content);
                        checked.map_err(|why| ApiError::invalid(format!("`content`: {why}")))?;
                        Answer::Accept(content)
                    }
                    None => Answer::Accept(Value::Null),
                }
            }
        };
        let (_, reply) = open.asked.remove(&number).ok_or_else(gone)?;
        reply.send(answer).map_err(|_| gone())
    }
}

impl Asker for Questions {
    fn ask(&self, question: Question) -> BoxFuture<'_, Answer> {
        Box::pin(async move {
            let Some((_asked, answer)) = self.put(question) else {
                return Answer::Decline;
            };
            answer.await.unwrap_or(Answer::Cancel)
        })
    }
}

/// Routes for the pages that ask the person.
#[must_use]
pub fn routes() -> Routes<Arc<ToolsState>> {
    Routes::new()
        .get("/api/mcp/questions", scope(Scope::Admin), list)
        .post(
            "/api/mcp/questions/{id}",
            scope(Scope::Admin).json(),
            answer,
        )
}

#[derive(utoipa::OpenApi)]
#[openapi(paths(list, answer,))]
pub struct Documented;

/// List what MCP servers ask the person
#[utoipa::path(get, path = "/api/mcp/questions", tag = "tools", responses((status = 200, body = QuestionList)))]
async fn list(State(state): State<Arc<ToolsState>>) -> Json<QuestionList> {
    Json(state.tools.questions.list())
}

/// Answer a question of an MCP server
#[utoipa::path(post, path = "/api/mcp/questions/{id}", tag = "tools", request_body = AnswerQuestion,
    params(("id" = String, Path, description = "The question")), responses(
    (status = 204, description = "The server has it"),
    (status = 400, description = "What was filled in does not fit the form", body = ApiError),
    (status = 404, description = "It is no longer open", body = ApiError),
))]
async fn answer(
    State(state): State<Arc<ToolsState>>,
    Id(id): Id,
    extract::Json(answer): extract::Json<AnswerQuestion>,
) -> ApiResult<StatusCode> {
    state.tools.questions.answer(&id, answer)?;
    Ok(StatusCode::NO_CONTENT)
}
