//! Downloads a registry's list, page by page and within limits.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use reqwest::{Client, Response, StatusCode, Url, header};
use serde_json::Value;

use super::listed::{ParsedServer, RegistryServer};
use crate::{
    outbound::{self, SystemResolver},
    spec::UrlPolicy,
};

/// Supported versions of the registry's API, newest first.
const VERSIONS: [&str; 2] = ["v0.1", "v0"];

const CURSOR: usize = 4096;

/// Limits of a download.
#[derive(Debug, Clone, Copy)]
pub struct FetchLimits {
    /// Pages.
    pub pages: usize,
    /// Servers.
    pub servers: usize,
    /// Bytes of a page.
    pub page_bytes: usize,
    /// The timeout of a page.
    pub page_time: Duration,
    /// The timeout of the whole download.
    pub time: Duration,
    /// Attempts per page.
    pub tries: u32,
    /// The pause before the second attempt, doubled for each further one.
    pub backoff: Duration,
}

impl Default for FetchLimits {
    fn default() -> Self {
        Self {
            // Several times the size of the public registry.
            pages: 1000,
            servers: 50_000,
            page_bytes: 8 << 20,
            page_time: Duration::from_secs(30),
            time: Duration::from_secs(600),
            tries: 4,
            backoff: Duration::from_secs(1),
        }
    }
}

#[derive(Debug, Default)]
pub struct FetchedServers {
    /// Most recently changed first.
    pub servers: Vec<RegistryServer>,
    /// Invalid entries.
    pub malformed: usize,
    /// Whether a limit was reached.
    pub is_cut: bool,
}

/// Downloads the list; `progress` is called with the number of servers so far. The base URL comes from the user's
/// settings and is not restricted.
pub async fn gather(
    base: &str,
    bounds: &FetchLimits,
    progress: impl Fn(usize),
) -> Result<FetchedServers, String> {
    let fetching = fetch(base, bounds, progress);
    match tokio::time::timeout(bounds.time, fetching).await {
        Ok(gathered) => gathered,
        Err(_) => Err(format!(
            "the download took longer than {} seconds",
            bounds.time.as_secs()
        )),
    }
}

async fn fetch(
    base: &str,
    bounds: &FetchLimits,
    progress: impl Fn(usize),
) -> Result<FetchedServers, String> {
    let base = outbound::check(base, UrlPolicy::Any).map_err(|error| error.to_string())?;
    let client = outbound::client(UrlPolicy::Any, Arc::new(SystemResolver))?;
    let mut versions = VERSIONS.iter();
    let mut version = versions.next().copied().unwrap_or_default();
    let (mut cursor, mut gathered) = (None::<String>, FetchedServers::default());
    let mut found: BTreeMap<String, RegistryServer> = BTreeMap::new();
    let mut pages = 0;
    loop {
        let url = page_url(&base, version, cursor.as_deref())?;
        let page = match page(&client, url, bounds).await {
            Ok(page) => page,
            Err(FetchFailure::NotFound) if pages == 0 => match versions.next() {
                Some(older) => {
                    version = older;
                    continue;
                }
                None => return Err("the URL is not an MCP registry".into()),
            },
            Err(FetchFailure::NotFound) => return Err("a page of it is missing".into()),
            Err(FetchFailure::Other(reason)) => return Err(reason),
        };
        pages += 1;
        let entries = page["servers"].as_array();
        let entries = entries.ok_or("its response has no list of servers")?;
        for entry in entries {
            match RegistryServer::read(entry) {
                ParsedServer::Server(listed) => {
                    found.insert(listed.name.clone(), *listed);
                }
                ParsedServer::LeftOut => {}
                ParsedServer::Malformed => gathered.malformed += 1,
            }
        }
        progress(found.len());
        let metadata = &page["metadata"];
        let next = metadata["nextCursor"]
            .as_str()
            .or(metadata["next_cursor"].as_str());
        let Some(next) = next.filter(|next| !next.is_empty()) else {
            break;
        };
        if cursor.as_deref() == Some(next) || next.len() > CURSOR || entries.is_empty() {
            return Err("its pages repeat".into());
        }
        if pages >= bounds.pages || found.len() >= bounds.servers {
            gathered.is_cut = true;
            break;
        }
        cursor = Some(next.to_owned());
    }
    if found.is_empty() {
        return Err("it has no valid servers".into());
    }
    gathered.servers = found.into_values().take(bounds.servers).collect();
    // Stable, so that ties stay in the order of their names.
    gathered.servers.sort_by(|a, b| b.updated.cmp(&a.updated));
    Ok(gathered)
}

