//! Which pages may use the server, and which may read its answers.

use axum::http::Method;

use super::{EMBEDDER, GUEST, OWN, Setup, server};
use crate::auth::host;

const EVIL: &str = "https://evil.example";

#[tokio::test]
async fn pages_of_this_server_and_of_allowed_origins_may_use_it_and_no_others() {
    let server = server(Setup::hosts(&["Chat.example"])).await;
    for origin in [
        OWN,
        "http://127.0.0.1:3000",
        "http://[::1]:3000",
        "HTTP://LOCALHOST:3000",
        GUEST,
        "https://chat.example",
        "http://chat.example",
        "http://chat.example:3000",
        "https://chat.example:3000",
    ] {
        let headers = [("origin", origin)];
        let used = server.get_as("local-token", "/chat", &headers).await;
        assert_eq!(used, "Owner", "{origin}");
    }
    for origin in [
        EVIL,
        EMBEDDER,
        "null",
        "http://localhost:4000",
        "https://localhost:3000",
    ] {
        let headers = [("origin", origin)];
        let used = server.get_as("local-token", "/chat", &headers).await;
        assert_eq!(used, "origin_not_allowed", "{origin}");
    }
    let twice = [("origin", OWN), ("origin", OWN)];
    let used = server.get_as("local-token", "/chat", &twice).await;
    assert_eq!(used, "origin_not_allowed");
    let embedded = server.get_as("local-token", "/embed", &[("origin", EMBEDDER)]);
    assert_eq!(embedded.await, "Owner");
    let embedded = server.get_as("local-token", "/embed", &[("origin", EVIL)]);
    assert_eq!(embedded.await, "origin_not_allowed");
    let own: Vec<_> = server.http.guard.own_origins().collect();
    assert!(own.contains(&OWN.to_owned()) && !own.contains(&GUEST.to_owned()));
    assert!(server.http.guard.is_guest("https://TOOLS.example"));
    assert!(!server.http.guard.is_guest(OWN));
}

#[tokio::test]
async fn any_site_may_load_an_asset_and_do_nothing_else_with_it() {
    let server = server(Setup::default()).await;
    let foreign = [("origin", EVIL), ("sec-fetch-site", "cross-site")];
    assert_eq!(server.get("/asset", &foreign).await, "Anyone");
    assert_eq!(server.get("/asset", &foreign[1..]).await, "Anyone");
    let head = server.send(Method::HEAD, "/asset", &foreign).await;
    assert_eq!(head.0, 200);
    let upgrade = [foreign[0], ("upgrade", "websocket")];
    assert_eq!(server.get("/asset", &upgrade).await, "origin_not_allowed");
    let posted = server.send(Method::POST, "/asset", &foreign).await;
    assert_eq!(posted.2, "origin_not_allowed");
    let posted = server.send(Method::POST, "/asset", &foreign[1..]).await;
    assert_eq!(posted.2, "cross_site_request");
}

#[tokio::test]
async fn a_request_from_another_site_names_an_allowed_origin_or_is_refused() {
    let server = server(Setup::default()).await;
    let get = async |site, origin: &[(&str, &str)]| {
        let headers = [&[("sec-fetch-site", site)], origin].concat();
        server.get_as("local-token", "/chat", &headers).await
    };
    for site in ["cross-site", "same-site"] {
        assert_eq!(get(site, &[]).await, "cross_site_request");
        assert_eq!(get(site, &[("origin", GUEST)]).await, "Owner");
    }
    for site in ["same-origin", "none"] {
        assert_eq!(get(site, &[]).await, "Owner");
    }
}

#[tokio::test]
async fn a_change_is_sent_as_json_except_for_files_and_assets() {
    let server = server(Setup::default()).await;
    let form = [("content-type", "text/plain")];
    let json = [("content-type", "application/json; charset=utf-8")];
    let post =
        async |path, headers: &[(&str, &str)]| server.post_as("local-token", path, headers).await;
    assert_eq!(post("/chat", &form).await, "unsupported_media_type");
    assert_eq!(post("/start", &form).await, "unsupported_media_type");
    for (path, headers) in [
        ("/chat", &json[..]),
        ("/chat", &[]),
        ("/file", &form),
        ("/asset", &form),
    ] {
        assert_eq!(post(path, headers).await, "Owner", "{path}");
    }
    assert_eq!(server.get_as("local-token", "/chat", &form).await, "Owner");
}

