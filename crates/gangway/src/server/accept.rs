//! Takes connections, bounded in number, in header time and in how long a client may leave its buffer full.

use std::{
    convert::Infallible,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    extract::ConnectInfo,
    http::{Request, StatusCode},
    response::IntoResponse,
};
use gangway_http::{error::ApiError, metrics::Counted};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::task::TaskTracker;
use tower::ServiceExt;

use super::{
    App,
    early::{Early, Waiting},
    held::Held,
    router,
    share::Shares,
    stall::Stalling,
    unread::Unread,
};

/// How long a client may take to send the head of a request, and how long it may idle between two.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// The most of a request head that is read; the guard's own limit is lower and answers in our envelope.
const HEAD_BUFFER: usize = 320 << 10;

/// The most headers that are read; the guard's own limit is lower and answers in our envelope.
const HEADERS: usize = 256;

/// Said to a connection that is one too many.
const FULL: &str = "HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nConnection: close\r\nRetry-After: 5\r\n";

/// Accepts until the server stops, then waits for the connections to end.
pub(super) async fn run(app: Arc<App>, listener: TcpListener) {
    let router = router::build(&app);
    let places = Arc::new(Semaphore::new(app.http.limits.connections));
    let shares = Shares::of(app.http.limits.connections);
    let tasks = TaskTracker::new();
    let early = Early::default();
    let mut sweep = tokio::time::interval(Duration::from_secs(60));
    loop {
        let (stream, peer) = tokio::select! {
            () = app.http.stop.cancelled() => break,
            _ = sweep.tick() => {
                app.http.guard.sweep();
                let app = Arc::clone(&app);
                tasks.spawn(async move {
                    if let Err(error) = app.http.logins.keep().await {
                        tracing::warn!(%error, "when browsers were last used could not be written down");
                    }
                });
                continue;
            }
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Out of descriptors, most likely: a pause lets connections end.
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(Duration::from_millis(100)).await;
                    continue;
                }
            },
        };
        let place = Arc::clone(&places).try_acquire_owned().ok();
        let (place, share) = match (place, shares.take(peer.ip())) {
            (Some(place), Some(share)) => (place, share),
            (place, _) => {
                app.http.metrics.refuse("connections");
                let most = app.http.limits.connections;
                let words = match place {
                    None => {
                        format!("this server takes at most {most} connections (limits.connections)")
                    }
                    Some(_) => format!(
                        "one address may have at most {} of the {most} connections (limits.connections)",
                        shares.most()
                    ),
                };
                tasks.spawn(turn_away(stream, words));
                continue;
            }
        };
        // Small writes are tokens that someone waits for.
        let _ = stream.set_nodelay(true);
        let counted = Counted::new(&app.http.metrics.connections);
        let held = Held::new(stream, place, share, counted, tasks.clone());
        let waiting = early.enter(peer.ip(), Instant::now());
        tasks.spawn(serve(Arc::clone(&app), router.clone(), held, peer, waiting));
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

async fn serve(
    app: Arc<App>,
    router: axum::Router,
    held: Held,
    peer: SocketAddr,
    waiting: Waiting,
) {
    let gone = waiting.over();
    // Dropped with the first request.
    let waiting = Mutex::new(Some(waiting));
    let stalled = Duration::from_secs(app.http.limits.stalled_seconds.max(1));
    let io = TokioIo::new(Stalling::new(held, stalled));
    let service = service_fn(move |request: Request<Incoming>| {
        waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let router = router.clone();
        // Boxed, since a connection keeps the place for it as long as it lives, a quiet reader included.
        Box::pin(async move {
            let (mut request, unread) = Unread::watch(request);
            request.extensions_mut().insert(ConnectInfo(peer));
            let answered = router.oneshot(request).await;
            let mut response = answered
                .unwrap_or_else(|never| match never {})
                .into_response();
            unread.settle(&mut response).await;
            Ok::<_, Infallible>(response)
        })
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BUFFER)
        .max_headers(HEADERS)
        .serve_connection(io, service)
        .with_upgrades();
    tokio::pin!(connection);
    let result = tokio::select! {
        result = &mut connection => result,
        () = gone.cancelled() => {
            app.http.metrics.refuse("early");
            return;
        }
        () = app.http.stop.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = result {
        tracing::debug!(%error, "a connection broke");
    }
}

async fn turn_away(mut stream: TcpStream, words: String) {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    let message = format!("{words}; close some, or try again");
    let error = ApiError::new(status, "too_many_connections", message).retry_after(5);
    let body = serde_json::to_string(&error).unwrap_or_default();
    let text = format!("{FULL}Content-Length: {}\r\n\r\n{body}", body.len());
    let told = async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await?;
        // Closing with a request unread would reset the connection before the client reads the answer.
        tokio::io::copy(&mut stream.take(HEAD_BUFFER as u64), &mut tokio::io::sink()).await
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), told).await;
}
