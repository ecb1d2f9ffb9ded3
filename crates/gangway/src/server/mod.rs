//! The server: created from settings, serves a listener until it is stopped.

mod accept;
mod agents;
mod app_hosts;
mod connection;
mod early;
mod error;
mod idle_exit;
mod kinds;
mod open_ended;
mod reachable;
mod router;
mod session_pages;
mod share;
mod stall;
mod unread;

use std::{net::SocketAddr, path::Path, sync::Arc, time::Duration};

use app_hosts::AppHosts;
use axum::http::HeaderValue;
pub use error::ServerError;
use gangway_applets::{AppletRegistry, AppletService, AppletTools};
use gangway_assets::page_policy;
use gangway_cinema::BoxOffice;
use gangway_core::{Asks, Consents, Hub, Limits, Notes, Store, ToolSource};
use gangway_demo::Demo;
use gangway_http::{
    Http,
    app_address::AppAddresses,
    asks::AskState,
    auth::{Guard, GuardSettings, Keys, Logins, Panels, Signer},
    metrics::Metrics,
};
use gangway_pages::{PageReader, PageTools, Pages, SocketPages};
use gangway_providers::{ModelAccess, Models};
use gangway_relay::Relay;
use gangway_remote::{LiveAgents, RemoteAgents};
use gangway_secrets::Secrets;
use gangway_tools::{
    ServerSelection, Tools, Toolset,
    approvals::{Approvals, ApprovedTools},
};
use gangway_webagent::{Sites, WebAgent, browser::Browser, permissions::Permissions};
use gangway_weblets::{Launches, WebletTools, Weblets};
use gangway_workspaces::{Sessions, Workspaces};
pub use reachable::reachable;
pub use router::rules;
use session_pages::SessionPages;
use tokio::net::TcpListener;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    app::App,
    config::{Authentication, Config, RunnerSettings},
};

/// Timeout of a graceful shutdown.
const STOP_WITHIN: Duration = Duration::from_secs(4);

/// Timeout of the final checkpoint.
const FINISH_WITHIN: Duration = Duration::from_secs(2);

pub struct Server {
    app: Arc<App>,
}

