//! An agent that uses the Agent Client Protocol over stdio, as the executor of a remote agent.

mod connection;
mod servers;
mod updates;

use std::{collections::BTreeMap, ffi::OsString, path::PathBuf, sync::Arc, time::Duration};

use agent_client_protocol::v1::schema::{
    PermissionOption, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, SelectedPermissionOutcome, SessionId, SessionUpdate, StopReason,
};
use connection::{AcpEvent, Connection, Permit, SessionSetup, explained};
use futures_util::{StreamExt, future::BoxFuture, stream::FuturesUnordered};
use gangway_core::{AgentError, Usage};
use updates::{Updates, block_text};

use super::{
    brief::{SUMMARIZE, SUMMARY_BYTES, handed_over, instructions, trimmed},
    builtin::Servers,
    executor::{Executor, Prompt, TurnSink, failed},
    page_server::PageServer,
    wire::Setup,
};
use gangway_agents::builtin::user_text;

/// How long an agent may take to stop; then it is restarted.
const STOP_WITHIN: Duration = Duration::from_secs(5);

pub struct Acp {
    command: Vec<String>,
    env: BTreeMap<String, String>,
    folder: PathBuf,
    guard: Vec<OsString>,
    servers: Servers,
    /// The tools of open pages, and the command that connects the agent to them.
    pages: Option<(PageServer, Vec<OsString>)>,
    instructions: String,
    /// The summary of the previous session, if the context was compacted.
    summary: Option<String>,
    connection: Option<Connection>,
    /// Its session, for an agent that can load it after a restart.
    session: Option<SessionId>,
    /// Whether it was given its instructions.
    primed: bool,
    /// Decisions that it waits for.
    permits: BTreeMap<u64, Permit>,
    asked: u64,
}

impl Acp {
    #[must_use]
    pub(crate) fn new(
        setup: &Setup,
        command: &[String],
        env: &BTreeMap<String, String>,
        guard: Vec<OsString>,
        servers: Servers,
        pages: Option<(PageServer, Vec<OsString>)>,
    ) -> Self {
        Self {
            command: command.to_vec(),
            env: env.clone(),
            folder: setup.folder.clone(),
            guard,
            servers,
            pages,
            instructions: instructions(setup),
            summary: None,
            connection: None,
            session: None,
            primed: false,
            permits: BTreeMap::new(),
            asked: 0,
        }
    }

    async fn start(&mut self) -> Result<(), String> {
        let find = Arc::clone(&self.servers);
        // A keyring may wait for its owner.
        let servers = tokio::task::spawn_blocking(move || find()).await;
        let (command, env, folder) = (&self.command, &self.env, &self.folder);
        let place = SessionSetup {
            folder: folder.clone(),
            servers: servers.unwrap_or_default(),
            pages: self.pages.as_ref().map(|(_, command)| command.clone()),
            session: self.session.clone(),
        };
        let opened = Connection::open(command, env, &self.guard, place).await?;
        // With a loaded session it has its instructions.
        self.primed &= opened.is_resumed();
        self.session = Some(opened.session());
        self.connection = Some(opened);
        Ok(())
    }

