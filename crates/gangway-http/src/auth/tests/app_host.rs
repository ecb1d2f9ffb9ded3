//! The hosts of apps: their files for everyone, all else for their own pages.

use axum::http::Method;

use super::{Setup, server};

const APP: &str = "http://cinema.localhost:3000";
const OTHER: &str = "http://other.localhost:3000";
const HOST: (&str, &str) = ("host", "cinema.localhost:3000");

#[tokio::test]
async fn any_site_may_load_the_files_of_an_app_and_only_its_own_pages_do_more() {
    let server = server(Setup::default()).await;
    let send = async |method: Method, path: &str, headers: &[(&str, &str)]| {
        let headers = [&[HOST], headers].concat();
        server.send(method, path, &headers).await.2
    };
    let (own, other) = (("origin", APP), ("origin", OTHER));
    let upgrade = ("upgrade", "websocket");
    for headers in [
        &[][..],
        &[own],
        &[other],
        &[("sec-fetch-site", "cross-site")],
    ] {
        assert_eq!(send(Method::GET, "/index.html", headers).await, "Anyone");
    }
    assert_eq!(send(Method::POST, "/x", &[own]).await, "Anyone");
    assert_eq!(send(Method::GET, "/x", &[own, upgrade]).await, "Anyone");
    for (method, headers) in [
        (Method::POST, &[][..]),
        (Method::POST, &[other]),
        (Method::POST, &[own, own]),
        (Method::GET, &[upgrade]),
        (Method::GET, &[other, upgrade]),
    ] {
        assert_eq!(send(method, "/x", headers).await, "origin_not_allowed");
    }
}

#[tokio::test]
async fn the_api_on_the_host_of_an_app_is_for_its_own_pages_and_for_programs() {
    let server = server(Setup::default()).await;
    let send = async |method: Method, path: &str, headers: &[(&str, &str)]| {
        let headers = [&[HOST], headers].concat();
        server.send(method, path, &headers).await.2
    };
    let (own, other) = (("origin", APP), ("origin", OTHER));
    let across = ("sec-fetch-site", "cross-site");
    let form = ("content-type", "text/plain");
    for path in ["/api/booking", "/api/booking/films"] {
        assert_eq!(send(Method::GET, path, &[]).await, "Anyone");
        assert_eq!(send(Method::GET, path, &[own]).await, "Anyone");
        for headers in [[other], [across]] {
            let refused = send(Method::GET, path, &headers).await;
            assert_eq!(refused, "origin_not_allowed");
        }
        let refused = send(Method::POST, path, &[own, form]).await;
        assert_eq!(refused, "unsupported_media_type");
        assert_eq!(send(Method::GET, path, &[own, form]).await, "Anyone");
        let json = ("content-type", "application/json");
        assert_eq!(send(Method::POST, path, &[own, json]).await, "Anyone");
        assert_eq!(send(Method::POST, path, &[own]).await, "Anyone");
    }
    // Neither is the API.
    assert_eq!(send(Method::GET, "/api/bookings", &[other]).await, "Anyone");
    assert_eq!(send(Method::POST, "/x", &[own, form]).await, "Anyone");
    let elsewhere = [("host", "other.localhost"), ("origin", APP)];
    let read = server.send(Method::GET, "/api/booking", &elsewhere).await;
    assert_eq!(read.2, "Anyone");
}

#[tokio::test]
async fn the_host_of_an_app_gets_nothing_through_a_proxy_and_no_other_host_in_the_request_line() {
    let local = server(Setup::default()).await;
    let proxied = [HOST, ("x-real-ip", "10.0.0.1")];
    assert_eq!(local.get("/x", &proxied).await, "proxy_not_configured");
    let named = server(Setup::hosts(&["chat.example"])).await;
    assert_eq!(named.get("/x", &proxied).await, "Anyone");
    let refused = local.get("http://localhost:3000/x", &[HOST]).await;
    assert_eq!(refused, "host_not_allowed");
}

#[tokio::test]
async fn on_the_host_of_an_app_a_program_is_known_by_its_key() {
    let server = server(Setup::default()).await;
    let key = server.new_key(&["apps"]).await;
    let knows = |authorization: Option<&str>| {
        let value =
            authorization.map(|text| (axum::http::header::AUTHORIZATION, text.parse().unwrap()));
        let known = server
            .http
            .guard
            .knows(&server.http, &value.into_iter().collect());
        known.map(|who| format!("{who:?}"))
    };
    let bearer = format!("BEARER {}", key.key);
    let admitted = crate::auth::Admitted::Key(key.id);
    assert_eq!(knows(Some(&bearer)), Some(format!("{admitted:?}")));
    assert_eq!(knows(Some("Bearer local-token")).as_deref(), Some("Owner"));
    let basic = format!("Basic {}", key.key);
    for unknown in [None, Some("Bearer wrong"), Some(&basic), Some(&key.key)] {
        assert_eq!(knows(unknown), None);
    }
}