fn page_url(base: &Url, version: &str, cursor: Option<&str>) -> Result<Url, String> {
    let mut url = base.clone();
    url.path_segments_mut()
        .map_err(|()| "the URL is not an MCP registry".to_owned())?
        .pop_if_empty()
        .extend([version, "servers"]);
    let mut query = url.query_pairs_mut();
    query
        .append_pair("limit", "100")
        .append_pair("version", "latest");
    if let Some(cursor) = cursor {
        query.append_pair("cursor", cursor);
    }
    drop(query);
    Ok(url)
}

enum FetchFailure {
    NotFound,
    Other(String),
}

/// A page, retried while the registry is busy or unreachable.
async fn page(client: &Client, url: Url, bounds: &FetchLimits) -> Result<Value, FetchFailure> {
    let mut tries = 0;
    loop {
        tries += 1;
        let asked = tokio::time::timeout(bounds.page_time, attempt(client, url.clone(), bounds));
        let (reason, wait) = match asked.await {
            Ok(Ok(page)) => return Ok(page),
            Ok(Err(Attempt::Final(failed))) => return Err(failed),
            Ok(Err(Attempt::Again(reason, wait))) => (reason, wait),
            Err(_) => ("it did not respond in time".to_owned(), None),
        };
        if tries >= bounds.tries {
            return Err(FetchFailure::Other(reason));
        }
        let own = bounds.backoff * (1 << (tries - 1).min(10));
        tokio::time::sleep(wait.unwrap_or(own).min(Duration::from_secs(60))).await;
    }
}

enum Attempt {
    Final(FetchFailure),
    Again(String, Option<Duration>),
}

async fn attempt(client: &Client, url: Url, bounds: &FetchLimits) -> Result<Value, Attempt> {
    let request = client.get(url).header(header::ACCEPT, "application/json");
    let sent = request.send().await;
    let response = sent.map_err(|error| Attempt::Again(outbound::describe(error), None))?;
    let status = response.status();
    if status == StatusCode::NOT_FOUND {
        return Err(Attempt::Final(FetchFailure::NotFound));
    }
    if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
        let wait = response.headers().get(header::RETRY_AFTER);
        let wait = wait.and_then(|v| v.to_str().ok()?.parse().ok());
        return Err(Attempt::Again(
            format!("it responded with {status}"),
            wait.map(Duration::from_secs),
        ));
    }
    if !status.is_success() {
        let reason = format!("it responded with {status}");
        return Err(Attempt::Final(FetchFailure::Other(reason)));
    }
    let bytes = body(response, bounds.page_bytes).await?;
    serde_json::from_slice(&bytes)
        .map_err(|_| Attempt::Final(FetchFailure::Other("its response is not JSON".into())))
}

async fn body(mut response: Response, most: usize) -> Result<Vec<u8>, Attempt> {
    let mut bytes = Vec::new();
    loop {
        let more = response.chunk().await;
        match more.map_err(|error| Attempt::Again(outbound::describe(error), None))? {
            Some(chunk) if bytes.len() + chunk.len() > most => {
                let reason = format!("a page of it is larger than {most} bytes");
                return Err(Attempt::Final(FetchFailure::Other(reason)));
            }
            Some(chunk) => bytes.extend_from_slice(&chunk),
            None => return Ok(bytes),
        }
    }
}
