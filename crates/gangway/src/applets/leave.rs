//! Asks the person whether an applet, or an app, may speak in a session.

use std::{sync::Arc, time::Duration};

use gangway_core::{
    Command, Ended, Error, Event, Leave, Receipt, Result, Session, Slug, sanitize::escape_text,
};
use tokio_util::sync::CancellationToken;

use crate::server::App;

/// How long a person is waited for.
const CONSENT: Duration = Duration::from_secs(120);

/// Characters of it that the person is shown.
const SHOWN: usize = 2000;

/// Bytes of events that are taken in one go.
const CHUNK: usize = 64 << 10;

/// What came of asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Word {
    /// It may speak.
    Yes,
    /// It may not.
    No,
    /// Nobody said so in time.
    Nobody,
    /// Whoever wanted to know does not any more.
    Withdrawn,
    /// Too many questions of this applet wait already.
    TooMany,
}

impl From<Leave> for Word {
    fn from(leave: Leave) -> Self {
        match leave {
            Leave::Allowed | Leave::Once => Self::Yes,
            Leave::Denied | Leave::Open => Self::No,
        }
    }
}

impl App {
    /// Whether the person lets an applet say this; asks where that is not decided, and tells when it does.
    pub async fn may_speak(
        &self,
        session: &Arc<Session>,
        applet: &Slug,
        prompt: &str,
        withdrawn: &CancellationToken,
        asked: impl Fn(),
    ) -> Result<Word> {
        match self.hub.leave(session.id(), applet).await? {
            Leave::Open => {}
            decided => return Ok(decided.into()),
        }
        let Some(mut place) = self.applets.lines.enter(session.id(), applet) else {
            return Ok(Word::TooMany);
        };
        let shown: String = escape_text(prompt).chars().take(SHOWN).collect();
        let asking = async {
            // Before the question is heard: whoever hears it looks for who asked.
            place.ask(&shown).await;
            decided(session, applet, shown.clone(), asked).await
        };
        let decided = withdrawn.run_until_cancelled(asking).await;
        drop(place);
        let word = match decided {
            Some(decided) => decided?.map_or(Word::Nobody, Word::from),
            None => Word::Withdrawn,
        };
        if matches!(word, Word::Nobody | Word::Withdrawn) {
            // The chat shows the question until it hears that it is over.
            let applet = applet.clone();
            session.submit(Command::UnaskLeave { applet }).await?;
        }
        Ok(word)
    }
}

/// What the person says, or nothing in time.
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
    let heard = async {
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
    match tokio::time::timeout(CONSENT, heard).await {
        Ok(leave) => Ok(Some(leave?)),
        Err(_) => Ok(None),
    }
}
