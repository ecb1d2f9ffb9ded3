//! Requests that wait for the person, shown and answered in a terminal.

use std::io::{BufRead, Write};

use gangway_client::ServerClient;
use gangway_core::{GrantDuration, ToolName};
use gangway_http::asks::wire::{
    AnswerAsk, AskDecision, AskInfo, AskList, AskRequest, AskerInfo, PermissionDetails,
};

use super::super::say::{say, text};

/// Letters of an id that are enough, where they fit one request alone.
const SHORT: usize = 8;

pub(super) async fn asks(server: &ServerClient) -> anyhow::Result<AskList> {
    server.get("/api/asks").await
}

pub(super) fn duration(name: &str) -> Option<GrantDuration> {
    let mut all = GrantDuration::ALL.into_iter();
    all.find(|(known, _)| *known == name)
        .map(|(_, duration)| duration)
}

/// Prints what is asked.
pub(super) fn show(ask: &AskInfo) {
    let id = &ask.id[..SHORT.min(ask.id.len())];
    let asker = match &ask.asker {
        AskerInfo::Site { origin } => origin.to_string(),
        AskerInfo::Server { id } => format!("The MCP server {id}"),
        AskerInfo::App { slug, name } => format!("The app {name} ({slug})"),
        AskerInfo::Applet { slug, name } => format!("The applet {name} ({slug})"),
        AskerInfo::Agent { name } => name.clone(),
    };
    match &ask.request {
        AskRequest::Permission(details) => {
            say!("{id}  {asker} requests:");
            show_permissions(details);
        }
        AskRequest::Elicitation {
            message,
            schema,
            url,
        } => {
            say!("{id}  {asker} asks: {message}");
            if let Some(url) = url {
                say!("  to visit {url}");
            }
            if schema.is_some() {
                say!("  with a form: answer it on a page of Gangway");
            }
        }
        AskRequest::Action { message, .. } => say!("{id}  {asker} wants to {message}"),
        AskRequest::Message { text, .. } => {
            say!("{id}  {asker} wants to send this message to the agent: {text}");
        }
    }
}

fn show_permissions(ask: &PermissionDetails) {
    if let Some(embedder) = &ask.embedder {
        say!("  in a frame of {embedder}");
    }
    for scope in &ask.scopes {
        say!("  {scope}  ({} risk)", super::risk(*scope));
    }
    if let Some(reason) = &ask.reason {
        say!("  reason: {reason:?}");
    }
    for (place, tool) in ask.tools.iter().flatten().enumerate() {
        say!("  tool {}: {}  {}", place + 1, tool.name, tool.description);
    }
    if let Some(server) = &ask.server {
        say!("  wants to register an MCP server: {}", server.url);
        let about = server.description.as_deref().unwrap_or_default();
        say!("  under the name {:?} {about}", server.name);
    }
    if ask.once_only {
        say!(
            "  the site does not use HTTPS, so anyone on the network can impersonate it; it can only be allowed once"
        );
    }
    if ask.waiting > 0 {
        say!("  {} more requests of this site are pending", ask.waiting);
    }
}

/// Finds a request by id or unique prefix.
pub(super) async fn find(server: &ServerClient, id: &str) -> anyhow::Result<String> {
    let hex = |text: &str| text.bytes().all(|b| b.is_ascii_hexdigit());
    anyhow::ensure!(
        (4..=32).contains(&id.len()) && hex(id),
        "{id:?} is not a request id; `gangway permissions pending` shows them"
    );
    if id.len() == 32 {
        return Ok(id.to_owned());
    }
    let asks = asks(server).await?.asks;
    let mut target = asks.iter().filter(|ask| ask.id.starts_with(id));
    match (target.next(), target.next()) {
        (Some(one), None) => Ok(one.id.clone()),
        (None, _) => anyhow::bail!(
            "no pending request begins with {id}; `gangway permissions pending` shows them"
        ),
        _ => anyhow::bail!("several requests begin with {id}; use a longer prefix"),
    }
}

