//! What an agent is offered of apps: to any client all of it, to an agent in the house what fits.

use std::sync::Arc;

use gangway_apps::{Origin, rank::rank};
use gangway_core::{SessionId, Tool, own_tool};
use serde_json::{Value, json};

use super::{LONGEST_WAIT, WebletTools};

/// Apps that an agent is told of by name before it asks.
const NAMED: usize = 3;

impl WebletTools {
    pub(super) fn every() -> Vec<Arc<Tool>> {
        let text = |description: &str| json!({ "type": "string", "description": description });
        let object = |description: &str| json!({ "type": "object", "description": description });
        let launch = text("The launch, as launch_app answered");
        let one = |name: &str, description: &str, properties: Value, required: &[&str]| {
            Arc::new(Tool {
                name: own_tool(name),
                description: description.to_owned(),
                input_schema: json!({
                    "type": "object", "properties": properties, "required": required, "additionalProperties": false,
                }),
            })
        };
        vec![
            one(
                "list_apps",
                "Find apps that can be opened for the person: what each is for, and the data and config that it takes.",
                json!({ "query": text("What is wanted, as a sentence; the apps that fit it, best first") }),
                &[],
            ),
            one(
                "launch_app",
                "Open an app for the person, with data and config. Answers where it is.",
                json!({
                    "app": text("Its name"),
                    "agent": text("What you call yourself"),
                    "data": object("What it shows; list_apps says what it takes"),
                    "config": object("How it is set up"),
                    "sessionId": text("The chat session that it belongs to; a new one when absent"),
                }),
                &["app"],
            ),
            one(
                "next_app_event",
                "Wait for the next thing that an app says or asks for. An event is acknowledged by this; a request waits \
                 for answer_app_request.",
                json!({
                    "launchId": launch,
                    "timeoutMs": { "type": "integer", "minimum": 0, "maximum": LONGEST_WAIT },
                }),
                &["launchId"],
            ),
            one(
                "answer_app_request",
                "Answer what an app asked for: with a result, or with an error when it is not to be done.",
                json!({
                    "launchId": launch,
                    "requestId": text("The request, as next_app_event answered"),
                    "result": object("What came of it"),
                    "error": {
                        "type": "object",
                        "description": "Why it is not done",
                        "properties": { "code": text("E-AGT-004 denied, E-AGT-006 unknown"), "message": text("In words") },
                    },
                }),
                &["launchId", "requestId"],
            ),
            one(
                "send_app_event",
                "Tell a running app something; it hears it at once.",
                json!({
                    "launchId": launch,
                    "event": text("What kind of thing: small letters, digits and hyphens"),
                    "payload": object("More about it"),
                }),
                &["launchId", "event"],
            ),
        ]
    }

    /// What an agent in the house can call: where apps are installed, fit the sentence or are open already; those that fit are named.
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
        // A person may ask for an app they installed in words, or a language, that its manifest does not have.
        let installed = all.iter().any(|one| {
            one.origin != Origin::Builtin && one.manifest.agent.launchable && one.broken().is_none()
        });
        if fitting.is_empty() && !running && !installed && !names_apps(sentence) {
            return Vec::new();
        }
        let mut tools = Self::every();
        // Its events come to it as turns and as context; it need not wait for them.
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
                        format!("{} Apps that fit: {}", with.description, named.join(" "));
                    *tool = Arc::new(with);
                }
            }
        }
        tools
    }
}

/// Whether somebody speaks of apps at all.
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
