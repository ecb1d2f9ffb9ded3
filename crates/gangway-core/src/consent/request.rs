//! Asks the user whether an applet or app may send a message to the agent of a session.

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::{
    asks::{Answering, AskBody, AskDecision, Asker, Asks, Lane, NewAsk, Reply},
    command::{Command, Receipt},
    error::{Error, Result},
    event::{Consent, Event},
    hub::Hub,
    id::{SessionId, Slug},
    log::SubscriptionEnd,
    sanitize::escape_text,
    session::Session,
};

/// Timeout of a request.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Open requests of one applet in one session.
const LIMIT: usize = 8;

/// Displayed characters of a message.
const SHOWN: usize = 2000;

/// Bytes of events that are read at once.
const CHUNK: usize = 64 << 10;

/// The outcome of a consent request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentOutcome {
    /// Allowed, now or earlier.
    Allowed,
    /// Denied, now or earlier.
    Denied,
    /// Timed out or dismissed.
    TimedOut,
    /// Withdrawn by the caller.
    Withdrawn,
    /// Too many open requests of this applet.
    QueueFull,
}

impl From<Consent> for ConsentOutcome {
    fn from(consent: Consent) -> Self {
        match consent {
            Consent::Allowed | Consent::Once => Self::Allowed,
            Consent::Denied | Consent::Open => Self::Denied,
        }
    }
}

/// A message that waits for the user's consent.
#[derive(Debug, Clone)]
pub struct AwaitingConsent {
    /// The message.
    pub prompt: String,
    /// When the request was opened.
    pub since: Timestamp,
}

/// Consent requests of all sessions of a hub. They stay open when the page that caused them is closed.
#[derive(Clone)]
pub struct Consents {
    hub: Arc<Hub>,
    asks: Arc<Asks>,
}

fn lane(session: SessionId, applet: &Slug) -> String {
    format!("message/{session}/{applet}")
}

impl Consents {
    /// Consent requests for the sessions of this hub.
    #[must_use]
    pub fn new(hub: Arc<Hub>, asks: Arc<Asks>) -> Self {
        Self { hub, asks }
    }

    /// Whether the user lets an app or applet send this message. If that is undecided, asks and calls `asked`;
    /// `withdrawn` withdraws the request.
    pub async fn request(
        &self,
        session: &Arc<Session>,
        asker: Asker,
        prompt: &str,
        withdrawn: &CancellationToken,
        asked: impl Fn(),
    ) -> Result<ConsentOutcome> {
        let (Asker::App(applet, _) | Asker::Applet(applet, _)) = asker.clone() else {
            return Ok(ConsentOutcome::Denied);
        };
        match self.hub.consent(session.id(), &applet).await? {
            Consent::Open => {}
            decided => return Ok(decided.into()),
        }
        let text: String = escape_text(prompt).chars().take(SHOWN).collect();
        let new = NewAsk {
            asker,
            body: AskBody::Message {
                session: session.id(),
                text: text.clone(),
            },
            lane: Lane {
                name: lane(session.id(), &applet),
                limit: LIMIT,
                one_at_a_time: true,
            },
            timeout: Some(TIMEOUT),
            hidden: false,
            // It has events of its own, which the chat shows.
            session: None,
        };
        let dismissed = CancellationToken::new();
        let answering = self.answering(session, &applet, dismissed.clone());
        let Ok(open) = self.asks.open(new, answering) else {
            return Ok(ConsentOutcome::QueueFull);
        };
        let deciding = async {
            // Before the event is logged: its readers look up the request.
            open.shown().await;
            decided(session, &applet, text, asked).await
        };
        let outcome = tokio::select! {
            decided = deciding => decided?.map_or(ConsentOutcome::TimedOut, Into::into),
            () = dismissed.cancelled() => ConsentOutcome::TimedOut,
            () = withdrawn.cancelled() => ConsentOutcome::Withdrawn,
        };
        drop(open);
        if matches!(
            outcome,
            ConsentOutcome::TimedOut | ConsentOutcome::Withdrawn
        ) {
            // The chat shows the request until an event says that it is over.
            session
                .submit(Command::WithdrawConsentRequest { applet })
                .await?;
        }
        Ok(outcome)
    }

    fn answering(
        &self,
        session: &Arc<Session>,
        applet: &Slug,
        dismissed: CancellationToken,
    ) -> Answering {
        let (this, session, applet) = (self.clone(), Arc::clone(session), applet.clone());
        Arc::new(move |_, reply: Reply| {
            let (this, session) = (this.clone(), Arc::clone(&session));
            let (applet, dismissed) = (applet.clone(), dismissed.clone());
            Box::pin(async move {
                let consent = match reply.decision {
                    AskDecision::Once => Consent::Once,
                    AskDecision::Always => {
                        this.hub.set_speaks_always(&applet, true).await?;
                        Consent::Allowed
                    }
                    AskDecision::Deny => Consent::Denied,
                    AskDecision::Dismiss => {
                        dismissed.cancel();
                        return Ok(());
                    }
                };
                Ok(this.decide(&session, applet, consent).await?)
            })
        })
    }

    /// The applets of a session whose request is open.
    #[must_use]
    pub fn waiting(&self, session: SessionId) -> Vec<(Slug, AwaitingConsent)> {
        let mut waiting = Vec::new();
        for ask in self.asks.list() {
            if let AskBody::Message { session: of, text } = &ask.body
                && *of == session
                && let Asker::App(slug, _) | Asker::Applet(slug, _) = &ask.asker
            {
                let awaiting = AwaitingConsent {
                    prompt: text.clone(),
                    since: ask.asked_at,
                };
                waiting.push((slug.clone(), awaiting));
            }
        }
        waiting
    }

    /// Decides about an applet in a session, and about its waiting messages.
    pub async fn decide(&self, session: &Session, applet: Slug, consent: Consent) -> Result<()> {
        if consent != Consent::Open {
            // Before the event is logged: its readers look up which requests are open.
            let lane = lane(session.id(), &applet);
            self.asks.settle(&lane, consent != Consent::Once);
        }
        let decided = session.submit(Command::SetConsent { applet, consent });
        decided.await.map(|_| ())
    }
}

/// The user's decision; `None` on a timeout.
async fn decided(
    session: &Arc<Session>,
    applet: &Slug,
    prompt: String,
    asked: impl Fn(),
) -> Result<Option<Consent>> {
    let command = Command::RequestConsent {
        applet: applet.clone(),
        prompt,
    };
    let Receipt::Consent { consent, seq } = session.submit(command).await? else {
        return Err(Error::Stopping);
    };
    if consent != Consent::Open {
        // It was decided while others were before it in the queue.
        return Ok(Some(consent));
    }
    asked();
    let mut events = session.subscribe(seq);
    let decision = async {
        loop {
            let next = match events.next(CHUNK).await? {
                Ok(next) => next,
                Err(SubscriptionEnd::Deleted) => return Err(Error::SessionNotFound(session.id())),
                Err(_) => return Err(Error::Stopping),
            };
            for logged in next {
                if let Event::ConsentChanged {
                    applet: of,
                    consent,
                } = &logged.event
                    && of == applet
                    && *consent != Consent::Open
                {
                    return Ok(*consent);
                }
            }
        }
    };
    match tokio::time::timeout(TIMEOUT, decision).await {
        Ok(consent) => Ok(Some(consent?)),
        Err(_) => Ok(None),
    }
}
