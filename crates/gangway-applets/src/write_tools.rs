//! Applets written by an agent: with the user's consent, into the data folder, where they are available at once.

use std::sync::Arc;

use bytes::Bytes;
use gangway_core::{
    AskBody, AskDecision, Asker, Caller, Command, Lane, NewAsk, Slug, Source, Tool, ToolError,
    ToolName, parse_arguments, session_meant, tool_error,
};
use gangway_files::{FileError, FilePath, Folder, make_private_folder};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::tools::{AppletTools, slug};

/// Requests to write applets that may be open at a time.
const OPEN_REQUESTS: usize = 8;

/// Size limit of a file.
const FILE: usize = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WriteParams {
    applet: String,
    name: Option<String>,
    description: Option<String>,
    content: Option<String>,
    script: Option<String>,
    style: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct OpenParams {
    applet: String,
    session_id: Option<String>,
}

pub(crate) fn tools() -> Vec<Arc<Tool>> {
    let text = |description: &str| json!({ "type": "string", "description": description });
    vec![
        Tool::own(
            "write_applet",
            "Create an applet, or change its files: a small page that runs beside the chat. The user is asked first. \
             Read applet_howto before.",
            json!({
                "applet": text("Its slug: lowercase letters, digits and hyphens"),
                "name": text("Its display name"),
                "description": text("What it is for"),
                "content": text("content.html: the content of its body"),
                "script": text("script.js: an ES module; import { onStateUpdate, setAppletState } from \"gangway\""),
                "style": text("style.css"),
            }),
            &["applet"],
        ),
        Tool::own(
            "open_applet",
            "Open an applet beside the chat of a session.",
            json!({
                "applet": text("Its slug"),
                "sessionId": text("The session; default is the most recent one"),
            }),
            &["applet"],
        ),
    ]
}

impl AppletTools {
    pub(crate) async fn write(
        &self,
        caller: &Caller,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let request: WriteParams = parse_arguments(tool, arguments)?;
        let applet = slug(&request.applet)?;
        let registry = &self.registry;
        let before = registry.find(&applet).await;
        let own = registry.own_folder().join(applet.as_str());
        let is_new = before
            .as_ref()
            .is_none_or(|found| found.folder.as_ref() != Some(&own));
        if is_new && request.content.is_none() {
            let message = "a new applet needs `content`, the HTML of its body";
            return Err(ToolError::Failed(message.to_owned()));
        }
        let name = request
            .name
            .or_else(|| before.as_ref().map(|b| b.name.clone()));
        let description = request.description;
        let description = description.or_else(|| before.and_then(|b| b.description));
        let meta = json!({
            "slug": applet, "name": name.unwrap_or_else(|| applet.to_string()), "description": description,
        });
        let meta = serde_json::to_string_pretty(&meta).unwrap_or_default();
        let files = [
            ("content.html", request.content),
            ("script.js", request.script),
            ("style.css", request.style),
            // Last: it makes the applet visible.
            ("meta.json", Some(meta)),
        ];
        let files: Vec<_> = files
            .into_iter()
            .filter_map(|(name, text)| Some((name, text?)))
            .collect();
        if let Some((name, _)) = files.iter().find(|(_, text)| text.len() > FILE) {
            let message = format!("{name} must be at most {FILE} bytes");
            return Err(ToolError::Failed(message));
        }
        self.ask(caller, &applet, is_new, &files).await?;
        make_private_folder(&own)
            .map_err(|error| ToolError::Failed(format!("cannot create its folder: {error}")))?;
        let folder = Folder::open(&own).await.map_err(unwritten)?;
        for (name, text) in files {
            let path: FilePath = name.parse().map_err(unwritten)?;
            folder
                .write(&path, Bytes::from(text))
                .await
                .map_err(unwritten)?;
        }
        Ok(json!({ "applet": applet, "made": is_new, "open": format!("/?applet={applet}") }))
    }

    /// An applet written by an agent does not run without the user's consent.
    async fn ask(
        &self,
        caller: &Caller,
        applet: &Slug,
        is_new: bool,
        files: &[(&str, String)],
    ) -> Result<(), ToolError> {
        let who = match &caller.source {
            Source::Agent { name } => name.as_str(),
            _ => "an agent",
        };
        let verb = if is_new { "create" } else { "change" };
        let parts: Vec<_> = files
            .iter()
            .filter(|(name, _)| *name != "meta.json")
            .map(|(name, text)| format!("{name} ({} characters)", text.chars().count()))
            .collect();
        let parts = match parts.is_empty() {
            true => "its name and description".to_owned(),
            false => parts.join(", "),
        };
        let message = format!(
            "{verb} the applet {applet}: {parts}. An applet can read and write the files of the session \
             that it is opened in, and cannot reach the network."
        );
        let new = NewAsk {
            asker: Asker::Agent(who.to_owned()),
            body: AskBody::Action {
                message,
                lasting: false,
                url: None,
            },
            lane: Lane {
                name: "applet-writes".to_owned(),
                limit: OPEN_REQUESTS,
                one_at_a_time: false,
            },
            timeout: None,
            hidden: false,
            session: caller.session,
        };
        let reply = self.asks.ask(new, |_| Ok(())).await;
        match reply.map(|reply| reply.decision) {
            Ok(AskDecision::Once | AskDecision::Always) => Ok(()),
            Ok(AskDecision::Deny | AskDecision::Dismiss) => Err(ToolError::Failed(
                "the user denied writing this applet".to_owned(),
            )),
            Err(error) => Err(ToolError::Failed(error.to_string())),
        }
    }

    pub(crate) async fn open(
        &self,
        caller: &Caller,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let request: OpenParams = parse_arguments(tool, arguments)?;
        let applet = slug(&request.applet)?;
        let found = self.registry.find(&applet).await;
        let missing = || ToolError::Failed(format!("applet {applet} not found"));
        let found = found.ok_or_else(missing)?;
        if let Some(problem) = found.problem {
            return Err(ToolError::Failed(format!(
                "{applet} cannot be opened: {problem}"
            )));
        }
        let hub = self.hub()?;
        let session = session_meant(&hub, caller, request.session_id.as_deref()).await?;
        let open = hub.open(session).await.map_err(tool_error)?;
        let command = Command::OpenApplet { applet };
        open.submit(command).await.map_err(tool_error)?;
        Ok(json!({ "sessionId": session.to_string(), "opened": true }))
    }
}

fn unwritten(error: FileError) -> ToolError {
    ToolError::Failed(format!("cannot write the applet: {error}"))
}
