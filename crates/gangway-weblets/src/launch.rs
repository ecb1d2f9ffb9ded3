//! Launching an app for an agent.

use std::sync::Arc;

use axum::http::StatusCode;
use gangway_apps::context::{Context, ContextError, complete};
use gangway_core::{
    AppAgent, AppName, Command, Error, Launch, LaunchId, NewSession, SessionId, event::now,
};
use gangway_http::error::{ApiError, ApiResult};
use gangway_workspaces::Sessions;
use jiff::SignedDuration;
use serde_json::{Map, Value};

use crate::{
    Launches,
    actions::ACTIONS,
    deliver::{DEEPEST, is_deeper},
};

/// Length limit of an agent's name, version and capabilities, and the maximum number of the last.
const WORD: usize = 80;
const CAPABILITIES: usize = 64;

#[derive(Debug, Clone, Default)]
pub(crate) struct LaunchRequest {
    /// Default is the session's agent.
    pub(crate) agent: Option<AppAgent>,
    pub(crate) data: Map<String, Value>,
    pub(crate) config: Map<String, Value>,
    /// Default is a new session.
    pub(crate) session: Option<SessionId>,
    /// The origin of a page that embeds the app.
    pub(crate) embed_origin: Option<String>,
    /// Whether its pages reload when its files change.
    pub(crate) reload: bool,
    /// Whether the caller is an external agent, whatever its name.
    pub(crate) outside: bool,
}

pub(crate) struct Launched {
    pub(crate) launch: Launch,
    pub(crate) url: String,
    pub(crate) warnings: Vec<String>,
}

impl Launches {
    /// Finds a valid app by name.
    pub(crate) async fn find_app(&self, name: &str) -> ApiResult<Arc<gangway_apps::App>> {
        let found = match name.parse::<AppName>() {
            Ok(name) => self.apps.called(&name).await,
            Err(_) => None,
        };
        found.ok_or_else(|| {
            let name: String = name.chars().take(80).collect();
            let message = format!("app {name:?} not found; GET /api/apps lists all apps");
            ApiError::new(StatusCode::NOT_FOUND, "app_not_found", message)
        })
    }

    pub(crate) async fn launch(&self, app: &str, request: LaunchRequest) -> ApiResult<Launched> {
        let app = self.find_app(app).await?;
        if let Some(problem) = app.broken() {
            let message = format!("{} cannot be launched: {problem}", app.name);
            return Err(ApiError::new(StatusCode::CONFLICT, "app_broken", message));
        }
        if !app.manifest.agent.launchable {
            let message = format!(
                "the manifest of {} does not allow agents to launch it",
                app.name
            );
            return Err(ApiError::new(
                StatusCode::FORBIDDEN,
                "not_launchable",
                message,
            ));
        }
        let embed_origin = request.embed_origin.as_deref().map(checked_origin);
        let embed_origin = embed_origin.transpose()?;
        let Context {
            data,
            config,
            mut warnings,
        } = complete(&app.manifest.agent.context, request.data, request.config).map_err(refused)?;
        let deep = |fields: &Map<String, Value>| {
            fields.values().any(|value| is_deeper(value, DEEPEST - 1))
        };
        if deep(&data) || deep(&config) {
            return Err(Error::TooDeep { limit: DEEPEST }.into());
        }
        if let Some(agent) = &request.agent {
            check_agent(agent)?;
        }
        let hub = self.hub()?;
        let (session, profile) = match request.session {
            Some(id) => (id, hub.describe(id).await?.0),
            None => {
                let inside = request.agent.as_ref().map(|agent| agent.name.clone());
                let inside = inside.filter(|name| hub.agents().get(name).is_ok());
                let request = NewSession {
                    title: Some(app.manifest.title.clone()),
                    agent: inside,
                    ..NewSession::default()
                };
                Sessions::new(Arc::clone(&hub), Arc::clone(&self.workspaces))
                    .create(request)
                    .await?
            }
        };
        let untitled = profile.title.is_none();
        let in_house = match &request.agent {
            None => true,
            // An external agent may use any name.
            Some(agent) => !request.outside && agent.name == profile.agent,
        };
        let agent = request.agent.unwrap_or_else(|| AppAgent {
            name: profile.agent,
            version: env!("CARGO_PKG_VERSION").to_owned(),
            capabilities: Vec::new(),
        });
        for needed in &app.manifest.agent.requires {
            if !can(&agent, needed) {
                warnings.push(format!(
                    "{} needs an agent with the capability {needed}",
                    app.name
                ));
            }
        }
        warnings.extend(package_warnings(&app).await);
        let created_at = now();
        let hours = i64::from(self.http.limits.launch_hours.clamp(1, 24 * 365));
        let launch = Launch {
            id: LaunchId::new(),
            session,
            app: app.name.clone(),
            agent,
            in_house,
            data,
            config,
            reload: request.reload,
            created_at,
            expires_at: created_at + SignedDuration::from_hours(hours),
        };
        let open = hub.open(session).await?;
        open.submit(Command::Launch(Box::new(launch.clone())))
            .await?;
        if untitled {
            // As if the launch had created the session.
            let title = Some(app.manifest.title.clone());
            let (model, agent) = (None, None);
            let change = Command::Change {
                title,
                model,
                agent,
            };
            open.submit(change).await?;
        }
        let url = self.new_address(&launch, embed_origin).await?;
        Ok(Launched {
            launch,
            url,
            warnings,
        })
    }
}