pub(super) async fn answer(
    server: &ServerClient,
    id: &str,
    decision: AskDecision,
    tools: Option<Vec<ToolName>>,
    duration: Option<GrantDuration>,
) -> anyhow::Result<()> {
    let answer = AnswerAsk {
        decision,
        content: None,
        tools,
        duration,
    };
    let path = format!("/api/asks/{id}");
    server.post_only(&path, &answer).await
}

/// Prompts for each pending request; returns whether there was any.
pub(super) async fn ask_all(server: &ServerClient) -> anyhow::Result<bool> {
    let asks = asks(server).await?.asks;
    for ask in &asks {
        show(ask);
        let details = match &ask.request {
            AskRequest::Permission(details) => Some(details),
            _ => None,
        };
        let once_only = match &ask.request {
            AskRequest::Permission(details) => details.once_only,
            AskRequest::Action { lasting, .. } => !lasting,
            AskRequest::Elicitation { .. } => true,
            AskRequest::Message { .. } => false,
        };
        let decision = loop {
            let words = match once_only {
                true => "[o]nce, [d]eny, or enter to leave it open: ",
                false => "[o]nce, [a]lways, [d]eny, or enter to leave it open: ",
            };
            let Some(message) = typed(words)? else {
                return Ok(true);
            };
            match message.as_str() {
                "o" | "once" => break Some(AskDecision::Once),
                "a" | "always" if !once_only => break Some(AskDecision::Always),
                "d" | "deny" => break Some(AskDecision::Deny),
                "" => break None,
                _ if once_only => say!("Type o, d or nothing."),
                _ => say!("Type o, a, d or nothing."),
            }
        };
        let Some(decision) = decision else { continue };
        let tools = match details.and_then(|details| details.tools.as_ref()) {
            Some(tools) if decision != AskDecision::Deny && !tools.is_empty() => {
                let names: Vec<_> = tools.iter().map(|tool| tool.name.clone()).collect();
                Some(choose(&names)?)
            }
            _ => None,
        };
        let duration = match decision {
            AskDecision::Always if details.is_some() => Some(how_long()?),
            _ => None,
        };
        // It may have been answered in the UI meanwhile; continue with the next.
        match answer(server, &ask.id, decision, tools, duration).await {
            Ok(()) => say!("Done."),
            Err(error) => say!("{error:#}"),
        }
    }
    Ok(!asks.is_empty())
}

fn how_long() -> anyhow::Result<GrantDuration> {
    loop {
        let message = typed("For how long? 1h, 1d, 30d or never (no expiry) [30d]: ")?;
        match message.as_deref() {
            None | Some("") => return Ok(GrantDuration::Month),
            Some(message) => match duration(message) {
                Some(duration) => return Ok(duration),
                None => say!("Type 1h, 1d, 30d, never or nothing."),
            },
        }
    }
}

fn choose(tools: &[ToolName]) -> anyhow::Result<Vec<ToolName>> {
    loop {
        let message = typed("Which tools? Their numbers, `all` or `none`: ")?;
        let message = message.unwrap_or_else(|| "none".into());
        match message.as_str() {
            "all" => return Ok(tools.to_vec()),
            "none" => return Ok(Vec::new()),
            _ => {}
        }
        let number = |word: &str| word.parse::<usize>().ok()?.checked_sub(1);
        let words = message.split([' ', ',']).filter(|word| !word.is_empty());
        let chosen: Option<Vec<_>> = words
            .map(|word| tools.get(number(word)?).cloned())
            .collect();
        match chosen {
            Some(chosen) if !chosen.is_empty() => return Ok(chosen),
            _ => say!("Type numbers from 1 to {}, `all` or `none`.", tools.len()),
        }
    }
}

/// A line of input; `None` at the end of input.
pub(super) fn typed(words: &str) -> anyhow::Result<Option<String>> {
    text(gangway_core::text::for_terminal(words));
    std::io::stdout().flush()?;
    let mut line = String::new();
    if std::io::stdin().lock().read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(line.trim().to_lowercase()))
}
