//! Delivers events and requests of an app to its agent, and events of the agent to the app.

use std::sync::Arc;

use gangway_apps::manifest::Delivery;
use gangway_core::{
    AppNews, AppRefusal, Command, Error, Launch, LaunchId, Leave, Noted, Receipt, Result, Session,
    Slug, Source, WhenBusy,
};
use serde_json::Value;

use crate::{Launches, Weblets, launch::is_ours, order::Turn};

/// Nesting limit of payloads, params and results.
pub(crate) const DEEPEST: usize = 64;

/// An event of an app.
#[derive(Debug, Clone)]
pub(crate) struct Emit {
    /// Chosen by the page.
    pub(crate) id: String,
    pub(crate) event: String,
    pub(crate) payload: Value,
}

/// A request of an app.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Chosen by the page.
    pub(crate) id: String,
    pub(crate) action: String,
    pub(crate) params: Value,
}

pub(crate) type Answer = std::result::Result<Value, AppRefusal>;

impl Launches {
    /// Appends to the log of a launch's session; returns the number. A turn ends when the session has it in its queue.
    async fn note(
        &self,
        session: &Session,
        launch: &Launch,
        news: AppNews,
        turn: Option<Turn>,
    ) -> Result<u64> {
        let inside = match &news {
            AppNews::Emitted { payload, .. } | AppNews::Told { payload, .. } => Some(payload),
            AppNews::Requested { params, .. } => Some(params),
            AppNews::Answered { result, .. } => result.as_ref().ok(),
            AppNews::Launched { .. } | AppNews::Taken { .. } | AppNews::Begun { .. } => None,
        };
        // More deeply nested values could be written, but not read again.
        if inside.is_some_and(|value| is_deeper(value, DEEPEST)) {
            return Err(Error::TooDeep { limit: DEEPEST });
        }
        let command = Command::App {
            launch: launch.id,
            app: launch.app.clone(),
            news: Box::new(news),
        };
        let enqueued = session.enqueue(command).await?;
        drop(turn);
        match enqueued.receipt().await? {
            Receipt::Noted { seq } => Ok(seq),
            _ => Ok(0),
        }
    }

    /// Acknowledges an event. False if there is none with this id.
    pub(crate) async fn acknowledge(
        &self,
        session: &Session,
        launch: &Launch,
        id: &str,
        by: &str,
    ) -> Result<bool> {
        if self
            .hub()?
            .noted(launch, Noted::Emitted, id)
            .await?
            .is_none()
        {
            return Ok(false);
        }
        let news = AppNews::Taken {
            id: id.to_owned(),
            by: by.to_owned(),
        };
        self.note(session, launch, news, None).await?;
        Ok(true)
    }

    /// Records that a request is about to be carried out; after this it is never carried out again.
    pub(crate) async fn mark_begun(
        &self,
        session: &Session,
        launch: &Launch,
        request: &str,
    ) -> Result<()> {
        let request = request.to_owned();
        let news = AppNews::Begun { request };
        self.note(session, launch, news, None).await.map(|_| ())
    }

    /// Answers a request. False if there is none with this id.
    pub(crate) async fn answer_request(
        &self,
        session: &Session,
        launch: &Launch,
        request: &str,
        result: Answer,
        by: &str,
    ) -> Result<bool> {
        if self
            .hub()?
            .noted(launch, Noted::Requested, request)
            .await?
            .is_none()
        {
            return Ok(false);
        }
        let news = AppNews::Answered {
            request: request.to_owned(),
            result,
            by: by.to_owned(),
        };
        self.note(session, launch, news, None).await?;
        Ok(true)
    }

    /// Sends an event to an app; returns its number in the log.
    pub(crate) async fn send_event(
        &self,
        session: &Session,
        launch: &Launch,
        event: String,
        payload: Value,
        source: Source,
        turn: Option<Turn>,
    ) -> Result<u64> {
        let news = AppNews::Told {
            event,
            payload,
            source,
        };
        self.note(session, launch, news, turn).await
    }
}

impl Weblets {
    /// Accepts an event of an app. It is stored when this returns; true if the agent has it too.
    pub(crate) async fn receive_event(
        self: &Arc<Self>,
        session: &Arc<Session>,
        launch: &Launch,
        about: Option<&gangway_apps::App>,
        emit: Emit,
        turn: Turn,
    ) -> Result<std::result::Result<bool, AppRefusal>> {
        let inside = launch.in_house;
        if !inside
            && self
                .launches
                .inbox(launch)
                .is_full(&self.launches, launch)
                .await?
            && self
                .hub
                .noted(launch, Noted::Emitted, &emit.id)
                .await?
                .is_none()
        {
            let message = "too many events and requests are waiting for the agent".to_owned();
            let code = "E-AGT-003".to_owned();
            return Ok(Err(AppRefusal { code, message }));
        }
        let manifest = about.map(|app| &app.manifest);
        let declared = manifest.is_none_or(|manifest| manifest.declares(&emit.event));
        if !declared {
            tracing::warn!(app = %launch.app, "an app emitted an event that is not in its manifest");
        }
        let delivery = manifest.map(|manifest| manifest.delivery(&emit.event));
        let wants_turn = inside && delivery == Some(Delivery::Turn);
        let leave = match wants_turn {
            true => {
                self.hub
                    .leave(session.id(), &Slug::from(launch.app.clone()))
                    .await?
            }
            false => Leave::Denied,
        };
        let news = AppNews::Emitted {
            id: emit.id.clone(),
            event: emit.event.clone(),
            payload: emit.payload.clone(),
            declared,
            turn: leave == Leave::Allowed,
            taken: inside,
        };
        self.launches
            .note(session, launch, news, Some(turn))
            .await?;
        match leave {
            Leave::Allowed => self.tell_as_turn(session, launch, &emit).await?,
            // The user is asked, and the app need not wait for the decision.
            Leave::Open => {
                let (weblets, session, launch) =
                    (Arc::clone(self), Arc::clone(session), launch.clone());
                let emit = emit.clone();
                self.http.sockets.spawn(async move {
                    let words = said(&emit);
                    if weblets.lets_speak(&session, &launch, &words).await {
                        let told = weblets.tell_as_turn(&session, &launch, &emit).await;
                        if let Err(error) = told {
                            tracing::warn!(%error, "an event of an app could not start a turn");
                        }
                    }
                });
            }
            Leave::Denied | Leave::Once => {}
        }
        if inside {
            return Ok(Ok(true));
        }
        Ok(Ok(self
            .hub
            .noted(launch, Noted::Taken, &emit.id)
            .await?
            .is_some()))
    }

