//! Talking to the agent from a page.

use std::{sync::Arc, time::Duration};

use gangway_core::{
    Command, Event, Leave, NewSession, Outcome, Receipt, Session, SessionId, Slug, Source, TurnId,
    WhenBusy,
};
use serde_json::Value;

use super::{
    channel::{Channel, Out, Refusal},
    events::word,
    wire::{AppletTold, InvokeOptions},
};

/// How long a person is waited for.
const CONSENT: Duration = Duration::from_secs(120);

/// Bytes of events that are taken in one go.
const CHUNK: usize = 64 << 10;

/// Where something is said.
enum Target {
    Here,
    Hidden,
    New,
    Other(SessionId),
}

impl Channel {
    pub(super) async fn invoke(
        &self,
        out: &Out,
        id: &Option<Value>,
        prompt: String,
        boxed: InvokeOptions,
        plain: InvokeOptions,
    ) -> Result<(), Refusal> {
        if prompt.trim().is_empty() {
            let words = "`prompt` is empty; say something";
            return Err(Refusal::new("invalid_message", words));
        }
        let background = boxed.background.or(plain.background).unwrap_or(false);
        let target = match boxed.session.or(plain.session).as_deref() {
            None | Some("active") if background => Target::Hidden,
            None | Some("active") => Target::Here,
            Some("background") => Target::Hidden,
            Some("new") => Target::New,
            Some(other) => Target::Other(other.parse().map_err(|_| {
                let words = "`session` must be active, background, new or the id of a session";
                Refusal::new("invalid_message", words)
            })?),
        };
        let shown = boxed.show_in_chat.or(plain.show_in_chat);
        let shown = match target {
            Target::Here => shown.unwrap_or(true),
            Target::Hidden => false,
            Target::New | Target::Other(_) => shown.unwrap_or(false),
        };
        let waits = boxed.wait_for_result.or(plain.wait_for_result);
        let asker = match target {
            Target::Other(other) => self.app.hub.open(other).await?,
            _ => Arc::clone(&self.session),
        };
        if let Some(applet) = &self.applet {
            self.ask_leave(out, id, &asker, applet, &prompt).await?;
        }
        let session = match target {
            Target::New => self.fresh().await?,
            _ => asker,
        };
        let turn = self.say(&session, id, prompt, shown).await?;
        let answers = id.clone().unwrap_or_default();
        let told = AppletTold::InvokeStarted {
            id: answers.clone(),
            stream_id: TurnId {
                session: session.id(),
                seq: turn,
            }
            .to_string(),
            session_id: session.id().to_string(),
        };
        if out.tell(&told).await && waits.unwrap_or(true) {
            self.stream(out, answers, &session, turn).await?;
        }
        Ok(())
    }

    /// A session for this one task, with the same agent and model.
    async fn fresh(&self) -> Result<Arc<Session>, Refusal> {
        let profile = self.session.profile()?;
        let wish = NewSession {
            agent: Some(profile.agent),
            model: profile.model,
            ephemeral: true,
            ..NewSession::default()
        };
        let (id, _) = self.app.start_session(wish).await?;
        Ok(self.app.hub.open(id).await?)
    }

    async fn say(
        &self,
        session: &Arc<Session>,
        id: &Option<Value>,
        prompt: String,
        shown: bool,
    ) -> Result<u64, Refusal> {
        let source = match &self.applet {
            Some(applet) => Source::Applet {
                slug: applet.to_string(),
            },
            None => Source::Person,
        };
        let command = Command::Prompt {
            prompt: prompt.clone(),
            source,
            shown,
            when_busy: WhenBusy::Queue,
        };
        let receipt = match self.request_name(id) {
            Some(name) => session.submit_once(command, name).await?,
            None => session.submit(command).await?,
        };
        let Receipt::Accepted { turn } = receipt else {
            let words = "another message of this client had the same id; choose another";
            return Err(Refusal::new("id_taken", words));
        };
        if let Some(applet) = &self.applet {
            self.app
                .applets
                .note_message(session.id(), applet, &prompt)
                .await;
        }
        Ok(turn)
    }

