//! What an app says goes to its agent, and the other way.

use std::sync::Arc;

use gangway_apps::manifest::Delivery;
use gangway_core::{
    AppNews, AppRefusal, Command, Error, Launch, LaunchId, Leave, Noted, Receipt, Result, Session,
    Slug, Source, WhenBusy,
};
use serde_json::Value;

use crate::{Launches, Weblets, launch::is_ours};

/// Lists and objects in each other, in what apps and agents say.
pub(crate) const DEEPEST: usize = 64;

/// Something that an app tells its agent.
#[derive(Debug, Clone)]
pub(crate) struct Emit {
    /// The name that the page gave it.
    pub(crate) id: String,
    /// What kind of thing.
    pub(crate) event: String,
    /// More about it.
    pub(crate) payload: Value,
}

/// Something that an app wants done.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// The name that the page gave it.
    pub(crate) id: String,
    /// What is to be done.
    pub(crate) action: String,
    /// With what.
    pub(crate) params: Value,
}

/// What came of a request.
pub(crate) type Answer = std::result::Result<Value, AppRefusal>;

impl Launches {
    /// Notes what happened in the log of a launch's session; its number.
    async fn note(&self, session: &Session, launch: &Launch, news: AppNews) -> Result<u64> {
        let inside = match &news {
            AppNews::Emitted { payload, .. } | AppNews::Told { payload, .. } => Some(payload),
            AppNews::Requested { params, .. } => Some(params),
            AppNews::Answered { result, .. } => result.as_ref().ok(),
            AppNews::Launched { .. } | AppNews::Taken { .. } | AppNews::Begun { .. } => None,
        };
        // What is nested too deeply could be written, and never read again.
        if inside.is_some_and(|value| is_deeper(value, DEEPEST)) {
            return Err(Error::TooDeep { limit: DEEPEST });
        }
        let command = Command::App {
            launch: launch.id,
            app: launch.app.clone(),
            news: Box::new(news),
        };
        match session.submit(command).await? {
            Receipt::Noted { seq } => Ok(seq),
            _ => Ok(0),
        }
    }

    /// The agent has it. False when there is nothing of that name.
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
        self.note(session, launch, news).await?;
        Ok(true)
    }

    /// Notes that a request is about to be done; after this it is never done again.
    pub(crate) async fn mark_begun(
        &self,
        session: &Session,
        launch: &Launch,
        request: &str,
    ) -> Result<()> {
        let request = request.to_owned();
        let news = AppNews::Begun { request };
        self.note(session, launch, news).await.map(|_| ())
    }

    /// Answers a request. False when there is none of that name.
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
        self.note(session, launch, news).await?;
        Ok(true)
    }

    /// Tells an app something; the number of it in the log.
    pub(crate) async fn send_event(
        &self,
        session: &Session,
        launch: &Launch,
        event: String,
        payload: Value,
        source: Source,
    ) -> Result<u64> {
        let news = AppNews::Told {
            event,
            payload,
            source,
        };
        self.note(session, launch, news).await
    }
}

impl Weblets {
    /// Takes in what an app tells its agent. It is kept when this returns; true when the agent has it too.
    pub(crate) async fn receive_event(
        self: &Arc<Self>,
        session: &Arc<Session>,
        launch: &Launch,
        about: Option<&gangway_apps::App>,
        emit: Emit,
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
            let message = "too much waits for the agent already".to_owned();
            let code = "E-AGT-003".to_owned();
            return Ok(Err(AppRefusal { code, message }));
        }
        let manifest = about.map(|app| &app.manifest);
        let declared = manifest.is_none_or(|manifest| manifest.declares(&emit.event));
        if !declared {
            tracing::warn!(app = %launch.app, "an app emits an event that its manifest does not list");
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
        self.launches.note(session, launch, news).await?;
        match leave {
            Leave::Allowed => self.tell_as_turn(session, launch, &emit).await?,
            // The person is asked, and the app need not wait for that.
            Leave::Open => {
                let (weblets, session, launch) =
                    (Arc::clone(self), Arc::clone(session), launch.clone());
                let emit = emit.clone();
                self.http.sockets.spawn(async move {
                    let words = said(&emit);
                    if weblets.lets_speak(&session, &launch, &words).await {
                        let told = weblets.tell_as_turn(&session, &launch, &emit).await;
                        if let Err(error) = told {
                            tracing::warn!(%error, "an event of an app did not become a turn");
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

    /// Takes in what an app wants done; the answer, where there is one already. Otherwise it comes through the log.
    pub(crate) async fn receive_request(
        self: &Arc<Self>,
        session: &Arc<Session>,
        launch: &Launch,
        request: Request,
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
            let message = "too much waits for the agent already".to_owned();
            let code = "E-AGT-005".to_owned();
            return Ok(Some(Err(AppRefusal { code, message })));
        }
        let news = AppNews::Requested {
            request: id.clone(),
            action: action.clone(),
            params: params.clone(),
        };
        self.launches.note(session, launch, news).await?;
        // Sent again while it is being done, it is not done twice. Held before the answer is looked for, which comes first.
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
                // What had not begun is done when the server is back and the page asks again.
                () = weblets.http.stop.cancelled() => return,
            };
            let answered = weblets
                .launches
                .answer_request(&session, &launch, &id, result, "gangway")
                .await;
            if let Err(error) = answered {
                tracing::warn!(%error, "an answer to an app could not be kept");
            }
            drop(busy);
        });
        Ok(None)
    }
}

/// Whether lists and objects stand deeper in each other than this.
pub(crate) fn is_deeper(value: &Value, left: usize) -> bool {
    match value {
        Value::Array(items) => left == 0 || items.iter().any(|item| is_deeper(item, left - 1)),
        Value::Object(fields) => {
            left == 0 || fields.values().any(|field| is_deeper(field, left - 1))
        }
        _ => false,
    }
}

/// The answer to what had begun when the server ended: as little is known of it as of one that was not waited for.
fn cut_off() -> AppRefusal {
    let words = "the server stopped while this was being done; it may or may not have happened";
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

/// A request that is being done, until dropped.
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
