//! Execution of a session's commands.

use super::Worker;
use crate::{
    command::{Command, Receipt, WhenBusy},
    error::{Error, Result},
    event::{self, Event},
    hub,
    recovery::QueuedMessage,
    store::{self, Commit},
};

/// Queued messages are held in memory, so they are bounded in bytes too: twice the largest message.
const QUEUE_BYTES: usize = 8 << 20;

/// A title taken from the first message is cut to this many characters: one line in a list.
const TITLE_CHARS: usize = 60;

impl Worker {
    pub(super) async fn execute(
        &mut self,
        command: Command,
        once: Option<String>,
    ) -> Result<(Receipt, Option<Commit>)> {
        let once = once.or_else(|| match &command {
            Command::App {
                launch, app_event, ..
            } => app_event.once(*launch),
            _ => None,
        });
        if let Some(name) = &once
            && let Some(before) = self.obeyed(name).await?
        {
            return Ok(before);
        }
        match command {
            Command::Prompt {
                prompt,
                source,
                shown,
                when_busy,
            } => {
                if when_busy == WhenBusy::Refuse && self.running.is_some() {
                    return Err(Error::SessionBusy);
                }
                if self.queue.len() >= self.limits.queued_prompts {
                    return Err(Error::QueueFull {
                        limit: self.limits.queued_prompts,
                    });
                }
                let waiting: usize = self.queue.iter().map(|waiting| waiting.prompt.len()).sum();
                if !self.queue.is_empty() && waiting + prompt.len() > QUEUE_BYTES {
                    return Err(Error::QueueTooLong { limit: QUEUE_BYTES });
                }
                let mut events = Vec::with_capacity(2);
                let mut records = Vec::with_capacity(2);
                let mut profile = self.profile.clone();
                // Nor does a hidden message set the title.
                if shown && profile.title.is_none() {
                    profile.title = Some(title_from(&prompt));
                    profile.updated_at = event::now();
                    records.push(store::record(hub::profile_key(self.id), &profile)?);
                    events.push(Event::Changed {
                        profile: profile.clone(),
                    });
                }
                if self.running.is_none() && self.queue.is_empty() {
                    records.push(store::record(hub::busy_key(self.id), &self.settled)?);
                }
                // Last, so that its number is the number of the append.
                events.push(Event::MessageStarted {
                    prompt: prompt.clone(),
                    source: source.clone(),
                    shown,
                });
                let written = self.append_once(events, records, once).await?;
                self.profile = profile;
                self.queue.push_back(QueuedMessage {
                    turn: written.last,
                    prompt,
                    source,
                });
                Ok((
                    Receipt::Accepted { turn: written.last },
                    Some(written.commit),
                ))
            }
            Command::Stop => {
                let (running, dropped) = self.stop(|_, _| true).await?;
                Ok((Receipt::Stopped { running, dropped }, None))
            }
            Command::StopOnly(turns) => {
                let (running, dropped) = self.stop(|turn, source| turns.has(turn, source)).await?;
                Ok((Receipt::Stopped { running, dropped }, None))
            }
            Command::Answer { question, text } => {
                let asker = self
                    .running
                    .as_ref()
                    .and_then(|running| Some((running.turn, running.draft.answer_to(&question)?)));
                let (turn, asker) =
                    asker.ok_or_else(|| Error::QuestionNotFound(question.to_string()))?;
                let written = self
                    .append(
                        vec![Event::Answer {
                            turn,
                            question,
                            text: text.clone(),
                        }],
                        Vec::new(),
                    )
                    .await?;
                let _ = asker.send(text);
                Ok((Receipt::Done, Some(written.commit)))
            }
            Command::Change {
                title,
                model,
                agent,
            } => {
                let mut profile = self.profile.clone();
                if let Some(agent) = agent {
                    self.agents.chosen(&agent)?;
                    // The sandbox of a remote agent's or page's session depends on its agent.
                    let current = self.agents.get(&profile.agent);
                    if current.is_ok_and(|current| !current.is_for_choosing()) {
                        return Err(Error::AgentFixed);
                    }
                    profile.agent = agent;
                }
                profile.title = title.or(profile.title);
                profile.model = model.or(profile.model);
                profile.updated_at = event::now();
                let records = vec![store::record(hub::profile_key(self.id), &profile)?];
                let written = self
                    .append(
                        vec![Event::Changed {
                            profile: profile.clone(),
                        }],
                        records,
                    )
                    .await?;
                self.profile = profile;
                self.publish_status();
                Ok((Receipt::Done, Some(written.commit)))
            }
            Command::SetState {
                applet,
                patch,
                source,
            } => self.set_state(applet, patch, source, once).await,
            Command::RequestConsent { applet, prompt } => {
                self.request_consent(applet, prompt).await
            }
            Command::WithdrawConsentRequest { applet } => {
                self.withdraw_consent_request(applet).await
            }
            Command::SetConsent { applet, consent } => self.set_consent(applet, consent).await,
            Command::OpenApplet { applet } => {
                let event = Event::OpenAsked { applet };
                let written = self.append(vec![event], Vec::new()).await?;
                Ok((Receipt::Done, Some(written.commit)))
            }
            Command::Reload { applet } => {
                let event = Event::ReloadAsked { applet };
                let written = self.append(vec![event], Vec::new()).await?;
                Ok((Receipt::Done, Some(written.commit)))
            }
            Command::Launch(launch) => self.launch(*launch).await,
            Command::App {
                launch,
                app,
                app_event,
            } => self.note(launch, app, *app_event, once).await,
            Command::Page {
                page,
                kind,
                name,
                page_event,
            } => {
                let event = Event::Page {
                    page,
                    page_kind: kind,
                    name,
                    page_event: *page_event,
                };
                let written = self.append(vec![event], Vec::new()).await?;
                let seq = written.last;
                Ok((Receipt::Logged { seq }, Some(written.commit)))
            }
            Command::Ask { ask, entry } => {
                let event = Event::Ask { ask, entry: *entry };
                let written = self.append(vec![event], Vec::new()).await?;
                let seq = written.last;
                Ok((Receipt::Logged { seq }, Some(written.commit)))
            }
            // Handled by the loop itself, which ends with it.
            Command::Delete => Err(Error::Stopping),
        }
    }
}

