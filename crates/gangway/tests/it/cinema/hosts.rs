//! Who may book: our own pages, the app on its own host, and clients with a key if keys are required.

use gangway::config::Config;
use gangway_core::Store;
use gangway_http::auth::Keys;
use gangway_testing::cinema_client::{Visit, refusal};
use reqwest::{Method, Response};
use serde_json::{Value, json};

use crate::support::TestServer;

fn app_host(server: &TestServer, app: &str) -> String {
    format!("{app}.localhost:{}", server.address.port())
}

async fn send(
    server: &TestServer,
    method: Method,
    path: &str,
    headers: &[(&str, &str)],
    body: Option<Value>,
) -> Response {
    let keyed = !server.app.config.hosts.is_empty();
    let client = if keyed { &server.bare } else { &server.http };
    let mut request = client.request(method, server.url(path));
    if let Some(body) = body {
        request = request.json(&body);
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    request.send().await.unwrap()
}

async fn answer(response: Response) -> (reqwest::StatusCode, Value) {
    let status = response.status();
    let text = response.text().await.unwrap();
    let value = serde_json::from_str(&text).unwrap_or(Value::String(text));
    (status, value)
}

#[tokio::test]
async fn the_app_books_on_its_own_host() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let host = app_host(&server, "movie-booking");
    let origin = format!("http://{host}");
    let read = [("host", host.as_str()), ("sec-fetch-site", "same-origin")];
    let movies = send(&server, Method::GET, "/api/booking/movies", &read, None).await;
    assert_eq!(movies.status(), 200);
    let write = [("host", host.as_str()), ("origin", origin.as_str())];
    let body = json!({ "showingId": visit.showing, "seats": visit.free[..1] });
    let held = send(
        &server,
        Method::POST,
        "/api/booking/holds",
        &write,
        Some(body),
    )
    .await;
    let (status, held) = answer(held).await;
    assert_eq!(status, 201, "{held}");
    let path = format!("/api/booking/holds/{}", held["holdId"].as_str().unwrap());
    let gone = send(&server, Method::DELETE, &path, &write, None).await;
    assert_eq!(gone.status(), 204);
    // Its page is there as ever, and nothing else of the server.
    let page = send(&server, Method::GET, "/", &read, None).await;
    assert!(page.text().await.unwrap().contains("<title>"));
    for path in ["/api/sessions", "/api/bookings", "/api/apps", "/mcp"] {
        let other = send(&server, Method::GET, path, &read, None).await;
        assert_eq!(other.status(), 404, "{path}");
    }
    let unknown = send(&server, Method::GET, "/api/booking/x", &read, None).await;
    assert_eq!(refusal(answer(unknown).await), (404, "not_found".into()));
}

#[tokio::test]
async fn pages_of_others_neither_read_nor_book() {
    let server = TestServer::start().await;
    let visit = Visit::choose(&server).await;
    let host = app_host(&server, "movie-booking");
    let own = format!("http://{host}");
    let other_app = format!("http://{}", app_host(&server, "card-game"));
    let main = format!("127.0.0.1:{}", server.address.port());
    let main_origin = format!("http://{main}");
    let hold = || json!({ "showingId": visit.showing, "seats": visit.free[..1] });
    let both = [
        ("GET", "/api/booking/movies", None),
        ("POST", "/api/booking/holds", Some(hold())),
    ];
    for (method, path, body) in both {
        let method: Method = method.parse().unwrap();
        for (host, origin) in [
            (&host, "https://evil.example"),
            (&host, "null"),
            (&host, &other_app),
            (&host, &main_origin),
            (&main, "https://evil.example"),
            (&main, "null"),
            (&main, &own),
            (&main, &other_app),
        ] {
            let headers = [("host", host.as_str()), ("origin", origin)];
            let response = send(&server, method.clone(), path, &headers, body.clone()).await;
            let refused = refusal(answer(response).await);
            assert_eq!(
                refused,
                (403, "origin_not_allowed".into()),
                "{host} {origin}"
            );
        }
        for site in ["cross-site", "same-site"] {
            for host in [&host, &main] {
                let headers = [("host", host.as_str()), ("sec-fetch-site", site)];
                let response = send(&server, method.clone(), path, &headers, body.clone()).await;
                assert_eq!(response.status(), 403, "{host} {site}");
            }
        }
    }
    // On the app's host nothing changes but by its own pages, and nothing but JSON is taken.
    let bare = [("host", host.as_str())];
    let bare = send(
        &server,
        Method::POST,
        "/api/booking/holds",
        &bare,
        Some(hold()),
    )
    .await;
    assert_eq!(bare.status(), 403);
    let form = server.http.post(server.url("/api/booking/holds"));
    let form = form
        .header("host", &host)
        .header("origin", &own)
        .header("content-type", "text/plain")
        .body(hold().to_string());
    assert_eq!(form.send().await.unwrap().status(), 415);
    let passed_on = [("host", host.as_str()), ("x-forwarded-for", "10.0.0.1")];
    let passed_on = send(
        &server,
        Method::GET,
        "/api/booking/movies",
        &passed_on,
        None,
    )
    .await;
    assert_eq!(passed_on.status(), 403);
}

