//! Accepts connections, with limits on their number, on the time for headers and on stalled writes.

use std::{
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use axum::{
    extract::ConnectInfo,
    http::{Method, Request, StatusCode},
    response::{IntoResponse, Response},
};
use gangway_http::{error::ApiError, feed::sse::OpenEnded, metrics::Counted};
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
    connection::HeldConnection,
    early::{Early, WaitingConnection},
    open_ended::{self, Taken},
    router,
    share::Shares,
    stall::Stalling,
    unread::Unread,
};

/// Timeout for the head of a request, and for idle connections.
const HEAD_TIME: Duration = Duration::from_secs(30);

/// Size limit of a request head in the HTTP parser; the guard's own limit is lower and returns our error envelope.
const HEAD_BUFFER: usize = 320 << 10;

/// The same for the number of headers.
const HEADERS: usize = 256;

/// Response to a connection above the limit.
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
                        tracing::warn!(%error, "cannot store when logins were last used");
                    }
                });
                continue;
            }
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    // Probably out of descriptors: a pause lets connections end.
                    tracing::warn!(%error, "cannot accept a connection");
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
                let message = match place {
                    None => {
                        format!(
                            "this server accepts at most {most} connections (limits.connections)"
                        )
                    }
                    Some(_) => format!(
                        "one address may have at most {} of the {most} connections (limits.connections)",
                        shares.most()
                    ),
                };
                tasks.spawn(reject(stream, message));
                continue;
            }
        };
        // Small writes are tokens that a user waits for.
        let _ = stream.set_nodelay(true);
        let counted = Counted::new(&app.http.metrics.connections);
        let held = HeldConnection::new(stream, place, share, counted, tasks.clone());
        let waiting = early.enter(peer.ip(), Instant::now());
        let (app, router, streams) = (Arc::clone(&app), router.clone(), tasks.clone());
        tasks.spawn(serve(app, router, held, peer, waiting, streams));
    }
    drop(listener);
    tasks.close();
    tasks.wait().await;
}

async fn serve(
    app: Arc<App>,
    router: axum::Router,
    held: HeldConnection,
    peer: SocketAddr,
    waiting: WaitingConnection,
    streams: TaskTracker,
) {
    let gone = waiting.over();
    // Dropped with the first request.
    let waiting = Mutex::new(Some(waiting));
    let stalled = Duration::from_secs(app.http.limits.stalled_seconds.max(1));
    let io = TokioIo::new(Stalling::new(held, stalled));
    let taken: Arc<Mutex<Option<Response>>> = Arc::default();
    let take = Arc::clone(&taken);
    let service = service_fn(move |request: Request<Incoming>| {
        waiting
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let (router, take) = (router.clone(), Arc::clone(&take));
        // Boxed, since a connection reserves memory for this future as long as it lives, even when idle.
        Box::pin(async move {
            let gets = *request.method() == Method::GET;
            let (mut request, unread) = Unread::watch(request);
            request.extensions_mut().insert(ConnectInfo(peer));
            let answered = router.oneshot(request).await;
            let mut response = answered
                .unwrap_or_else(|never| match never {})
                .into_response();
            unread.settle(&mut response).await;
            if gets && response.extensions().get::<OpenEnded>().is_some() {
                *take.lock().unwrap_or_else(PoisonError::into_inner) = Some(response);
                return Err(Taken);
            }
            Ok(response)
        })
    });
    let mut connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD_BUFFER)
        .max_headers(HEADERS)
        .serve_connection(io, service)
        .with_upgrades();
    let result = tokio::select! {
        result = &mut connection => result,
        () = gone.cancelled() => {
            app.http.metrics.refuse("early");
            return;
        }
        () = app.http.stop.cancelled() => {
            std::pin::Pin::new(&mut connection).graceful_shutdown();
            (&mut connection).await
        }
    };
    let taken = taken.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let (Some(response), Some(parts)) = (taken, connection.into_parts()) {
        // In a task of its own, which is as small as it can be; this one ends.
        streams.spawn(open_ended::write(parts.io.into_inner(), response));
        return;
    }
    if let Err(error) = result {
        tracing::debug!(%error, "a connection failed");
    }
}

async fn reject(mut stream: TcpStream, reason: String) {
    let status = StatusCode::SERVICE_UNAVAILABLE;
    let message = format!("{reason}; close some, or try again");
    let error = ApiError::new(status, "too_many_connections", message).retry_after(5);
    let body = serde_json::to_string(&error).unwrap_or_default();
    let text = format!("{FULL}Content-Length: {}\r\n\r\n{body}", body.len());
    let reported = async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await?;
        // Closing with unread data would reset the connection before the client reads the response.
        tokio::io::copy(&mut stream.take(HEAD_BUFFER as u64), &mut tokio::io::sink()).await
    };
    let _ = tokio::time::timeout(Duration::from_secs(1), reported).await;
}
