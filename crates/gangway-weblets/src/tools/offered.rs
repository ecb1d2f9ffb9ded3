//! The app tools offered to an agent: all for external clients, a selection for built-in agents.

use std::sync::Arc;

use gangway_apps::{Origin, rank::rank};
use gangway_core::{SessionId, Tool};
use serde_json::json;

use super::{LONGEST_WAIT, WebletTools};

/// Apps that are mentioned in a tool description.
const NAMED: usize = 3;

impl WebletTools {
    pub(super) fn every() -> Vec<Arc<Tool>> {
        let text = |description: &str| json!({ "type": "string", "description": description });
        let object = |description: &str| json!({ "type": "object", "description": description });
        let launch = text("The launch id from launch_app");
        vec![
            Tool::own(
                "list_apps",
                "Find apps that can be opened for the user: what each is for, and the data and config it accepts.",
                json!({ "query": text("What the app should do, as a sentence; returns matching apps, best first") }),
                &[],
            ),
            Tool::own(
                "launch_app",
                "Open an app for the user, with data and config. Returns its URL.",
                json!({
                    "app": text("The app's name"),
                    "agent": text("Your name"),
                    "data": object("Its data, as described by list_apps"),
                    "config": object("Its configuration"),
                    "sessionId": text("The chat session; default is a new one"),
                }),
                &["app"],
            ),
            Tool::own(
                "next_app_event",
                "Wait for the next event or request of an app. An event is acknowledged by this; a request waits \
                 for answer_app_request.",
                json!({
                    "launchId": launch,
                    "timeoutMs": { "type": "integer", "minimum": 0, "maximum": LONGEST_WAIT },
                }),
                &["launchId"],
            ),
            Tool::own(
                "answer_app_request",
                "Answer a request of an app, with a result or with an error.",
                json!({
                    "launchId": launch,
                    "requestId": text("The requestId from next_app_event"),
                    "result": object("The result"),
                    "error": {
                        "type": "object",
                        "description": "The error, if it was denied or failed",
                        "properties": { "code": text("E-AGT-004 denied, E-AGT-006 unknown"), "message": text("A message") },
                    },
                }),
                &["launchId", "requestId"],
            ),
            Tool::own(
                "send_app_event",
                "Send an event to a running app; it is delivered at once.",
                json!({
                    "launchId": launch,
                    "event": text("The event name: lowercase letters, digits and hyphens"),
                    "payload": object("The event's payload"),
                }),
                &["launchId", "event"],
            ),
        ]
    }

    /// The tools for a built-in agent, if apps are installed, match the sentence or are already open; matching apps
    /// are named.
    pub(super) async fn fitting(&self, session: SessionId, sentence: &str) -> Vec<Arc<Tool>> {
        let Ok(hub) = self.launches.hub() else {
            return Vec::new();
        };
        let all = self.launches.apps.list().await;
        let fitting: Vec<_> = rank(Some(sentence), &all)
            .into_iter()
            .filter(|(_, one)| one.manifest.agent.launchable && one.broken().is_none())
            .take(NAMED)
            .collect();
        let running = hub.launches(session).await;
        let running = running.is_ok_and(|launches| !launches.is_empty());
        // The user may mention an installed app in words or a language that its manifest does not contain.
        let installed = all.iter().any(|one| {
            one.origin != Origin::Builtin && one.manifest.agent.launchable && one.broken().is_none()
        });
        if fitting.is_empty() && !running && !installed && !names_apps(sentence) {
            return Vec::new();
        }
        let mut tools = Self::every();
        // It receives events as turns and context, and need not wait for them.
        let wanted = |tool: &str| match tool {
            "send_app_event" => running,
            "list_apps" | "launch_app" => true,
            _ => false,
        };
        tools.retain(|tool| wanted(tool.name.tool()));
        let named: Vec<_> = fitting.iter().map(|(_, one)| described(one)).collect();
        if !named.is_empty() {
            for tool in &mut tools {
                if tool.name.tool() == "launch_app" {
                    let mut with = (**tool).clone();
                    with.description =
                        format!("{} Matching apps: {}", with.description, named.join(" "));
                    *tool = Arc::new(with);
                }
            }
        }
        tools
    }
}

/// Whether a message is about apps at all.
fn names_apps(sentence: &str) -> bool {
    let mut words = sentence.split(|c: char| !c.is_alphanumeric());
    words.any(|word| {
        matches!(
            word.to_lowercase().as_str(),
            "app" | "apps" | "weblet" | "weblets"
        )
    })
}

fn described(app: &gangway_apps::App) -> String {
    let manifest = &app.manifest;
    let fields: Vec<_> = manifest
        .agent
        .context
        .data
        .keys()
        .map(String::as_str)
        .collect();
    let takes = match fields.is_empty() {
        true => String::new(),
        false => format!(" (data: {})", fields.join(", ")),
    };
    format!(
        "{}: {}{takes}.",
        app.name,
        manifest.description.trim_end_matches('.')
    )
}
