//! What Gangway does for an app, whatever agent it has: with the person's word where it reaches beyond the page.

use std::{path::Path, sync::Arc, time::Duration};

use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use gangway_core::{
    AppRefusal, AskBody, AskDecision, Asker, Command, ConsentOutcome, Event, Lane, Launch, NewAsk,
    Outcome, Receipt, Session, Slug, Source, ToolName, WhenBusy,
    sanitize::{escape_line, is_visible},
};
use gangway_files::FilePath;
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;

use crate::Weblets;

/// What can be asked for.
pub const ACTIONS: [&str; 5] = ["save-file", "open-url", "notify", "prompt", "call-tool"];

/// How long a person is waited for: as long as the page waits for its request. What is allowed later would be done although the page was
/// told that it was not.
const CONSENT: Duration = Duration::from_secs(60);

/// How long a page may be away before a question for it is taken back; when it comes, it is asked again.
const RECONNECT: Duration = Duration::from_secs(15);

/// Open requests of one app; more would hide those of others.
const OPEN_REQUESTS: usize = 3;

/// Characters of arguments that a person can be asked about.
const SHOWN: usize = 2000;

/// Bytes of events that are taken in one go.
const CHUNK: usize = 64 << 10;

#[derive(Deserialize)]
struct SaveFile {
    #[serde(alias = "path", alias = "name")]
    filename: String,
    content: Value,
    encoding: Option<String>,
}

#[derive(Deserialize)]
struct OpenUrl {
    url: String,
}

#[derive(Deserialize)]
struct Notify {
    #[serde(alias = "text", alias = "body")]
    message: String,
}

#[derive(Deserialize)]
struct Prompt {
    #[serde(alias = "prompt", alias = "message")]
    text: String,
}

#[derive(Deserialize)]
struct CallTool {
    #[serde(alias = "name")]
    tool: String,
    #[serde(default, alias = "params", alias = "args")]
    arguments: Value,
}

/// A refusal; the page itself puts before it what was refused.
fn denied(why: impl std::fmt::Display) -> AppRefusal {
    AppRefusal {
        code: "E-AGT-004".to_owned(),
        message: why.to_string(),
    }
}

fn read<T: DeserializeOwned>(params: Value) -> Result<T, AppRefusal> {
    serde_path_to_error::deserialize(params).map_err(|error| {
        let (path, inner) = (error.path().to_string(), error.inner());
        denied(format!("the parameters do not fit: {path}: {inner}"))
    })
}

impl Weblets {
    /// Does what an app asks for.
    pub(crate) async fn act(
        self: &Arc<Self>,
        session: &Arc<Session>,
        launch: &Launch,
        request: &str,
        action: &str,
        params: Value,
    ) -> Result<Value, AppRefusal> {
        match action {
            "save-file" => {
                self.save_file(session, launch, request, read(params)?)
                    .await
            }
            "open-url" => self.open_url(launch, read(params)?).await,
            // The log says it already, and the chat shows the log.
            "notify" => {
                read::<Notify>(params).and_then(|body| match body.message.trim().is_empty() {
                    true => Err(denied("`message` must not be empty")),
                    false => Ok(json!({ "shown": true })),
                })
            }
            "prompt" => self.prompt(session, launch, request, read(params)?).await,
            "call-tool" => {
                self.call_tool(session, launch, request, read(params)?)
                    .await
            }
            _ => Err(denied("nobody does that")),
        }
    }

    /// The app of a launch, with its own title.
    async fn asker(&self, launch: &Launch) -> Asker {
        let found = self.apps.find(&launch.app).await;
        let title = found.map(|app| escape_line(&app.manifest.title));
        let title = title.unwrap_or_else(|| launch.app.to_string());
        Asker::App(Slug::from(launch.app.clone()), title)
    }

    /// Asks the person to allow an action, unless it is always allowed.
    async fn consent(
        &self,
        launch: &Launch,
        grant: &str,
        action: String,
        url: Option<String>,
    ) -> Result<(), AppRefusal> {
        let app = &launch.app;
        if self.hub.app_granted(app, grant).await.map_err(denied)? {
            return Ok(());
        }
        let new = NewAsk {
            asker: self.asker(launch).await,
            body: AskBody::Action {
                message: escape_line(&action),
                // A URL is looked at each time: a blanket yes would let data out.
                lasting: url.is_none(),
                url,
            },
            lane: Lane {
                name: format!("action/{app}"),
                limit: OPEN_REQUESTS,
                one_at_a_time: false,
            },
            timeout: Some(CONSENT),
            hidden: false,
            session: Some(launch.session),
        };
        let until = Instant::now() + CONSENT;
        let reply = loop {
            let asked = self.asks.ask(new.clone(), |_| Ok(()));
            tokio::select! {
                reply = timeout_at(until, asked) => break reply,
                // Withdrawn while the page is gone.
                () = self.launches.presence.page_gone(launch.id, RECONNECT) => {}
            }
            let back = self.launches.presence.page_is(launch.id, true);
            if timeout_at(until, back).await.is_err() {
                return Err(denied("the page has gone"));
            }
        };
        let Ok(reply) = reply else {
            return Err(denied("the request timed out"));
        };
        let lasting = matches!(new.body, AskBody::Action { lasting: true, .. });
        match reply.map_err(denied)?.decision {
            AskDecision::Always if lasting => {
                let granted = self.hub.grant_app(app, grant, true).await;
                granted.map_err(denied)
            }
            AskDecision::Once | AskDecision::Always => Ok(()),
            AskDecision::Deny => Err(denied("the person denied it")),
            AskDecision::Dismiss => Err(denied("the request timed out or was dismissed")),
        }
    }

