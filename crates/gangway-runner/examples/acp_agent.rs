//! A small agent that implements the agent side of the Agent Client Protocol, for tests and experiments.
//!
//! It does what the last part of a prompt says: `echo WORDS`, `page TOOL ARGUMENTS`, `parts`, `tool`, `late`, `ask`, `plan`, `usage USED
//! WINDOW`, `hang`, `stuck`, `junk`, `refuse`, `crash`. With `--silent` it never answers, with `--die` it exits at
//! once, with `--load` it can load a session, with `--login` it requires a login, and with `--child=SECONDS` it starts
//! a process that sleeps this long.
#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::unwrap_used,
    reason = "an example prints for the person who runs it"
)]

use std::{
    process::Stdio,
    sync::{Arc, Mutex},
};

use agent_client_protocol::{
    Agent, ByteStreams, Client, Error, Result, on_receive_notification, on_receive_request,
    v1::{
        ConnectionTo, Responder,
        schema::{
            AgentCapabilities, AuthMethod, AuthMethodAgent, CancelNotification, ContentBlock,
            ContentChunk, InitializeRequest, InitializeResponse, LoadSessionRequest,
            LoadSessionResponse, NewSessionRequest, NewSessionResponse, PermissionOption,
            PermissionOptionKind, Plan, PlanEntry, PlanEntryPriority, PlanEntryStatus,
            PromptRequest, PromptResponse, RequestPermissionOutcome, RequestPermissionRequest,
            SessionId, SessionNotification, SessionUpdate, StopReason, ToolCall, ToolCallStatus,
            ToolCallUpdate, ToolCallUpdateFields, UsageUpdate,
        },
    },
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    process::Command,
    sync::Notify,
};
use tokio_util::compat::{TokioAsyncReadCompatExt, TokioAsyncWriteCompatExt};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |name: &str| arguments.iter().any(|argument| argument == name);
    if has("--die") {
        eprintln!("no such model: nonesuch");
        std::process::exit(3);
    }
    if has("--silent") {
        return std::future::pending().await;
    }
    let _child = arguments.iter().find_map(|one| {
        let mut sleep = std::process::Command::new("sleep");
        let sleep = sleep.arg(one.strip_prefix("--child=")?);
        Some(sleep.stdin(std::process::Stdio::null()).spawn().unwrap())
    });
    let cancelled = Arc::new(Notify::new());
    let servers = Arc::new(Mutex::new(String::new()));
    let known = Arc::clone(&servers);
    let cancelling = Arc::clone(&cancelled);
    let (loads, wants_login) = (has("--load"), has("--login"));
    Agent
        .v1()
        .name("trial")
        .on_receive_request(
            async move |hello: InitializeRequest, responder: Responder<InitializeResponse>, _| {
                let answer = InitializeResponse::new(hello.protocol_version);
                let methods = ["With a browser", "With an API key"]
                    .map(|name| AuthMethod::Agent(AuthMethodAgent::new(name, name)));
                let able = AgentCapabilities::new().load_session(loads);
                responder.respond(
                    answer
                        .agent_capabilities(able)
                        .auth_methods(methods.to_vec()),
                )
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |new: NewSessionRequest, responder: Responder<NewSessionResponse>, _| {
                if wants_login {
                    return responder.respond_with_error(Error::auth_required());
                }
                let id = new.cwd.display().to_string();
                *known.lock().unwrap() = serde_json::to_string(&new.mcp_servers).unwrap();
                responder.respond(NewSessionResponse::new(SessionId::new(id)))
            },
            on_receive_request!(),
        )
        .on_receive_request(
            async move |load: LoadSessionRequest,
                        responder: Responder<LoadSessionResponse>,
                        to: ConnectionTo<Client>| {
                let session = Session {
                    id: load.session_id,
                    to,
                };
                // Replays the history, more than a queue holds.
                for _ in 0..1000 {
                    session.push("long ago")?;
                }
                responder.respond(LoadSessionResponse::new())
            },
            on_receive_request!(),
        )
        .on_receive_notification(
            async move |_: CancelNotification, _: ConnectionTo<Client>| {
                cancelling.notify_one();
                Ok(())
            },
            on_receive_notification!(),
        )
        .on_receive_request(
            async move |prompt: PromptRequest,
                        responder: Responder<PromptResponse>,
                        to: ConnectionTo<Client>| {
                let servers = servers.lock().unwrap().clone();
                let work = work(prompt, servers, to.clone(), Arc::clone(&cancelled));
                to.spawn(async move {
                    responder.respond_with_result(work.await.map(PromptResponse::new))
                })
            },
            on_receive_request!(),
        )
        .connect_to(ByteStreams::new(
            tokio::io::stdout().compat_write(),
            tokio::io::stdin().compat(),
        ))
        .await
}

struct Session {
    id: SessionId,
    to: ConnectionTo<Client>,
}

impl Session {
    fn tell(&self, update: SessionUpdate) -> Result<()> {
        self.to
            .send_notification(SessionNotification::new(self.id.clone(), update))
    }

    fn push(&self, text: &str) -> Result<()> {
        self.tell(SessionUpdate::AgentMessageChunk(ContentChunk::new(
            text.into(),
        )))
    }
}