#[tokio::test]
async fn no_other_app_has_the_cinema_and_none_that_only_has_the_name() {
    let server = TestServer::start().await;
    let host = app_host(&server, "card-game");
    let other = [("host", host.as_str())];
    let other = send(&server, Method::GET, "/api/booking/movies", &other, None).await;
    assert_eq!(other.status(), 404);
    let folder = tempfile::tempdir().unwrap();
    let apps = folder.path().join("apps");
    let app = apps.join("movie-booking");
    std::fs::create_dir_all(&app).unwrap();
    let manifest = "---\nname: movie-booking\ntitle: Mine\ndescription: Mine.\n---\n";
    std::fs::write(app.join("APP.md"), manifest).unwrap();
    std::fs::write(app.join("index.html"), "<p>mine</p>").unwrap();
    let server = TestServer::in_folder(folder, |config| config.apps = vec![apps]).await;
    let host = app_host(&server, "movie-booking");
    let mine = [("host", host.as_str())];
    let page = send(&server, Method::GET, "/", &mine, None).await;
    assert!(page.text().await.unwrap().contains("mine"));
    let mine = send(&server, Method::GET, "/api/booking/movies", &mine, None).await;
    assert_eq!(mine.status(), 404);
}

/// A server that wants keys, and two of them: one for all, one for tools alone.
async fn keyed() -> (TestServer, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(folder.path()).unwrap();
    let keys = Keys::load(store.clone()).await.unwrap();
    let key = keys
        .create(
            &"mine".parse().unwrap(),
            vec![gangway_http::auth::KeyScope::Admin],
            None,
        )
        .await
        .unwrap();
    let only = vec!["tools:memory/*".parse().unwrap()];
    let tools = keys.create(&"tools".parse().unwrap(), only, None).await;
    drop(keys);
    let config = Config {
        hosts: vec!["gangway.example".into()],
        ..Config::default()
    };
    let server = TestServer::on(folder, config, Default::default(), store).await;
    (server, key.key, tools.unwrap().key)
}

#[tokio::test]
async fn where_keys_are_needed_a_key_or_a_launch_lets_in() {
    let (server, key, tools) = keyed().await;
    let host = app_host(&server, "movie-booking");
    let origin = format!("http://{host}");
    let movies = "/api/booking/movies";
    let read = async |headers: &[(&str, &str)]| {
        let response = send(&server, Method::GET, movies, headers, None).await;
        response.status().as_u16()
    };
    let (bearer, narrow) = (format!("Bearer {key}"), format!("Bearer {tools}"));
    assert_eq!(read(&[]).await, 401);
    assert_eq!(read(&[("authorization", &bearer)]).await, 200);
    assert_eq!(read(&[("authorization", &narrow)]).await, 403);
    let at = ("host", host.as_str());
    assert_eq!(read(&[at]).await, 401);
    assert_eq!(read(&[at, ("authorization", "Bearer wrong")]).await, 401);
    assert_eq!(read(&[at, ("authorization", &narrow)]).await, 401);
    assert_eq!(read(&[at, ("authorization", &bearer)]).await, 200);

    let with_key = [("authorization", bearer.as_str())];
    let path = "/api/apps/movie-booking/launch";
    let body = json!({ "agent": "claude", "data": {} });
    let launched = send(&server, Method::POST, path, &with_key, Some(body)).await;
    let (status, launched) = answer(launched).await;
    assert_eq!(status, 201, "{launched}");
    let url = launched["url"].as_str().unwrap();
    let opened = format!("/?{}", url.split_once('?').unwrap().1);
    let page = send(&server, Method::GET, &opened, &[at], None).await;
    assert_eq!(page.status(), 200);
    let cookies = page.headers().get_all("set-cookie").iter();
    let cookies: Vec<_> = cookies
        .map(|value| value.to_str().unwrap().to_owned())
        .collect();
    assert!(
        cookies.iter().all(|one| one.contains("HttpOnly")),
        "{cookies:?}"
    );
    let pairs: Vec<_> = cookies
        .iter()
        .map(|one| one.split(';').next().unwrap())
        .collect();
    // One is for the app's files alone.
    let pairs: Vec<_> = pairs
        .into_iter()
        .filter(|pair| !pair.starts_with("gangway_files"))
        .collect();
    assert_eq!(pairs.len(), 2, "{pairs:?}");
    let cookie = pairs.join("; ");
    assert_eq!(read(&[at, ("cookie", &cookie)]).await, 200);
    // Half of it is nothing: neither the address alone, nor a browser that has opened another one.
    for half in &pairs {
        assert_eq!(read(&[at, ("cookie", half)]).await, 401, "{half}");
    }
    let stranger = format!("gangway_browser={}; {}", "0".repeat(64), pairs[1]);
    assert_eq!(read(&[at, ("cookie", &stranger)]).await, 401);
    assert_eq!(read(&[("cookie", &cookie)]).await, 401, "on no other host");
    let body = json!({ "showingId": "x", "seats": ["A1"] });
    let write = [at, ("cookie", cookie.as_str()), ("origin", origin.as_str())];
    let held = send(
        &server,
        Method::POST,
        "/api/booking/holds",
        &write,
        Some(body),
    )
    .await;
    assert_eq!(
        refusal(answer(held).await),
        (404, "showing_not_found".into())
    );
}
