//! A small internet for one test: names that the test gives addresses to, servers that look public and are of the test,
//! and a trap for whoever goes where nobody may.

use std::{
    collections::HashMap,
    io,
    net::{IpAddr, Ipv4Addr},
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};

use futures_util::future::BoxFuture;
use gangway_mcp::{Host, Resolve, ServerId, ServerSpec, Settings, UrlPolicy, is_public};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpListener,
};

/// Public but unassigned.
pub const PUBLIC: &str = "2e00::1";

/// Names and their addresses, and what came of them.
#[derive(Default)]
pub struct Town {
    /// The addresses of a name, one answer after the other; the last one is repeated.
    pub names: Mutex<HashMap<String, Vec<Vec<IpAddr>>>>,
    /// How often anything was connected to.
    pub connects: AtomicUsize,
    /// How often a forbidden address was passed to the connector.
    pub breaches: AtomicUsize,
    /// Whether nothing at all may be connected to.
    pub closed: AtomicBool,
}

impl Town {
    /// One where `public.example` is a public address.
    pub fn new() -> Arc<Self> {
        let town = Self::default();
        town.is("public.example", &[&[PUBLIC]]);
        Arc::new(town)
    }

    /// Says what a name means.
    pub fn is(&self, name: &str, answers: &[&[&str]]) {
        let parse = |texts: &&[&str]| texts.iter().map(|text| text.parse().unwrap()).collect();
        let answers = answers.iter().map(parse).collect();
        self.names.lock().unwrap().insert(name.to_owned(), answers);
    }

    pub fn connects(&self) -> usize {
        self.connects.load(Ordering::SeqCst)
    }

    pub fn breaches(&self) -> usize {
        self.breaches.load(Ordering::SeqCst)
    }
}

impl Resolve for Town {
    fn resolve(&self, name: String) -> BoxFuture<'_, io::Result<Vec<IpAddr>>> {
        let mut names = self.names.lock().unwrap();
        let found = match names.get_mut(&name) {
            Some(answers) if answers.len() > 1 => Ok(answers.remove(0)),
            Some(answers) => Ok(answers[0].clone()),
            None => Err(io::Error::other(format!("unknown host {name}"))),
        };
        Box::pin(std::future::ready(found))
    }

    fn connecting(&self) -> io::Result<()> {
        self.connects.fetch_add(1, Ordering::SeqCst);
        match self.closed.load(Ordering::SeqCst) {
            true => Err(io::Error::other("nothing may be connected to")),
            false => Ok(()),
        }
    }

    fn found_at(&self, address: IpAddr) -> IpAddr {
        if !is_public(address) {
            self.breaches.fetch_add(1, Ordering::SeqCst);
        }
        // Nothing of a test leaves this machine.
        Ipv4Addr::LOCALHOST.into()
    }
}

/// A web server of the test, and how often it was connected to.
pub struct Web {
    pub port: u16,
    accepted: Arc<AtomicUsize>,
}

impl Web {
    pub async fn start(answer: impl Fn(&str) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let accepted = Arc::new(AtomicUsize::new(0));
        let (counted, answer) = (accepted.clone(), Arc::new(answer));
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                counted.fetch_add(1, Ordering::SeqCst);
                let answer = answer.clone();
                tokio::spawn(async move {
                    let (mut request, mut part) = (Vec::new(), [0; 4096]);
                    while let Ok(read @ 1..) = socket.read(&mut part).await {
                        request.extend_from_slice(&part[..read]);
                        let text = String::from_utf8_lossy(&request);
                        if is_whole(&text) {
                            let _ = socket.write_all(answer(&text).as_bytes()).await;
                            return;
                        }
                    }
                });
            }
        });
        Self { port, accepted }
    }

    /// One without any connections.
    pub async fn trap() -> Self {
        Self::start(|_| answer("200 OK", "application/json", "{}")).await
    }

    pub fn accepted(&self) -> usize {
        self.accepted.load(Ordering::SeqCst)
    }
}

fn is_whole(request: &str) -> bool {
    let Some((head, body)) = request.split_once("\r\n\r\n") else {
        return false;
    };
    let length = head.lines().find_map(|line| {
        let (name, value) = line.split_once(": ")?;
        let is_length = name.eq_ignore_ascii_case("content-length");
        value.parse::<usize>().ok().filter(|_| is_length)
    });
    body.len() >= length.unwrap_or(0)
}

/// A complete response that closes the connection, so that every request resolves its name again.
pub fn answer(status: &str, kind: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
}

/// An answer without a body that has this header too.
pub fn bare(status: &str, header: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{header}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
}

pub fn path(request: &str) -> &str {
    request.split(' ').nth(1).unwrap_or_default()
}

pub fn id() -> ServerId {
    "remote".parse().unwrap()
}

/// A host in this town whose failures do not take long.
pub fn host(town: &Arc<Town>, settings: Settings) -> Arc<Host> {
    let settings = Settings {
        resolver: town.clone(),
        start_timeout: Duration::from_secs(20),
        tries: 1,
        ..settings
    };
    Host::new(settings, None)
}

/// Registers a URL as a page would and says how that ended.
pub async fn register(host: &Host, url: &str) -> Result<(), String> {
    let spec = ServerSpec::http(id(), url, UrlPolicy::PublicOnly);
    host.set_up(vec![spec]).await;
    host.ready(&id()).await
}