async fn work(
    prompt: PromptRequest,
    servers: String,
    to: ConnectionTo<Client>,
    cancelled: Arc<Notify>,
) -> Result<StopReason> {
    let texts: Vec<String> = prompt
        .prompt
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.clone()),
            _ => None,
        })
        .collect();
    let session = Session {
        id: prompt.session_id,
        to,
    };
    let last = texts.last().cloned().unwrap_or_default();
    let (command, rest) = last.split_once(' ').unwrap_or((last.as_str(), ""));
    match command {
        "echo" => {
            for word in rest.split_inclusive(' ') {
                session.push(word)?;
            }
        }
        "servers" => session.push(&servers)?,
        "page" => {
            let (tool, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
            session.push(&page(&servers, tool, arguments).await)?;
        }
        "parts" => session.push(&texts.join(" | "))?,
        "where" => session.push(&std::env::current_dir().unwrap().display().to_string())?,
        "env" => {
            let names: Vec<String> = std::env::vars().map(|(name, _)| name).collect();
            session.push(&names.join(" "))?;
        }
        "tool" => {
            let call = ToolCall::new("t1", "Read a file");
            let call = call.raw_input(serde_json::json!({ "path": "a.txt" }));
            session.tell(SessionUpdate::ToolCall(call))?;
            let fields = ToolCallUpdateFields::new()
                .status(ToolCallStatus::Completed)
                .content(vec!["its text".into()]);
            session.tell(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(
                "t1", fields,
            )))?;
            session.push("read")?;
        }
        "late" => {
            let call = ToolCall::new("t3", "Bash").status(ToolCallStatus::Pending);
            session.tell(SessionUpdate::ToolCall(
                call.raw_input(serde_json::json!({})),
            ))?;
            let fields =
                ToolCallUpdateFields::new().raw_input(serde_json::json!({ "command": "ls" }));
            session.tell(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(
                "t3", fields,
            )))?;
            let fields = ToolCallUpdateFields::new()
                .status(ToolCallStatus::Completed)
                .raw_output(serde_json::json!({ "stdout": "a.txt" }));
            session.tell(SessionUpdate::ToolCallUpdate(ToolCallUpdate::new(
                "t3", fields,
            )))?;
        }
        "ask" => {
            let fields = ToolCallUpdateFields::new().title("Delete everything");
            let options = vec![
                PermissionOption::new("y", "Allow", PermissionOptionKind::AllowOnce),
                PermissionOption::new("n", "Reject", PermissionOptionKind::RejectOnce),
            ];
            let call = ToolCallUpdate::new("t2", fields);
            let request = RequestPermissionRequest::new(session.id.clone(), call, options);
            let answer = session.to.send_request(request).block_task().await?;
            match answer.outcome {
                RequestPermissionOutcome::Selected(one) => {
                    session.push(&format!("chosen {}", one.option_id))?;
                }
                _ => return Ok(StopReason::Cancelled),
            }
        }
        "plan" => {
            let entry = |text: &str, status| PlanEntry::new(text, PlanEntryPriority::Low, status);
            let entries = vec![
                entry("look", PlanEntryStatus::Completed),
                entry("leap", PlanEntryStatus::Pending),
            ];
            session.tell(SessionUpdate::Plan(Plan::new(entries)))?;
        }
        "usage" => {
            let mut numbers = rest.split(' ').map(|number| number.parse().ok());
            let mut next = |otherwise| numbers.next().flatten().unwrap_or(otherwise);
            let usage = UsageUpdate::new(next(1234), next(200_000));
            session.tell(SessionUpdate::UsageUpdate(usage))?;
        }
        "Summarize" => session.push("They count in tens.")?,
        "hang" => {
            session.push("hanging")?;
            cancelled.notified().await;
            return Ok(StopReason::Cancelled);
        }
        "stuck" => {
            session.push("stuck")?;
            std::future::pending::<()>().await;
        }
        "junk" => {
            println!("warning: this is no message");
            println!("{{ \"not\": json");
            session.push("after junk")?;
        }
        "refuse" => return Err(Error::internal_error().data("the model is overloaded")),
        "crash" => {
            session.push("going")?;
            // The message must be sent first.
            tokio::time::sleep(std::time::Duration::from_millis(100)).await;
            eprintln!("fatal: \u{1b}[31mout of memory");
            std::process::exit(7);
        }
        _ => session.push("unknown")?,
    }
    Ok(StopReason::EndTurn)
}

/// Calls a tool of the MCP server `pages`, after it has listed its tools; both answers.
async fn page(servers: &str, tool: &str, arguments: &str) -> String {
    let servers: Vec<Value> = serde_json::from_str(servers).unwrap();
    let Some(server) = servers.iter().find(|server| server["name"] == "pages") else {
        return "no pages".to_owned();
    };
    let args = server["args"].as_array().unwrap().iter();
    let mut child = Command::new(server["command"].as_str().unwrap())
        .args(args.map(|word| word.as_str().unwrap()))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let (mut input, output) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
    let mut output = BufReader::new(output).lines();
    let arguments: Value = serde_json::from_str(arguments).unwrap();
    let info = json!({ "name": "trial", "version": "1" });
    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": info });
    let mut answers = Vec::new();
    for (id, method, params) in [
        (1, "initialize", hello),
        (0, "notifications/initialized", json!({})),
        (2, "tools/list", json!({})),
        (
            3,
            "tools/call",
            json!({ "name": tool, "arguments": arguments }),
        ),
    ] {
        let mut message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        if id > 0 {
            message["id"] = json!(id);
        }
        input
            .write_all(format!("{message}\n").as_bytes())
            .await
            .unwrap();
        if id == 0 {
            continue;
        }
        let answer = loop {
            let Some(line) = output.next_line().await.unwrap() else {
                return "the server ended".to_owned();
            };
            let answer: Value = serde_json::from_str(&line).unwrap();
            if answer["id"] == id {
                break line;
            }
        };
        answers.push(answer);
    }
    answers[1..].join("\n")
}