#[tokio::test]
async fn a_server_for_this_machine_alone_refuses_what_came_through_a_proxy() {
    let local = server(Setup::default()).await;
    let named = server(Setup::hosts(&["chat.example"])).await;
    let network = Setup {
        address: "192.168.1.5:3000",
        ..Setup::default()
    };
    let network = server(network).await;
    for header in [
        "forwarded",
        "x-forwarded-for",
        "x-forwarded-host",
        "x-forwarded-proto",
        "x-real-ip",
    ] {
        let headers = [(header, "10.0.0.1")];
        let refused = local.get("/public", &headers).await;
        assert_eq!(refused, "proxy_not_configured", "{header}");
        assert_eq!(named.get("/public", &headers).await, "Anyone");
        assert_eq!(network.get("/public", &headers).await, "Anyone");
    }
}

#[tokio::test]
async fn only_pages_of_allowed_origins_may_read_answers() {
    let server = server(Setup::default()).await;
    let shared = async |path: &str, origin: &str| {
        let headers = [("origin", origin)];
        let (_, headers, _) = server.send(Method::GET, path, &headers).await;
        let value = |name| {
            headers
                .get(name)
                .map(|value| value.to_str().unwrap().to_owned())
        };
        (value("access-control-allow-origin"), value("vary"))
    };
    let vary = Some("Origin".to_owned());
    assert_eq!(
        shared("/public", GUEST).await,
        (Some(GUEST.to_owned()), vary.clone())
    );
    assert_eq!(shared("/public", OWN).await, (None, None));
    assert_eq!(shared("/public", EMBEDDER).await, (None, None));
    assert_eq!(
        shared("/embed", EMBEDDER).await,
        (Some(EMBEDDER.to_owned()), vary.clone())
    );
    assert_eq!(shared("/embed", EVIL).await, (None, vary));
}

#[tokio::test]
async fn a_preflight_is_answered_for_allowed_origins_alone() {
    let server = server(Setup::default()).await;
    let ask = ("access-control-request-method", "POST");
    let preflight =
        async |headers: &[(&str, &str)]| server.send(Method::OPTIONS, "/chat", headers).await;
    let (status, headers, _) = preflight(&[("origin", GUEST), ask]).await;
    assert_eq!(status, 204);
    let methods = headers["access-control-allow-methods"].to_str().unwrap();
    assert!(methods.contains("PATCH"));
    assert_eq!(headers["access-control-max-age"], "600");
    let (status, headers, code) = preflight(&[("origin", EVIL), ask]).await;
    assert_eq!(
        (status.as_u16(), code.as_str()),
        (403, "origin_not_allowed")
    );
    assert!(!headers.contains_key("access-control-allow-methods"));
    // Without the question it is a request like any other, to a route that does not have the method.
    for headers in [&[("origin", GUEST)][..], &[("origin", OWN), ask]] {
        let (status, headers, _) = preflight(headers).await;
        assert_eq!(status, 405);
        assert!(!headers.contains_key("access-control-allow-methods"));
    }
    // The other way round: a GET is no preflight.
    let headers = [("origin", GUEST), ask];
    assert_eq!(
        server.send(Method::GET, "/public", &headers).await.2,
        "Anyone"
    );
}

#[test]
fn the_host_of_a_request_is_one_name_without_its_port() {
    for (written, name) in [
        (&["Chat.Example:80"][..], Some("chat.example")),
        (&["[::1]:3000"], Some("[::1]")),
        (&["[::1]"], Some("[::1]")),
        (&["a.b:"], Some("a.b")),
        (&["a.b:c"], Some("a.b:c")),
        (&["[::1]:80x"], Some("[::1]:80x")),
        (&["a", "a"], None),
        (&[], None),
    ] {
        let headers = written.iter().map(|value| {
            let value = value.parse().unwrap();
            (axum::http::header::HOST, value)
        });
        assert_eq!(host(&headers.collect()).as_deref(), name, "{written:?}");
    }
}