    async fn answer(
        &mut self,
        prompt: &Prompt,
        sink: &TurnSink,
    ) -> Result<Option<Usage>, AgentError> {
        if self.connection.as_ref().is_none_or(Connection::is_over) {
            if let Some(old) = self.connection.take() {
                old.close().await;
            }
            self.start().await.map_err(failed)?;
            let resumed = self.connection.as_ref().is_some_and(Connection::is_resumed);
            sink.notice(match resumed {
                true => "The agent was restarted and has loaded the conversation.",
                false => "The agent was restarted; it does not remember the conversation.",
            })
            .await;
        }
        let Some(connection) = &mut self.connection else {
            return Err(failed("the agent has ended".to_owned()));
        };
        // Late events of an earlier turn are dropped.
        while let Ok(late) = connection.happened.try_recv() {
            match late {
                AcpEvent::Permission(_, permit) => {
                    let none = RequestPermissionOutcome::Cancelled;
                    let _ = permit.respond(RequestPermissionResponse::new(none));
                }
                AcpEvent::Gone => {
                    let how = connection.exit_message().await;
                    return Err(failed(format!("the agent has ended: {how}")));
                }
                AcpEvent::Update(_) | AcpEvent::Over(_) => {}
            }
        }
        let mut blocks = Vec::new();
        if !std::mem::replace(&mut self.primed, true) {
            if !self.instructions.is_empty() {
                blocks.push(self.instructions.clone().into());
            }
            if let Some(summary) = &self.summary {
                blocks.push(handed_over(summary).into());
            }
        }
        blocks.push(user_text(&prompt.text, &prompt.source).into());
        connection.prompt(blocks).map_err(failed)?;
        let _turn = self.pages.as_ref().map(|(server, _)| server.turn(sink));
        let mut updates = Updates::default();
        let mut answers = FuturesUnordered::new();
        let over = loop {
            let happened = tokio::select! {
                happened = connection.happened.recv() => happened,
                Some((number, chosen)) = answers.next() => {
                    if let Some(permit) = self.permits.remove(&number) {
                        let _ = permit.respond(RequestPermissionResponse::new(chosen));
                    }
                    continue;
                }
            };
            match happened {
                Some(AcpEvent::Update(update)) => updates.tell(*update, sink).await,
                Some(AcpEvent::Permission(request, permit)) => {
                    updates.asked(&request.tool_call, sink).await;
                    self.asked += 1;
                    self.permits.insert(self.asked, permit);
                    answers.push(decide(self.asked, *request, sink));
                }
                Some(AcpEvent::Over(over)) => break Some(over),
                Some(AcpEvent::Gone) | None => break None,
            }
        };
        drop(answers);
        updates.close(sink).await;
        match over {
            Some(Ok(over)) => {
                if let Some(message) = unusual(over.stop_reason) {
                    sink.notice(message).await;
                }
                Ok(None)
            }
            Some(Err(error)) if !connection.is_ending().await => Err(failed(explained(&error))),
            _ => {
                let how = connection.exit_message().await;
                Err(failed(format!("the agent has ended: {how}")))
            }
        }
    }
}

impl Acp {
    /// Asks the agent for a summary.
    async fn summarize(&mut self) -> Result<String, String> {
        let connection = self.connection.as_mut().ok_or("the agent has ended")?;
        // Late events of the last turn are not part of the summary.
        while let Ok(late) = connection.happened.try_recv() {
            match late {
                AcpEvent::Permission(_, permit) => {
                    let none = RequestPermissionOutcome::Cancelled;
                    let _ = permit.respond(RequestPermissionResponse::new(none));
                }
                AcpEvent::Gone => return Err("the agent has ended".to_owned()),
                AcpEvent::Update(_) | AcpEvent::Over(_) => {}
            }
        }
        connection.prompt(vec![SUMMARIZE.into()])?;
        let mut summary = String::new();
        while let Some(happened) = connection.happened.recv().await {
            match happened {
                AcpEvent::Update(update) => {
                    if let SessionUpdate::AgentMessageChunk(chunk) = *update
                        && summary.len() < SUMMARY_BYTES
                    {
                        summary.push_str(&block_text(&chunk.content));
                    }
                }
                // No tools are needed for a summary.
                AcpEvent::Permission(_, permit) => {
                    let none = RequestPermissionOutcome::Cancelled;
                    let _ = permit.respond(RequestPermissionResponse::new(none));
                }
                AcpEvent::Over(Ok(_)) => return trimmed(&summary),
                AcpEvent::Over(Err(error)) => return Err(explained(&error)),
                AcpEvent::Gone => break,
            }
        }
        Err("the agent has ended".to_owned())
    }
}