/// Problems with packages that an app imports; not part of its listing, since the app may work without them.
async fn package_warnings(app: &Arc<gangway_apps::App>) -> Vec<String> {
    if app.manifest.dependencies.is_empty() {
        return Vec::new();
    }
    let app = Arc::clone(app);
    let look = move || app.package_problems(app.name.as_str());
    let problems = tokio::task::spawn_blocking(look).await.unwrap_or_default();
    problems
        .into_iter()
        .map(|problem| problem.message)
        .collect()
}

/// Whether an agent, or Gangway for it, has a capability.
fn can(agent: &AppAgent, what: &str) -> bool {
    ACTIONS.contains(&what) || agent.capabilities.iter().any(|one| one == what)
}

/// The agent as the page sees it, with the capabilities that Gangway adds.
#[must_use]
pub(crate) fn seen(agent: &AppAgent) -> AppAgent {
    let mut seen = agent.clone();
    for action in ACTIONS {
        if !can_itself(agent, action) {
            seen.capabilities.push(action.to_owned());
        }
    }
    seen
}

fn can_itself(agent: &AppAgent, action: &str) -> bool {
    agent.capabilities.iter().any(|one| one == action)
}

/// Whether Gangway carries out this action: it is one of ours, and the agent does not claim it.
#[must_use]
pub(crate) fn is_ours(launch: &Launch, action: &str) -> bool {
    ACTIONS.contains(&action) && !can_itself(&launch.agent, action)
}

fn check_agent(agent: &AppAgent) -> ApiResult<()> {
    let word = |text: &str| {
        !text.trim().is_empty() && text.chars().count() <= WORD && !text.contains(char::is_control)
    };
    let fits = word(&agent.name)
        && is_version(&agent.version)
        && agent.capabilities.len() <= CAPABILITIES
        && agent.capabilities.iter().all(|one| word(one));
    let message = "`agent` must have a `name`, a `version` such as 1.0.0, and short `capabilities`";
    fits.then_some(()).ok_or_else(|| ApiError::invalid(message))
}

/// Semantic version: three numbers with an optional suffix.
pub(crate) fn is_version(text: &str) -> bool {
    let (numbers, rest) = match text.find(['-', '+']) {
        Some(at) => text.split_at(at),
        None => (text, "-x"),
    };
    let number = |part: &str| {
        let digits =
            !part.is_empty() && part.len() <= 9 && part.bytes().all(|c| c.is_ascii_digit());
        digits && (part == "0" || !part.starts_with('0'))
    };
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'.' | b'-' | b'+');
    numbers.split('.').count() == 3
        && numbers.split('.').all(number)
        && rest.len() > 1
        && text.len() <= WORD
        && rest.bytes().all(plain)
}

/// An origin as browsers write it.
pub(crate) fn checked_origin(text: &str) -> ApiResult<String> {
    let origin = text.to_lowercase();
    let rest = ["https://", "http://"]
        .iter()
        .find_map(|scheme| origin.strip_prefix(scheme));
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    match rest {
        Some(rest) if !rest.is_empty() && rest.len() <= 260 && rest.chars().all(plain) => {
            Ok(origin)
        }
        _ => Err(ApiError::invalid(
            "`embedOrigin` must be an origin, such as https://example.org",
        )),
    }
}

fn refused(why: ContextError) -> ApiError {
    let (status, code) = match why {
        ContextError::TooLarge { .. } => (StatusCode::PAYLOAD_TOO_LARGE, "context_too_large"),
        ContextError::Wrong(_) => (StatusCode::BAD_REQUEST, "invalid_context"),
    };
    ApiError::new(status, code, why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_three_numbers_and_perhaps_more() {
        for good in ["1.0.0", "0.1.20", "1.2.3-beta.1", "1.0.0+5"] {
            assert!(is_version(good), "{good}");
        }
        for bad in [
            "", "1", "1.0", "01.0.0", "1.0.0-", "1.0.x", "v1.0.0", "1.0.0 ",
        ] {
            assert!(!is_version(bad), "{bad}");
        }
    }
}
