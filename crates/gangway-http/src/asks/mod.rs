//! Open requests to the person over REST and WebSocket, for every place where they can be answered.

mod socket;
pub mod wire;

use std::sync::Arc;

use axum::{
    Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
};
use gangway_core::{Actor, Ask, AskError, AskId, Asks, Reply};
use tokio::sync::watch;
use wire::{AnswerAsk, AskInfo, AskList};

use crate::{
    Http,
    access::{Rate, Scope, scope},
    client_header,
    error::{ApiError, ApiResult},
    extract::{self, Id},
    routes::Routes,
};

/// What the routes use.
pub struct AskState {
    pub http: Arc<Http>,
    pub asks: Arc<Asks>,
    /// Counts up whenever the permissions of some origin change.
    pub permissions: watch::Receiver<u64>,
}

/// All of it needs the scope `admin`: to answer is to consent for the person.
#[must_use]
pub fn routes() -> Routes<Arc<AskState>> {
    let admin = || scope(Scope::Admin);
    Routes::new()
        .get("/api/asks", admin(), list)
        .get("/api/asks/{id}", admin(), show)
        .post("/api/asks/{id}", admin().json(), answer)
        .delete("/api/asks/{id}", admin(), dismiss)
        .get("/ws/asks", admin().rate(Rate::Messages), socket::open)
}

#[derive(utoipa::OpenApi)]
#[openapi(
    paths(list, show, answer, dismiss),
    components(schemas(wire::AsksFrame))
)]
pub struct Documented;

impl From<AskError> for ApiError {
    fn from(error: AskError) -> Self {
        let message = error.to_string();
        match error {
            AskError::NotFound => Self::new(StatusCode::NOT_FOUND, "ask_not_found", message),
            AskError::Invalid { code, .. } => Self::new(StatusCode::BAD_REQUEST, code, message),
            AskError::Conflict { code, .. } => Self::new(StatusCode::CONFLICT, code, message),
            AskError::Core(error) => error.into(),
        }
    }
}

impl AskState {
    fn list(&self) -> Vec<AskInfo> {
        let asks = self.asks.list();
        asks.iter().map(|ask| AskInfo::from(&**ask)).collect()
    }

    fn find(&self, id: &str) -> ApiResult<Arc<Ask>> {
        let id: Option<AskId> = id.parse().ok();
        let ask = id.and_then(|id| self.asks.get(&id));
        ask.ok_or_else(|| AskError::NotFound.into())
    }
}

/// A browser sends where a change comes from, a terminal does not; the extension's bridge names itself.
#[must_use]
pub fn answered_by(headers: &HeaderMap) -> Actor {
    match headers.contains_key(header::ORIGIN) {
        _ if client_header::is_extension(headers) => Actor::Extension,
        true => Actor::Person,
        false => Actor::Terminal,
    }
}

/// List the requests that wait for the person
#[utoipa::path(get, path = "/api/asks", tag = "asks", responses((status = 200, body = AskList)))]
async fn list(State(state): State<Arc<AskState>>) -> Json<AskList> {
    let asks = state.list();
    Json(AskList { asks })
}

/// Get one request
#[utoipa::path(get, path = "/api/asks/{id}", tag = "asks",
    params(("id" = String, Path, description = "The request")), responses(
    (status = 200, body = AskInfo),
    (status = 404, description = "`ask_not_found`: it is no longer open", body = ApiError),
))]
async fn show(State(state): State<Arc<AskState>>, Id(id): Id) -> ApiResult<Json<AskInfo>> {
    let ask = state.find(&id)?;
    Ok(Json(AskInfo::from(&*ask)))
}

/// Answer a request
#[utoipa::path(post, path = "/api/asks/{id}", tag = "asks", request_body = AnswerAsk,
    params(("id" = String, Path, description = "The request")), responses(
    (status = 204, description = "The answer is stored, and the asker has it"),
    (status = 400, description = "The answer does not fit the request: a form filled in wrong, a tool that is not offered, or `always` where it is not possible", body = ApiError),
    (status = 404, description = "`ask_not_found`: it is no longer open", body = ApiError),
    (status = 409, description = "`too_many_origins`: `once` is still possible", body = ApiError),
))]
async fn answer(
    State(state): State<Arc<AskState>>,
    Id(id): Id,
    headers: HeaderMap,
    extract::Json(answer): extract::Json<AnswerAsk>,
) -> ApiResult<StatusCode> {
    let ask = state.find(&id)?;
    let reply = Reply {
        decision: answer.decision.into(),
        content: answer.content,
        tools: answer.tools,
        duration: answer.duration,
        by: answered_by(&headers),
    };
    state.asks.answer(&ask.id, reply).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Close a request without an answer
#[utoipa::path(delete, path = "/api/asks/{id}", tag = "asks",
    params(("id" = String, Path, description = "The request")), responses(
    (status = 204, description = "Nothing was decided; the asker may ask again"),
    (status = 404, description = "`ask_not_found`: it is no longer open", body = ApiError),
))]
async fn dismiss(
    State(state): State<Arc<AskState>>,
    Id(id): Id,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    let ask = state.find(&id)?;
    let reply = Reply {
        by: answered_by(&headers),
        ..Reply::default()
    };
    state.asks.answer(&ask.id, reply).await?;
    Ok(StatusCode::NO_CONTENT)
}