/// Asks the user for permission.
async fn decide(
    number: u64,
    request: RequestPermissionRequest,
    sink: &TurnSink,
) -> (u64, RequestPermissionOutcome) {
    let names: Vec<String> = request.options.iter().map(|one| one.name.clone()).collect();
    let fields = &request.tool_call.fields;
    let what = fields.title.as_deref().or(fields.name.as_deref());
    let what = what.unwrap_or("use a tool");
    let answer = sink
        .ask(&format!("Allow the agent to do this: {what}?"), &names)
        .await;
    (number, outcome(&request.options, &answer))
}

/// The option that an answer names.
fn outcome(options: &[PermissionOption], answer: &str) -> RequestPermissionOutcome {
    let same = |one: &&PermissionOption| one.name.eq_ignore_ascii_case(answer.trim());
    match options.iter().find(same) {
        Some(option) => RequestPermissionOutcome::Selected(SelectedPermissionOutcome::new(
            option.option_id.clone(),
        )),
        // Any other answer is not a permission.
        None => RequestPermissionOutcome::Cancelled,
    }
}

/// The notice for an unusual end.
fn unusual(reason: StopReason) -> Option<&'static str> {
    Some(match reason {
        StopReason::EndTurn => return None,
        StopReason::MaxTokens => "The answer was cut off at the agent's output limit.",
        StopReason::MaxTurnRequests => "The agent reached its limit of model requests per turn.",
        StopReason::Refusal => "The agent refused to continue.",
        _ => "The agent stopped.",
    })
}

impl Executor for Acp {
    fn start(&mut self) -> BoxFuture<'_, Result<(), String>> {
        Box::pin(self.start())
    }

    fn run_turn<'a>(
        &'a mut self,
        prompt: &'a Prompt,
        sink: &'a TurnSink,
    ) -> BoxFuture<'a, Result<Option<Usage>, AgentError>> {
        Box::pin(self.answer(prompt, sink))
    }

    fn stopped(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            for (_, permit) in std::mem::take(&mut self.permits) {
                let none = RequestPermissionOutcome::Cancelled;
                let _ = permit.respond(RequestPermissionResponse::new(none));
            }
            let Some(connection) = &mut self.connection else {
                return;
            };
            connection.cancel();
            let over = async {
                while let Some(happened) = connection.happened.recv().await {
                    match happened {
                        AcpEvent::Over(_) | AcpEvent::Gone => return,
                        AcpEvent::Permission(_, permit) => {
                            let none = RequestPermissionOutcome::Cancelled;
                            let _ = permit.respond(RequestPermissionResponse::new(none));
                        }
                        AcpEvent::Update(_) => {}
                    }
                }
            };
            if tokio::time::timeout(STOP_WITHIN, over).await.is_err()
                && let Some(stuck) = self.connection.take()
            {
                stuck.close().await;
            }
        })
    }

    fn hand_over(&mut self) -> BoxFuture<'_, Result<String, String>> {
        Box::pin(async move {
            let summary = self.summarize().await?;
            // From here on every start begins a new session with it.
            self.summary = Some(summary.clone());
            self.session = None;
            self.primed = false;
            if let Some(old) = self.connection.take() {
                old.close().await;
            }
            self.start().await?;
            Ok(summary)
        })
    }

    fn end(&mut self) -> BoxFuture<'_, ()> {
        Box::pin(async {
            if let Some(connection) = self.connection.take() {
                connection.close().await;
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use agent_client_protocol::v1::schema::PermissionOptionKind;

    use super::*;

    #[test]
    fn only_the_name_of_an_option_is_a_decision() {
        let options = [
            PermissionOption::new("yes", "Allow", PermissionOptionKind::AllowOnce),
            PermissionOption::new("no", "Reject", PermissionOptionKind::RejectOnce),
        ];
        let chosen = |answer: &str| match outcome(&options, answer) {
            RequestPermissionOutcome::Selected(one) => Some(one.option_id.to_string()),
            _ => None,
        };
        assert_eq!(chosen("allow ").as_deref(), Some("yes"));
        assert_eq!(chosen("Reject").as_deref(), Some("no"));
        for message in ["", "yes", "maybe", "Allow everything"] {
            assert_eq!(chosen(message), None, "{message}");
        }
    }
}