impl Server {
    async fn make(
        config: Config,
        data: &Path,
        store: Store,
        access: ModelAccess,
        address: SocketAddr,
        local_token: &str,
        wanted: ServerSelection,
    ) -> Result<Self, ServerError> {
        if let Some(missing) = config.apps.iter().find(|folder| !folder.is_dir()) {
            return Err(ServerError::NoApps(missing.clone()));
        }
        let addresses = AppAddresses::new(config.apps_url.as_deref(), address)?;
        let own = ["localhost", "127.0.0.1", "[::1]"].map(str::to_owned);
        if let Some(taken) = own
            .iter()
            .chain(&config.hosts)
            .find(|host| addresses.is_ours(&host.to_lowercase()))
        {
            return Err(ServerError::AppsTaken(taken.clone()));
        }
        let apps = gangway_apps::AppRegistry::new(
            &config.apps,
            &gangway_apps::SearchPaths::of_process(),
            gangway_apps::Folders::at(data),
        );
        let keys = Keys::load(store.clone()).await?;
        let logins = Logins::load(store.clone()).await?;
        let signer = Signer::load(&store).await?;
        let guard = Guard::new(
            &GuardSettings {
                hosts: &config.hosts,
                allowed_origins: &config.allowed_origins,
                embed_origins: &config.remote_agents.allowed_origins,
                required: config.authentication == Authentication::Required,
                limits: &config.limits,
                app_apis: &[gangway_cinema::routes::APP_API],
            },
            address,
            local_token,
        );
        let limits = Limits {
            queued_prompts: config.sessions.queued_prompts,
            idle: Duration::from_secs(config.sessions.idle_seconds),
            kept_events: config.sessions.kept_events,
        };
        let metrics = Metrics::new();
        let secrets = Secrets::open(data, config.secrets);
        let program = access.program.clone();
        let shown = program.as_deref();
        let (notes, note_writer) = Notes::new();
        let asks = Arc::new(Asks::new(notes.clone()));
        let pages = Pages::new(notes);
        let page_tools = Arc::new(PageTools::new(Arc::clone(&pages)));
        let page_reader = Arc::new(PageReader::new(Arc::clone(&pages)));
        let tools = Tools::new(
            &config.tool_settings(),
            data,
            secrets.clone(),
            shown,
            wanted,
            Arc::clone(&asks),
        );
        let approvals = Approvals::load(store.clone(), Arc::clone(&tools)).await?;
        let models = Models::new(
            &config.model_settings(),
            data,
            secrets,
            access,
            address,
            &metrics,
        );
        let permissions = Permissions::load(store.clone(), Arc::clone(&asks)).await?;
        let host = Arc::clone(&tools.host);
        let call_timeout = Duration::from_secs(config.tools.timeout_seconds);
        let sites = Sites::new(
            Arc::clone(&permissions),
            host,
            store.clone(),
            Arc::clone(&pages),
            call_timeout,
        );
        let stop = CancellationToken::new();
        let live = LiveAgents::load(&store, &stop).await?;
        let workspaces = Arc::new(Workspaces::new(data));
        let page_policy = HeaderValue::from_str(&page_policy(&addresses.frames()))
            .map_err(|error| gangway_core::Error::Storage(error.to_string()))?;
        let own_url = format!("http://{}", reachable(address));
        let http = Arc::new(Http {
            limits: config.limits.clone(),
            guard,
            keys,
            logins,
            panels: Panels::default(),
            signer,
            pages_url: match config.hosts.first() {
                Some(host) if addresses.is_secure() => format!("https://{host}"),
                _ => own_url.clone(),
            },
            own_url,
            addresses,
            page_policy,
            metrics,
            sockets: TaskTracker::new(),
            stop: stop.clone(),
        });
        let applets = AppletRegistry::new(&config.apps, data);
        let browser = Arc::<Browser>::default();
        let (hub, (toolset, launches, session_pages)) = Hub::new_cyclic(store, limits, |hub| {
            let launches = Launches::new(
                hub.clone(),
                Arc::clone(&http),
                Arc::clone(&apps),
                Arc::clone(&workspaces),
            );
            let applet_tools = AppletTools::new(hub, Arc::clone(&applets), Arc::clone(&asks));
            let sources: Vec<Arc<dyn ToolSource>> = vec![
                Arc::new(applet_tools),
                Arc::new(WebletTools::new(Arc::clone(&launches))),
                Arc::clone(&page_tools) as _,
                Arc::clone(&page_reader) as _,
                Arc::clone(&browser) as _,
            ];
            let toolset = Arc::new(Toolset::new(Arc::clone(&tools.host), sources));
            let approved = ApprovedTools::new(Arc::clone(&toolset), Arc::clone(&approvals));
            let approved = Arc::new(approved);
            let session_pages = Arc::new(SessionPages {
                pages: Arc::clone(&page_tools),
                reader: page_reader,
                toolset: Arc::clone(&toolset),
                approved: Arc::clone(&approved),
            });
            let pages = Arc::clone(&session_pages) as _;
            let agents = agents::agents(&config, &models, approved, pages, &sites, &live)?;
            Ok::<_, ServerError>((agents, (toolset, launches, session_pages)))
        })?;
        let remote = RemoteAgents::new(
            &config.remote_settings(),
            data,
            gangway_remote::Services {
                live,
                hub: Arc::clone(&hub),
                pages: session_pages,
                workspaces: Arc::clone(&workspaces),
                models: Arc::clone(&models),
                runner_settings: Box::new(RunnerSettings::source(&config, data, &models)),
                program,
                stop,
            },
        )?;
        let writing = note_writer.run(Arc::clone(&hub), http.stop.clone());
        http.sockets.spawn(writing);
        let sessions = Sessions::new(Arc::clone(&hub), Arc::clone(&workspaces));
        let relay = Relay::load(
            &config.relay,
            data,
            sessions.clone(),
            Arc::clone(&pages),
            Arc::clone(&asks),
        )
        .await?;
        let web_agent = Arc::new(WebAgent {
            sites,
            permissions,
            sessions: sessions.clone(),
            models: Arc::clone(&models),
            browser,
            http: Arc::clone(&http),
        });
        let consents = Arc::new(Consents::new(Arc::clone(&hub), Arc::clone(&asks)));
        let sockets = || {
            let (tasks, stop) = (http.sockets.clone(), http.stop.clone());
            SocketPages::new(Arc::clone(&pages), call_timeout, tasks, stop)
        };
        let applets = AppletService::new(
            Arc::clone(&http),
            sessions.clone(),
            applets,
            Arc::clone(&apps),
            Arc::clone(&consents),
            sockets(),
        );
        let weblets = Weblets::new(
            launches,
            Arc::clone(&hub),
            consents,
            Arc::clone(&asks),
            Arc::clone(&toolset) as _,
            AppHosts::new(Arc::clone(&http), config.hosts.first().cloned()),
            sockets(),
        );
        let asks = Arc::new(AskState {
            http: Arc::clone(&http),
            permissions: web_agent.permissions.changes(),
            asks,
        });
        let demo = Demo::new(gangway_demo::Services {
            http: Arc::clone(&http),
            sessions: sessions.clone(),
            pages: Arc::clone(&pages),
            permissions: Arc::clone(&web_agent.permissions),
        });
        let app = App {
            asks,
            box_office: Arc::new(BoxOffice::new(&config.booking, data)),
            demo,
            http,
            config,
            models,
            tools,
            toolset,
            approvals,
            applets,
            apps,
            weblets,
            web_agent,
            remote,
            relay,
            pages,
            page_tools,
            sessions,
            workspaces,
            hub,
        };
        Ok(Self { app: Arc::new(app) })
    }

