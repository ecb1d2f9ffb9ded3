//! Delivers events and requests of an app to its agent, and events of the agent to the app.

use std::sync::Arc;

use gangway_apps::manifest::Delivery;
use gangway_core::{
    AppEvent, AppEventKind, AppRefusal, Command, Consent, Error, Launch, LaunchId, Receipt, Result,
    Session, Slug, Source, WhenBusy,
};
use serde_json::Value;

use crate::{Launches, Weblets, launch::is_ours, order::MessageTurn};

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

pub(crate) type AppResult = std::result::Result<Value, AppRefusal>;

impl Launches {
    /// Appends to the log of a launch's session; returns the number. A turn ends when the session has it in its queue.
    async fn note(
        &self,
        session: &Session,
        launch: &Launch,
        app_event: AppEvent,
        turn: Option<MessageTurn>,
    ) -> Result<u64> {
        let inside = match &app_event {
            AppEvent::Emitted { payload, .. } | AppEvent::Told { payload, .. } => Some(payload),
            AppEvent::Requested { params, .. } => Some(params),
            AppEvent::Answered { result, .. } => result.as_ref().ok(),
            AppEvent::Launched { .. } | AppEvent::Taken { .. } | AppEvent::Begun { .. } => None,
        };
        // More deeply nested values could be written, but not read again.
        if inside.is_some_and(|value| is_deeper(value, DEEPEST)) {
            return Err(Error::TooDeep { limit: DEEPEST });
        }
        let command = Command::App {
            launch: launch.id,
            app: launch.app.clone(),
            app_event: Box::new(app_event),
        };
        let enqueued = session.enqueue(command).await?;
        drop(turn);
        match enqueued.receipt().await? {
            Receipt::Logged { seq } => Ok(seq),
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
            .find_app_event(launch, AppEventKind::Emitted, id)
            .await?
            .is_none()
        {
            return Ok(false);
        }
        let app_event = AppEvent::Taken {
            id: id.to_owned(),
            by: by.to_owned(),
        };
        self.note(session, launch, app_event, None).await?;
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
        let app_event = AppEvent::Begun { request };
        self.note(session, launch, app_event, None)
            .await
            .map(|_| ())
    }

    /// Answers a request. False if there is none with this id.
    pub(crate) async fn answer_request(
        &self,
        session: &Session,
        launch: &Launch,
        request: &str,
        result: AppResult,
        by: &str,
    ) -> Result<bool> {
        if self
            .hub()?
            .find_app_event(launch, AppEventKind::Requested, request)
            .await?
            .is_none()
        {
            return Ok(false);
        }
        let app_event = AppEvent::Answered {
            request: request.to_owned(),
            result,
            by: by.to_owned(),
        };
        self.note(session, launch, app_event, None).await?;
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
        turn: Option<MessageTurn>,
    ) -> Result<u64> {
        let app_event = AppEvent::Told {
            event,
            payload,
            source,
        };
        self.note(session, launch, app_event, turn).await
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
        turn: MessageTurn,
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
                .find_app_event(launch, AppEventKind::Emitted, &emit.id)
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
        let consent = match wants_turn {
            true => {
                self.hub
                    .consent(session.id(), &Slug::from(launch.app.clone()))
                    .await?
            }
            false => Consent::Denied,
        };
        let app_event = AppEvent::Emitted {
            id: emit.id.clone(),
            event: emit.event.clone(),
            payload: emit.payload.clone(),
            declared,
            turn: consent == Consent::Allowed,
            taken: inside,
        };
        self.launches
            .note(session, launch, app_event, Some(turn))
            .await?;
        match consent {
            Consent::Allowed => self.send_as_turn(session, launch, &emit).await?,
            // The user is asked, and the app need not wait for the decision.
            Consent::Open => {
                let (weblets, session, launch) =
                    (Arc::clone(self), Arc::clone(session), launch.clone());
                let emit = emit.clone();
                self.http.sockets.spawn(async move {
                    let text = event_text(&emit);
                    if weblets.lets_speak(&session, &launch, &text).await {
                        let outgoing = weblets.send_as_turn(&session, &launch, &emit).await;
                        if let Err(error) = outgoing {
                            tracing::warn!(%error, "an event of an app could not start a turn");
                        }
                    }
                });
            }
            Consent::Denied | Consent::Once => {}
        }
        if inside {
            return Ok(Ok(true));
        }
        Ok(Ok(self
            .hub
            .find_app_event(launch, AppEventKind::Taken, &emit.id)
            .await?
            .is_some()))
    }

    async fn send_as_turn(&self, session: &Session, launch: &Launch, emit: &Emit) -> Result<()> {
        let command = Command::Prompt {
            prompt: event_text(emit),
            source: Source::Applet {
                slug: launch.app.to_string(),
            },
            shown: true,
            when_busy: WhenBusy::Queue,
        };
        let name = AppEventKind::Carried.name(launch.id, &emit.id);
        session.submit_once(command, name).await.map(|_| ())
    }

    /// Accepts a request of an app; returns the answer if there is one already. Otherwise it comes through the log.
    pub(crate) async fn receive_request(
        self: &Arc<Self>,
        session: &Arc<Session>,
        launch: &Launch,
        request: Request,
        turn: MessageTurn,
    ) -> Result<Option<AppResult>> {
        let Request { id, action, params } = request;
        if !launch.in_house
            && self
                .launches
                .inbox(launch)
                .is_full(&self.launches, launch)
                .await?
            && self
                .hub
                .find_app_event(launch, AppEventKind::Requested, &id)
                .await?
                .is_none()
        {
            let message = "too many events and requests are waiting for the agent".to_owned();
            let code = "E-AGT-005".to_owned();
            return Ok(Some(Err(AppRefusal { code, message })));
        }
        let app_event = AppEvent::Requested {
            request: id.clone(),
            action: action.clone(),
            params: params.clone(),
        };
        self.launches
            .note(session, launch, app_event, Some(turn))
            .await?;
        // A repeated request that is being carried out is not carried out twice. Taken before the lookup of the
        // answer, which is stored first.
        let busy = RequestInProgress::begin(self, launch.id, &id);
        if let Some((_, AppEvent::Answered { result, .. })) = self
            .hub
            .find_app_event(launch, AppEventKind::Answered, &id)
            .await?
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
        if self
            .hub
            .find_app_event(launch, AppEventKind::Begun, &id)
            .await?
            .is_some()
        {
            self.launches
                .answer_request(session, launch, &id, Err(interrupted()), "gangway")
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
fn interrupted() -> AppRefusal {
    let text = "the server stopped while this was in progress; it may or may not have taken effect";
    AppRefusal {
        code: "E-AGT-005".to_owned(),
        message: text.to_owned(),
    }
}

/// An event as a message to the agent.
fn event_text(emit: &Emit) -> String {
    match &emit.payload {
        Value::Null => format!("event {}", emit.event),
        payload => format!("event {} {payload}", emit.event),
    }
}

/// Marks a request as in progress until dropped.
struct RequestInProgress {
    weblets: Arc<Weblets>,
    key: (LaunchId, String),
}

impl RequestInProgress {
    fn begin(weblets: &Arc<Weblets>, launch: LaunchId, request: &str) -> Option<Self> {
        let key = (launch, request.to_owned());
        let fresh = weblets.busy.lock().insert(key.clone());
        fresh.then(|| Self {
            weblets: Arc::clone(weblets),
            key,
        })
    }
}

impl Drop for RequestInProgress {
    fn drop(&mut self) {
        self.weblets.busy.lock().remove(&self.key);
    }
}