impl Worker {
    /// The receipt of an earlier request with this idempotency key.
    async fn obeyed(&self, name: &str) -> Result<Option<(Receipt, Option<Commit>)>> {
        let Some(seq) = self.store.once(self.id, name).await? else {
            return Ok(None);
        };
        let page = self.store.read(self.id, seq - 1, 1).await?;
        let event = page.events.first().filter(|logged| logged.seq == seq);
        let receipt = match event.map(|logged| &logged.event) {
            Some(Event::MessageStarted { .. }) => Receipt::Accepted { turn: seq },
            Some(Event::StateChanged { version, .. }) => Receipt::State {
                version: *version,
                seq,
                changed: true,
            },
            Some(Event::App { .. }) => Receipt::Logged { seq },
            _ => Receipt::Done,
        };
        // It may be new, and the receipt promises durability.
        let commit = self.store.put(Vec::new()).await?;
        Ok(Some((receipt, Some(commit))))
    }
}

fn title_from(prompt: &str) -> String {
    // A title is one line without characters that control a terminal or a list.
    let plain = |line: &str| line.replace(char::is_control, " ").trim().to_owned();
    let line = prompt
        .split(['\n', '\r'])
        .map(plain)
        .find(|line| !line.is_empty())
        .unwrap_or_else(|| "Untitled".into());
    let mut title: String = line.chars().take(TITLE_CHARS).collect();
    if line.chars().count() > TITLE_CHARS {
        title.push('…');
    }
    title
}
