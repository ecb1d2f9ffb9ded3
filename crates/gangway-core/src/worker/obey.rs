//! What a session does with a command.

use super::Worker;
use crate::{
    command::{Command, Receipt, WhenBusy},
    error::{Error, Result},
    event::{self, Event},
    hub,
    recovery::Waiting,
    store::{self, Commit},
};

/// What waits in one session is held in memory, so it is bounded in bytes as well: twice the largest message.
const QUEUE_BYTES: usize = 8 << 20;

/// A title made from a first message is cut at this many characters: one line in a list.
const TITLE_CHARS: usize = 60;

impl Worker {
    pub(super) async fn obey(&mut self, command: Command) -> Result<(Receipt, Option<Commit>)> {
        match command {
            Command::Prompt {
                prompt,
                source,
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
                if profile.title.is_none() {
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
                });
                let written = self.append(events, records).await?;
                self.profile = profile;
                self.queue.push_back(Waiting {
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
                let running = self.running.is_some();
                let dropped = self.stop().await?;
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
                    self.agents.get(&agent)?;
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
                self.tell();
                Ok((Receipt::Done, Some(written.commit)))
            }
            Command::SetState {
                applet,
                patch,
                source,
            } => self.set_state(applet, patch, source).await,
            Command::Reload { applet } => {
                let event = Event::ReloadAsked { applet };
                let written = self.append(vec![event], Vec::new()).await?;
                Ok((Receipt::Done, Some(written.commit)))
            }
            // Taken by the loop itself, which ends with it.
            Command::Delete => Err(Error::Stopping),
        }
    }
}

fn title_from(prompt: &str) -> String {
    // A title is one line without anything that a terminal or a list would act on.
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