    #[must_use]
    pub fn app(&self) -> &Arc<App> {
        &self.app
    }

    /// Serves until `stop` resolves, then ends turns, feeds and connections.
    pub async fn listen(
        self,
        listener: TcpListener,
        stop: impl Future<Output = ()>,
    ) -> Result<(), ServerError> {
        let recovery = tokio::spawn({
            let app = Arc::clone(&self.app);
            async move {
                // First: an interrupted turn may continue in a remote agent that is still running.
                app.remote.recover().await;
                match app.hub.recover().await {
                    Ok(0) => {}
                    Ok(found) => {
                        tracing::info!(sessions = found, "marked interrupted turns of the last run")
                    }
                    Err(error) => {
                        tracing::error!(%error, "cannot read interrupted turns of the last run")
                    }
                }
                #[cfg(unix)]
                Arc::clone(&app.remote).accept_runners().await;
            }
        });
        let looking = Arc::clone(&self.app.remote).supervise();
        let looking = tokio::spawn(looking);
        let relaying = Arc::clone(&self.app.relay).look_after(self.app.http.stop.clone());
        let relaying = tokio::spawn(relaying);
        let watching = tokio::spawn({
            let (models, stop) = (Arc::clone(&self.app.models), self.app.http.stop.clone());
            async move { models.watch(stop).await }
        });
        let starting = tokio::spawn({
            let tools = Arc::clone(&self.app.tools);
            async move {
                tools.sweep().await;
                tools.reload().await;
            }
        });
        let sweeping = self
            .app
            .sessions
            .clone()
            .keep_swept(self.app.http.stop.clone());
        let sweeping = tokio::spawn(sweeping);
        let heeding = tokio::spawn(Arc::clone(&self.app.web_agent).watch());
        let mut accepting = tokio::spawn(accept::run(Arc::clone(&self.app), listener));
        // A server that no longer accepts connections must not appear to be running.
        let asked = tokio::select! {
            () = stop => true,
            _ = &mut accepting => false,
        };
        tracing::info!("stopping");
        self.app.http.stop.cancel();
        let ended = async {
            // Half-created agents are removed now, or at the next start.
            let unmaking = self.app.remote.finish();
            let _ = tokio::time::timeout(STOP_WITHIN / 2, unmaking).await;
            self.app.hub.shut_down().await;
            self.app.http.sockets.close();
            self.app.http.sockets.wait().await;
            recovery.await.ok();
            watching.await.ok();
            starting.await.ok();
            sweeping.await.ok();
            heeding.await.ok();
            looking.await.ok();
            relaying.await.ok();
            self.app.web_agent.shutdown().await;
            self.app.tools.shutdown().await;
            if asked {
                accepting.await.ok();
            }
        };
        if tokio::time::timeout(STOP_WITHIN, ended).await.is_err() {
            tracing::warn!("some connections did not end before the timeout");
        }
        let finished = self.app.hub.store().finish();
        match tokio::time::timeout(FINISH_WITHIN, finished).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => {
                tracing::warn!(%error, "cannot checkpoint the write-ahead log")
            }
            Err(_) => {
                tracing::warn!("checkpointing the write-ahead log timed out")
            }
        }
        asked.then_some(()).ok_or(ServerError::AcceptEnded)
    }
}