    async fn tell_as_turn(&self, session: &Session, launch: &Launch, emit: &Emit) -> Result<()> {
        let command = Command::Prompt {
            prompt: said(emit),
            source: Source::Applet {
                slug: launch.app.to_string(),
            },
            shown: true,
            when_busy: WhenBusy::Queue,
        };
        let name = Noted::Carried.name(launch.id, &emit.id);
        session.submit_once(command, name).await.map(|_| ())
    }

    /// Accepts a request of an app; returns the answer if there is one already. Otherwise it comes through the log.
    pub(crate) async fn receive_request(
        self: &Arc<Self>,
        session: &Arc<Session>,
        launch: &Launch,
        request: Request,
        turn: Turn,
    ) -> Result<Option<Answer>> {
        let Request { id, action, params } = request;
        if !launch.in_house
            && self
                .launches
                .inbox(launch)
                .is_full(&self.launches, launch)
                .await?
            && self
                .hub
                .noted(launch, Noted::Requested, &id)
                .await?
                .is_none()
        {
            let message = "too many events and requests are waiting for the agent".to_owned();
            let code = "E-AGT-005".to_owned();
            return Ok(Some(Err(AppRefusal { code, message })));
        }
        let news = AppNews::Requested {
            request: id.clone(),
            action: action.clone(),
            params: params.clone(),
        };
        self.launches
            .note(session, launch, news, Some(turn))
            .await?;
        // A repeated request that is being carried out is not carried out twice. Taken before the lookup of the
        // answer, which is stored first.
        let busy = Busy::begin(self, launch.id, &id);
        if let Some((_, AppNews::Answered { result, .. })) =
            self.hub.noted(launch, Noted::Answered, &id).await?
        {
            return Ok(Some(result));
        }
        if !is_ours(launch, &action) {
            if launch.in_house {
                let refusal = AppRefusal {
                    code: "E-AGT-006".to_owned(),
                    message: format!("Agent does not support action: {action}"),
                };
                self.launches
                    .answer_request(session, launch, &id, Err(refusal), "gangway")
                    .await?;
            }
            return Ok(None);
        }
        let Some(busy) = busy else {
            return Ok(None);
        };
        if self.hub.noted(launch, Noted::Begun, &id).await?.is_some() {
            self.launches
                .answer_request(session, launch, &id, Err(cut_off()), "gangway")
                .await?;
            return Ok(None);
        }
        let (weblets, session, launch) = (Arc::clone(self), Arc::clone(session), launch.clone());
        self.http.sockets.spawn(async move {
            let busy = busy;
            let result = tokio::select! {
                result = weblets.act(&session, &launch, &id, &action, params) => result,
                // A request that was not started is carried out after a restart, when the page repeats it.
                () = weblets.http.stop.cancelled() => return,
            };
            let answered = weblets
                .launches
                .answer_request(&session, &launch, &id, result, "gangway")
                .await;
            if let Err(error) = answered {
                tracing::warn!(%error, "cannot store an answer to an app");
            }
            drop(busy);
        });
        Ok(None)
    }
}

/// Whether a value is nested more deeply than this.
pub(crate) fn is_deeper(value: &Value, left: usize) -> bool {
    match value {
        Value::Array(items) => left == 0 || items.iter().any(|item| is_deeper(item, left - 1)),
        Value::Object(fields) => {
            left == 0 || fields.values().any(|field| is_deeper(field, left - 1))
        }
        _ => false,
    }
}

/// The answer to a request that was interrupted by a restart: like after a timeout, its effect is unknown.
fn cut_off() -> AppRefusal {
    let words =
        "the server stopped while this was in progress; it may or may not have taken effect";
    AppRefusal {
        code: "E-AGT-005".to_owned(),
        message: words.to_owned(),
    }
}

/// An event as a message to the agent.
fn said(emit: &Emit) -> String {
    match &emit.payload {
        Value::Null => format!("event {}", emit.event),
        payload => format!("event {} {payload}", emit.event),
    }
}

/// Marks a request as in progress until dropped.
struct Busy {
    weblets: Arc<Weblets>,
    key: (LaunchId, String),
}

impl Busy {
    fn begin(weblets: &Arc<Weblets>, launch: LaunchId, request: &str) -> Option<Self> {
        let key = (launch, request.to_owned());
        let fresh = weblets.busy.lock().insert(key.clone());
        fresh.then(|| Self {
            weblets: Arc::clone(weblets),
            key,
        })
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.weblets.busy.lock().remove(&self.key);
    }
}