    /// Waits for the person's leave where it is needed.
    async fn ask_leave(
        &self,
        out: &Out,
        id: &Option<Value>,
        session: &Arc<Session>,
        applet: &Slug,
        prompt: &str,
    ) -> Result<(), Refusal> {
        // Before the question is heard: whoever hears it looks for who asked.
        let _waits = self.app.applets.wait(session.id(), applet, prompt);
        let command = Command::AskLeave {
            applet: applet.clone(),
            prompt: prompt.to_owned(),
        };
        let Receipt::Leave { leave, seq } = session.submit(command).await? else {
            return Err(Refusal::new("server_error", "this is a fault in Gangway"));
        };
        let denied = || {
            let words = "the person does not let this applet speak here";
            Err(Refusal::new("consent_denied", words))
        };
        match leave {
            Leave::Allowed | Leave::Once => return Ok(()),
            Leave::Denied => return denied(),
            Leave::Open => {}
        }
        out.tell(&AppletTold::ConsentAsked {
            id: id.clone().unwrap_or_default(),
        })
        .await;
        let mut events = session.subscribe(seq);
        let decided = async {
            loop {
                let next = events.next(CHUNK).await?;
                let Ok(next) = next else {
                    return Err(gangway_core::Error::Stopping);
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
        match tokio::time::timeout(CONSENT, decided).await {
            Ok(Ok(Leave::Allowed | Leave::Once)) => Ok(()),
            Ok(Ok(_)) => denied(),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => {
                let words = "nobody said in time whether this applet may speak here";
                Err(Refusal::new("consent_timeout", words))
            }
        }
    }

    /// Passes the answer on, piece by piece.
    async fn stream(
        &self,
        out: &Out,
        id: Value,
        session: &Arc<Session>,
        turn: u64,
    ) -> Result<(), Refusal> {
        let mut events = session.subscribe(turn);
        let (mut result, mut error) = (String::new(), None);
        // Pieces of a message are dropped from the log once it is whole; who comes late gets it in one.
        let mut heard = String::new();
        loop {
            let Ok(next) = events.next(CHUNK).await? else {
                let words = "the answer is no longer followed; read it from the session";
                return Err(Refusal::new("slow", words));
            };
            for logged in next {
                match &logged.event {
                    Event::Delta { turn: of, text, .. } if *of == turn => {
                        heard.push_str(text);
                        let delta = text.clone();
                        let id = id.clone();
                        if !out.tell(&AppletTold::Stream { id, delta }).await {
                            return Ok(());
                        }
                    }
                    Event::Message { turn: of, text, .. } if *of == turn => {
                        if let Some(rest) =
                            text.strip_prefix(&heard).filter(|rest| !rest.is_empty())
                        {
                            let (id, delta) = (id.clone(), rest.to_owned());
                            out.tell(&AppletTold::Stream { id, delta }).await;
                        }
                        heard.clear();
                        result.clone_from(text);
                    }
                    Event::Failed {
                        turn: of, message, ..
                    } if *of == turn => error = Some(message.clone()),
                    Event::TurnEnded {
                        turn: of, outcome, ..
                    } if *of == turn => {
                        let error = match outcome {
                            Outcome::Completed => error,
                            other => {
                                error.or_else(|| Some(format!("the turn was {}", word(*other))))
                            }
                        };
                        out.tell(&AppletTold::InvokeComplete { id, result, error })
                            .await;
                        return Ok(());
                    }
                    _ => {}
                }
            }
        }
    }

    pub(super) async fn stop(&self, out: &Out, id: &Option<Value>) -> Result<(), Refusal> {
        if let Some(applet) = &self.applet {
            let leaves = self.app.hub.leaves(self.session.id()).await?;
            let here = leaves.iter().find(|(of, _)| of == applet);
            let may = match here {
                Some((_, leave)) => *leave == Leave::Allowed,
                None => self.app.hub.speaks_always(applet).await?,
            };
            if !may {
                let words = "an applet that may not speak here may not stop the agent either";
                return Err(Refusal::new("consent_denied", words));
            }
        }
        let receipt = self.session.submit(Command::Stop).await?;
        let stopped = matches!(receipt, Receipt::Stopped { running: true, .. });
        let id = id.clone().unwrap_or_default();
        out.tell(&AppletTold::Stopped { id, stopped }).await;
        Ok(())
    }
}
