//! Open requests to the person over REST and WebSocket, for every place where they can be answered.

mod socket;
pub mod wire;

use std::sync::Arc;

use axum::{
    Extension, Json,
    extract::State,
    http::{HeaderMap, StatusCode, header},
};
use gangway_core::{Ask, AskBody, AskError, AskId, Asks, By, Hub, Reply};
use tokio::sync::watch;
use wire::{AnswerAsk, AskInfo, AskList};

use crate::{
    Http,
    access::{Rate, Scope, scope},
    auth::Admitted,
    client_header,
    error::{ApiError, ApiResult},
    extract::{self, Id},
    routes::Routes,
};

/// What the routes use.
pub struct AskState {
    pub http: Arc<Http>,
    pub hub: Arc<Hub>,
    pub asks: Arc<Asks>,
    /// Counts up whenever the permissions of some origin change.
    pub permissions: watch::Receiver<u64>,
}

/// Keys with the scope `chat` see and answer requests of their sessions; all others need the scope `admin`.
#[must_use]
pub fn routes() -> Routes<Arc<AskState>> {
    let chat = || scope(Scope::Chat);
    Routes::new()
        .get("/api/asks", chat(), list)
        .get("/api/asks/{id}", chat(), show)
        .post("/api/asks/{id}", chat().json(), answer)
        .delete("/api/asks/{id}", chat(), dismiss)
        .get("/ws/asks", chat().rate(Rate::Messages), socket::open)
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
    async fn may_see(&self, admitted: &Admitted, ask: &Ask) -> bool {
        if admitted.may(&self.http, Scope::Admin) {
            return true;
        }
        let AskBody::Message { session, .. } = &ask.body else {
            return false;
        };
        let described = self.hub.describe(*session).await;
        described
            .is_ok_and(|(profile, _)| admitted.may_use_session_of(&self.http, &self.hub, &profile))
    }

    async fn visible(&self, admitted: &Admitted) -> Vec<AskInfo> {
        let mut seen = Vec::new();
        for ask in self.asks.list() {
            if self.may_see(admitted, &ask).await {
                seen.push(AskInfo::from(&*ask));
            }
        }
        seen
    }

    /// An open request that this client may see.
    async fn find(&self, admitted: &Admitted, id: &str) -> ApiResult<Arc<Ask>> {
        let found = id.parse().ok().and_then(|id: AskId| self.asks.get(&id));
        match found {
            Some(ask) if self.may_see(admitted, &ask).await => Ok(ask),
            _ => Err(AskError::NotFound.into()),
        }
    }
}

/// A browser sends where a change comes from, a terminal does not; the extension's bridge names itself.
#[must_use]
pub fn answered_by(headers: &HeaderMap) -> By {
    match headers.contains_key(header::ORIGIN) {
        _ if client_header::is_extension(headers) => By::Extension,
        true => By::Person,
        false => By::Terminal,
    }
}

/// List the requests that wait for the person
#[utoipa::path(get, path = "/api/asks", tag = "asks", responses((status = 200, body = AskList)))]
async fn list(
    State(state): State<Arc<AskState>>,
    Extension(admitted): Extension<Admitted>,
) -> Json<AskList> {
    let asks = state.visible(&admitted).await;
    Json(AskList { asks })
}

/// Get one request
#[utoipa::path(get, path = "/api/asks/{id}", tag = "asks",
    params(("id" = String, Path, description = "The request")), responses(
    (status = 200, body = AskInfo),
    (status = 404, description = "`ask_not_found`: it is no longer open", body = ApiError),
))]
async fn show(
    State(state): State<Arc<AskState>>,
    Extension(admitted): Extension<Admitted>,
    Id(id): Id,
) -> ApiResult<Json<AskInfo>> {
    let ask = state.find(&admitted, &id).await?;
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
    Extension(admitted): Extension<Admitted>,
    Id(id): Id,
    headers: HeaderMap,
    extract::Json(answer): extract::Json<AnswerAsk>,
) -> ApiResult<StatusCode> {
    let ask = state.find(&admitted, &id).await?;
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
    Extension(admitted): Extension<Admitted>,
    Id(id): Id,
    headers: HeaderMap,
) -> ApiResult<StatusCode> {
    let ask = state.find(&admitted, &id).await?;
    let reply = Reply {
        by: answered_by(&headers),
        ..Reply::default()
    };
    state.asks.answer(&ask.id, reply).await?;
    Ok(StatusCode::NO_CONTENT)
}
