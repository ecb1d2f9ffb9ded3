//! `gangway app run`: serves one app without an agent, for its author.

use std::{net::Ipv4Addr, path::PathBuf, sync::Arc};

use anyhow::Context;
use axum::{
    Router,
    extract::{Request, State},
    http::{StatusCode, header},
    response::{IntoResponse, Response},
};
use clap::Args;
use gangway_apps::{App, Pages, serve::AppFileRequest};
use serde_json::json;
use tokio::net::TcpListener;

use super::super::{browser, say};

#[derive(Args)]
pub(super) struct RunArgs {
    /// The folder of the app
    path: PathBuf,
    /// The port [default: any free port]
    #[arg(long, default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Do not open a browser
    #[arg(long)]
    no_open: bool,
    /// Print the URL as JSON
    #[arg(long)]
    json: bool,
}

struct SingleApp {
    path: PathBuf,
    pages: Pages,
}

pub(super) async fn run(args: RunArgs) -> anyhow::Result<()> {
    let path = std::path::absolute(&args.path)?;
    anyhow::ensure!(
        path.join("APP.md").is_file(),
        "there is no APP.md in {}",
        path.display()
    );
    let app = match App::in_folder(&path) {
        Ok(app) => app,
        Err(stray) => {
            let lines: Vec<String> = stray.problems.iter().map(ToString::to_string).collect();
            anyhow::bail!("this app cannot be run:\n{}", lines.join("\n"));
        }
    };
    let packages = app.package_problems(&args.path.display().to_string());
    for problem in app.problems.iter().chain(&packages) {
        say::complain!("{problem}");
    }
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, args.port))
        .await
        .with_context(|| format!("listening on port {}", args.port))?;
    let port = listener.local_addr()?.port();
    // Its own origin, as when an agent launches it.
    let url = format!("http://{}.localhost:{port}/", app.name);
    match args.json {
        true => say::json(&json!({ "name": app.name, "url": url }).to_string()),
        false => say::line(&format!(
            "{} is at {url} (without an agent; Ctrl-C ends it)",
            app.name
        )),
    }
    if !args.no_open {
        browser::open(&url, std::iter::empty());
    }
    let pages = Pages::default();
    let router = Router::new()
        .fallback(answer)
        .with_state(Arc::new(SingleApp { path, pages }));
    let stop = async {
        let _ = tokio::signal::ctrl_c().await;
    };
    axum::serve(listener, router)
        .with_graceful_shutdown(stop)
        .await?;
    Ok(())
}

async fn answer(State(alone): State<Arc<SingleApp>>, request: Request) -> Response {
    let headers = request.headers();
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok())
        .unwrap_or_default();
    // Against DNS rebinding.
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    if !(name == "localhost" || name.ends_with(".localhost") || name == "127.0.0.1") {
        return (
            StatusCode::MISDIRECTED_REQUEST,
            "This server is for localhost only.",
        )
            .into_response();
    }
    let path = request.uri().path();
    if let Some(library) = path
        .strip_prefix("/__gangway/")
        .filter(|name| name.starts_with("agent.") || name.starts_with("host."))
        && let Some(answer) = gangway_assets::file(library, headers)
    {
        return answer;
    }
    let folder = alone.path.clone();
    let looked = tokio::task::spawn_blocking(move || App::in_folder(&folder)).await;
    let Ok(Ok(app)) = looked else {
        let message = "This app is broken; `gangway app validate` shows why.";
        return (StatusCode::NOT_FOUND, message).into_response();
    };
    let asked = AppFileRequest {
        method: request.method(),
        path,
        query: request.uri().query(),
        headers,
        opaque: false,
    };
    alone.pages.serve(&app, asked, None).await
}
