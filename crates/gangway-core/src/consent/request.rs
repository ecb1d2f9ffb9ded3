//! Asks the person whether an applet, or an app, may speak in a session.

use std::{sync::Arc, time::Duration};

use tokio_util::sync::CancellationToken;

use super::queue::{AwaitingConsent, ConsentQueue};
use crate::{
    command::{Command, Receipt},
    error::{Error, Result},
    event::{Event, Leave},
    hub::Hub,
    id::{SessionId, Slug},
    log::Ended,
    sanitize::escape_text,
    session::Session,
};

/// How long a person is waited for.
const TIMEOUT: Duration = Duration::from_secs(120);

/// Characters of a message that the person is shown.
const SHOWN: usize = 2000;

/// Bytes of events that are taken in one go.
const CHUNK: usize = 64 << 10;

/// What came of a request for consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConsentOutcome {
    /// The person allows it, now or earlier.
    Allowed,
    /// The person denies it, now or earlier.
    Denied,
    /// Nobody decided in time.
    TimedOut,
    /// The caller took the request back.
    Withdrawn,
    /// Too many requests of this applet wait already.
    QueueFull,
}

impl From<Leave> for ConsentOutcome {
    fn from(leave: Leave) -> Self {
        match leave {
            Leave::Allowed | Leave::Once => Self::Allowed,
            Leave::Denied | Leave::Open => Self::Denied,
        }
    }
}

/// Requests for the person's consent, of all sessions of a hub. A request stays open when the page that made it is gone.
pub struct Consents {
    hub: Arc<Hub>,
    queue: Arc<ConsentQueue>,
}

impl Consents {
    /// Requests in the sessions of this hub.
    #[must_use]
    pub fn new(hub: Arc<Hub>) -> Self {
        Self {
            hub,
            queue: Arc::default(),
        }
    }

    /// Whether the person lets an applet say this. Asks where that is not decided, and calls `asked` when it does;
    /// `withdrawn` takes the request back.
    pub async fn request(
        &self,
        session: &Arc<Session>,
        applet: &Slug,
        prompt: &str,
        withdrawn: &CancellationToken,
        asked: impl Fn(),
    ) -> Result<ConsentOutcome> {
        match self.hub.leave(session.id(), applet).await? {
            Leave::Open => {}
            decided => return Ok(decided.into()),
        }
        let Some(mut place) = self.queue.enter(session.id(), applet) else {
            return Ok(ConsentOutcome::QueueFull);
        };
        let shown: String = escape_text(prompt).chars().take(SHOWN).collect();
        let asking = async {
            // Before the event is logged: its readers look up the request.
            place.show(shown.clone()).await;
            decided(session, applet, shown.clone(), asked).await
        };
        let decided = withdrawn.run_until_cancelled(asking).await;
        drop(place);
        let outcome = match decided {
            Some(decided) => decided?.map_or(ConsentOutcome::TimedOut, Into::into),
            None => ConsentOutcome::Withdrawn,
        };
        if matches!(
            outcome,
            ConsentOutcome::TimedOut | ConsentOutcome::Withdrawn
        ) {
            // The chat shows the request until an event says that it is over.
            let applet = applet.clone();
            session.submit(Command::UnaskLeave { applet }).await?;
        }
        Ok(outcome)
    }

    /// The applets of a session whose request is before the person.
    #[must_use]
    pub fn waiting(&self, session: SessionId) -> Vec<(Slug, AwaitingConsent)> {
        self.queue.waiting(session)
    }

    /// Decides about an applet in a session, and about what it waits to say.
    pub async fn decide(&self, session: &Session, applet: Slug, leave: Leave) -> Result<()> {
        if leave != Leave::Open {
            // Before the event is logged: its readers look up which requests are open.
            self.queue.answered(session.id(), &applet);
        }
        let decided = session.submit(Command::SetLeave { applet, leave });
        decided.await.map(|_| ())
    }
}

/// The person's decision, or nothing in time.
async fn decided(
    session: &Arc<Session>,
    applet: &Slug,
    prompt: String,
    asked: impl Fn(),
) -> Result<Option<Leave>> {
    let command = Command::AskLeave {
        applet: applet.clone(),
        prompt,
    };
    let Receipt::Leave { leave, seq } = session.submit(command).await? else {
        return Err(Error::Stopping);
    };
    if leave != Leave::Open {
        // Decided while others were before it.
        return Ok(Some(leave));
    }
    asked();
    let mut events = session.subscribe(seq);
    let decision = async {
        loop {
            let next = match events.next(CHUNK).await? {
                Ok(next) => next,
                Err(Ended::Deleted) => return Err(Error::SessionNotFound(session.id())),
                Err(_) => return Err(Error::Stopping),
            };
            for logged in next {
                if let Event::LeaveChanged { applet: of, leave } = &logged.event
                    && of == applet
                    && *leave != Leave::Open
                {
                    return Ok(*leave);
                }
            }
        }
    };
    match tokio::time::timeout(TIMEOUT, decision).await {
        Ok(leave) => Ok(Some(leave?)),
        Err(_) => Ok(None),
    }
}