    async fn begin(
        &self,
        session: &Session,
        launch: &Launch,
        request: &str,
    ) -> Result<(), AppRefusal> {
        let begun = self.launches.mark_begun(session, launch, request).await;
        begun.map_err(denied)
    }

    async fn save_file(
        &self,
        session: &Session,
        launch: &Launch,
        request: &str,
        body: SaveFile,
    ) -> Result<Value, AppRefusal> {
        let content = match (body.content, body.encoding.as_deref()) {
            (Value::String(text), None | Some("utf8" | "utf-8" | "text")) => Bytes::from(text),
            (Value::String(text), Some("base64")) => BASE64_STANDARD
                .decode(text)
                .map(Bytes::from)
                .map_err(|error| denied(format!("`content` is not base64: {error}")))?,
            (Value::String(_), Some(_)) => {
                return Err(denied("`encoding` must be utf8 or base64"));
            }
            // A report is often an object; it is kept as people read it.
            (other, _) => serde_json::to_vec_pretty(&other).unwrap_or_default().into(),
        };
        let path: FilePath = body.filename.parse().map_err(denied)?;
        let size = content.len();
        let message = format!(
            "save {} ({size} bytes) in the folder of this session.",
            path.as_str()
        );
        self.consent(launch, "save-file", message, None).await?;
        let cwd = session.profile().map_err(denied)?.cwd;
        let folder = self.launches.workspaces.open(Path::new(&cwd)).await;
        let folder = folder.map_err(denied)?;
        self.begin(session, launch, request).await?;
        let written = folder.write(&path, content).await;
        written.map_err(denied)?;
        Ok(json!({ "saved": true, "path": path.as_str(), "bytes": size }))
    }

    async fn open_url(&self, launch: &Launch, request: OpenUrl) -> Result<Value, AppRefusal> {
        if !request.url.starts_with("https://") && !request.url.starts_with("http://") {
            return Err(denied("the URL must begin with http:// or https://"));
        }
        // It is opened as it is, so it is seen as it is.
        if !is_visible(&request.url) {
            return Err(denied("the URL contains invisible characters"));
        }
        let message = format!("open {}", request.url.chars().take(500).collect::<String>());
        self.consent(launch, "open-url", message, Some(request.url))
            .await?;
        Ok(json!({ "opened": true }))
    }

    async fn call_tool(
        &self,
        session: &Session,
        launch: &Launch,
        request: &str,
        body: CallTool,
    ) -> Result<Value, AppRefusal> {
        let tool: ToolName = body.tool.parse().map_err(denied)?;
        let shown = escape_line(&body.arguments.to_string());
        // The user must see all of it before allowing it.
        if shown.chars().count() > SHOWN {
            let message = format!(
                "the arguments must be at most {SHOWN} characters, so that the user can read them"
            );
            return Err(denied(message));
        }
        let message = format!("call the tool {tool} with {shown}");
        let grant = format!("call-tool:{tool}");
        self.consent(launch, &grant, message, None).await?;
        self.begin(session, launch, request).await?;
        let called = self.toolbox.call(session.id(), tool, body.arguments).await;
        called.map_err(denied)
    }

    /// Has the agent of the session answer, if the user allows messages of the app.
    async fn prompt(
        self: &Arc<Self>,
        session: &Arc<Session>,
        launch: &Launch,
        request: &str,
        body: Prompt,
    ) -> Result<Value, AppRefusal> {
        if body.text.trim().is_empty() {
            return Err(denied("`text` must not be empty"));
        }
        let name = format!("{}/prompt/{request}", launch.id);
        // A message that was sent before a restart needs no second consent.
        let entry = self.hub.store().once(session.id(), &name).await;
        if entry.map_err(denied)?.is_none() && !self.lets_speak(session, launch, &body.text).await {
            return Err(denied(
                "the user denied messages of this app in this session",
            ));
        }
        let command = Command::Prompt {
            prompt: body.text,
            source: Source::Applet {
                slug: launch.app.to_string(),
            },
            shown: true,
            when_busy: WhenBusy::Queue,
        };
        let receipt = session.submit_once(command, name).await.map_err(denied)?;
        let Receipt::Accepted { turn } = receipt else {
            return Err(denied("the session did not accept the message"));
        };
        let mut events = session.subscribe(turn);
        let mut text = String::new();
        loop {
            let next = events.next(CHUNK).await.map_err(denied)?;
            let next = next.map_err(|_| denied("the session ended"))?;
            for logged in next {
                match &logged.event {
                    Event::Message {
                        turn: of,
                        text: entry,
                        ..
                    } if *of == turn => {
                        text.clone_from(entry);
                    }
                    Event::Failed {
                        turn: of, message, ..
                    } if *of == turn => {
                        return Err(denied(message));
                    }
                    Event::TurnEnded {
                        turn: of, outcome, ..
                    } if *of == turn => {
                        return match outcome {
                            Outcome::Completed => Ok(json!({ "text": text })),
                            _ => Err(denied("the agent was stopped")),
                        };
                    }
                    _ => {}
                }
            }
        }
    }

    /// Whether the person lets an app speak in a session; asks where that is not decided.
    pub(crate) async fn lets_speak(
        &self,
        session: &Arc<Session>,
        launch: &Launch,
        message: &str,
    ) -> bool {
        // A question stays when the page is gone, as that of an applet does.
        let withdrawn = CancellationToken::new();
        let asker = self.asker(launch).await;
        let word = self
            .consents
            .request(session, asker, message, &withdrawn, || {})
            .await;
        matches!(word, Ok(ConsentOutcome::Allowed))
    }
}
