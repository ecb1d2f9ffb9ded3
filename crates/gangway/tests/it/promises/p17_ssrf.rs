//! P17: a URL that a page gave leads nowhere but to the public internet, however it is spelled, wherever it redirects,
//! and whatever its name means the next time.

use std::{
    collections::HashMap,
    net::IpAddr,
    sync::{Arc, Mutex, atomic::Ordering},
};

use futures_util::future::BoxFuture;
use gangway_mcp::{ServerId, ServerSpec, Settings, TokenStore, UrlPolicy};
use rand::RngExt;
use serde_json::{Value, json};

use super::{
    chance, scale,
    town::{PUBLIC, Town, Web, answer, bare, host, id, path, register},
};

/// Hosts of this machine, its network, cloud metadata, or reserved ranges.
const SPELLINGS: &str = "127.0.0.1 127.1 127.0.1 127.255.255.254 0 0.0.0.0 0.1 2130706433 0x7f000001 0x7f.1 0x7F.0.0.1 \
    017700000001 0177.0.0.1 0177.1 0x7f.0x0.0x0.0x1 127.000.000.001 00000177.1 0x0000007f.0.0.0x1 127.0.0.1. 0x7f.0.0.1. \
    127。0。0。1 127．0．0．1 １２７.０.０.１ ⑫7.0.0.1 %31%32%37.0.0.1 %30x7f.1 127.0.0.%31 \
    10.0.0.1 10.1 167772161 0xa000001 012.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 0xac100001 192.168.0.1 192.168.257 \
    3232235521 0xc0a80001 0300.0250.0.1 169.254.169.254 0xa9fea9fe 2852039166 0251.0376.0251.0376 169.254.43518 169.254.170.2 \
    168.63.129.16 100.64.0.1 100.100.100.200 100.127.255.255 198.18.0.1 198.19.255.255 192.0.0.1 192.0.0.192 192.0.2.1 \
    198.51.100.1 203.0.113.1 192.88.99.1 224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255 4294967295 0xffffffff \
    [::] [::1] [0:0:0:0:0:0:0:1] [0000::0001] [::ffff:127.0.0.1] [::ffff:7f00:1] [::ffff:10.0.0.1] [::ffff:169.254.169.254] \
    [::ffff:1.1.1.1] [::ffff:0:127.0.0.1] [::127.0.0.1] [::7f00:1] [fc00::1] [fd00:ec2::254] [fd20:ce::254] [fe80::1] [fec0::1] \
    [ff02::1] [ff0e::1] [64:ff9b::127.0.0.1] [64:ff9b::a9fe:a9fe] [64:ff9b:1::1] [2002:7f00:1::] [2002:a00:1::1] \
    [2002:a9fe:a9fe::] [2001::1] [2001:0:4136:e378:8000:63bf:3fff:fdd2] [2001:db8::1] [3fff::1] [100::1] [2001:10::1] [5f00::1] \
    [2a00:1450::5efe:7f00:1] [2a00:1450::200:5efe:10.0.0.1] [4000::1] [1::1]";

/// What is no URL for a page to give, whatever it leads to.
const NOT_URLS: &str = "http://user@127.0.0.1/ http://public.example@127.0.0.1/ http://127.0.0.1#@public.example/ \
    http://127.0.0.1?@public.example/ http://127.0.0.1\\@public.example/ http://a:b@public.example/ http:\\\\127.0.0.1/ \
    http:127.0.0.1 http:/127.0.0.1 http:///127.0.0.1 https://[fe80::1%25eth0]/ https://[fe80::1%eth0]/ https://[::1 \
    https://[127.0.0.1]/ http://256.256.256.256/ http://1.2.3.4.5/ http://0x100000000/ http://127.0.0.1:99999/ \
    file:///etc/passwd ftp://127.0.0.1/ gopher://127.0.0.1/ unix:/run/docker.sock data:text/plain,x ws://127.0.0.1/ \
    javascript:alert(1) //127.0.0.1/ 127.0.0.1 localhost:80 http:// http://?x";

/// Names that some resolvers map to this machine.
const NAMES: &str = "localhost localhost. LOCALHOST ｌｏｃａｌｈｏｓｔ localhost.localdomain ip6-localhost a.localhost \
    127.0.0.1.nip.example metadata.google.internal instance-data printer.local xn--bcher-kva.example ⓛocalhost";

/// Addresses of all kinds that a name must not lead to.
const PRIVATE: [&str; 14] = [
    "127.0.0.1",
    "10.0.0.1",
    "172.16.0.1",
    "192.168.0.1",
    "169.254.169.254",
    "168.63.129.16",
    "100.64.0.1",
    "0.0.0.0",
    "::1",
    "::ffff:127.0.0.1",
    "fd00:ec2::254",
    "fe80::1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
];

#[tokio::test]
async fn p17_no_spelling_of_an_address_inside_is_connected_to() {
    let town = Town::new();
    town.closed.store(true, Ordering::SeqCst);
    let host = host(&town, Settings::default());
    let spellings: Vec<&str> = SPELLINGS.split_whitespace().collect();
    assert!(spellings.len() >= 60, "{}", spellings.len());
    for spelling in spellings {
        for url in [
            format!("http://{spelling}/mcp"),
            format!("https://{spelling}:8443/"),
            format!("HTTP://{spelling}:80?x=http://public.example/#public.example"),
        ] {
            let why = register(&host, &url).await.unwrap_err();
            assert!(why.contains("public internet"), "{url}: {why}");
        }
    }
    for url in NOT_URLS.split_whitespace() {
        register(&host, url).await.unwrap_err();
    }
    assert_eq!(town.connects(), 0);
    // That the counter counts.
    register(&host, "http://public.example/").await.unwrap_err();
    assert!(town.connects() > 0);
}

#[tokio::test]
async fn p17_no_name_of_an_address_inside_is_connected_to() {
    let town = Town::new();
    let trap = Web::trap().await;
    let host = host(&town, Settings::default());
    for name in NAMES.split_whitespace() {
        let url = reqwest::Url::parse(&format!("http://{name}:{}/mcp", trap.port)).unwrap();
        for address in PRIVATE {
            for answers in [vec![address], vec![PUBLIC, address], vec![address, PUBLIC]] {
                town.is(url.host_str().unwrap(), &[&answers]);
                let why = register(&host, url.as_str()).await.unwrap_err();
                assert!(why.contains("public internet"), "{name} {answers:?}: {why}");
            }
        }
        town.is(url.host_str().unwrap(), &[&[]]);
        register(&host, url.as_str()).await.unwrap_err();
    }
    assert_eq!((trap.accepted(), town.breaches()), (0, 0));
}

/// What a small MCP server answers.
fn mcp(request: &str) -> String {
    let body = request.split("\r\n\r\n").nth(1).unwrap_or_default();
    let message: Value = serde_json::from_str(body).unwrap_or_default();
    let result = match message["method"].as_str() {
        Some("initialize") => {
            json!({ "protocolVersion": "2025-06-18", "capabilities": { "tools": {} },
                "serverInfo": { "name": "web", "version": "1" } })
        }
        Some("tools/list") => {
            json!({ "tools": [{ "name": "echo", "inputSchema": { "type": "object" } }] })
        }
        Some("tools/call") => json!({ "content": [{ "type": "text", "text": "hello" }] }),
        Some("notifications/initialized") => return bare("202 Accepted", "x: y"),
        _ => return answer("400 Bad Request", "text/plain", "no"),
    };
    let text = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
    answer("200 OK", "application/json", &text.to_string())
}

#[tokio::test]
async fn p17_a_name_that_changes_its_mind_gains_nothing() {
    let town = Town::new();
    let web = Web::start(mcp).await;
    let host = host(&town, Settings::default());
    let url = format!("http://fickle.example:{}/mcp", web.port);
    let mut chance = chance(17);
    let mut reached = 0;
    for _ in 0..scale(60, 3000) {
        // As a resolver of an attacker would: public when it is looked at, and inside afterwards, in every order.
        let mut answers: Vec<Vec<&str>> = Vec::new();
        for _ in 0..chance.random_range(1..8) {
            let private = PRIVATE[chance.random_range(0..PRIVATE.len())];
            answers.push(match chance.random_range(0..4) {
                0 => vec![private],
                1 => vec![PUBLIC, private],
                _ => vec![PUBLIC],
            });
        }
        let answers: Vec<&[&str]> = answers.iter().map(Vec::as_slice).collect();
        town.is("fickle.example", &answers);
        if register(&host, &url).await.is_ok() {
            let tool = "remote/echo".parse().unwrap();
            let _ = host.call("tester", &tool, json!({}), None).await;
            reached += 1;
        }
        host.stop(&id()).await;
        host.set_up(Vec::new()).await;
    }
    assert_eq!(town.breaches(), 0);
    assert!(reached > 0 && web.accepted() > 0, "a public one is reached");
}

/// URLs that lead to the trap, by one way or another.
fn inside(town: &Town, port: u16) -> Vec<String> {
    town.is("inside.example", &[&["127.0.0.1"]]);
    town.is("mixed.example", &[&[PUBLIC, "127.0.0.1"]]);
    [
        "127.0.0.1",
        "127.1",
        "0x7f.1",
        "2130706433",
        "0177.0.0.1",
        "0.0.0.0",
        "[::ffff:127.0.0.1]",
        "user@127.0.0.1",
        "inside.example",
        "mixed.example",
    ]
    .iter()
    .map(|host| format!("http://{host}:{port}/mcp"))
    .collect()
}

#[tokio::test]
async fn p17_no_redirect_leads_inside() {
    let town = Town::new();
    let trap = Web::trap().await;
    let mut asked = 0;
    for target in inside(&town, trap.port) {
        let statuses = ["302", "307", "301", "303", "308"];
        for status in statuses.into_iter().take(scale(2, 5)) {
            let hop = target.clone();
            let web = Web::start(move |request| match path(request) {
                "/chain" => bare(&format!("{status} Elsewhere"), "location: /mcp"),
                _ => bare(&format!("{status} Elsewhere"), &format!("location: {hop}")),
            })
            .await;
            for start in ["mcp", "chain"] {
                let host = host(&town, with_tokens());
                let url = format!("http://public.example:{}/{start}", web.port);
                register(&host, &url).await.unwrap_err();
                // What is fetched about a login follows redirects, to public places.
                host.log_in(&id(), "http://127.0.0.1:7/back")
                    .await
                    .unwrap_err();
            }
            asked += web.accepted();
        }
    }
    assert_eq!((trap.accepted(), town.breaches()), (0, 0));
    assert!(asked > 0);
}

#[tokio::test]
async fn p17_no_endpoint_that_a_stream_names_leads_inside() {
    let town = Town::new();
    let trap = Web::trap().await;
    for target in inside(&town, trap.port) {
        let scheme_relative = target.replace("http:", "");
        for named in [target.clone(), scheme_relative] {
            let web = Web::start(move |request| match request.starts_with("GET") {
                true => answer(
                    "200 OK",
                    "text/event-stream",
                    &format!("event: endpoint\ndata: {named}\n\n"),
                ),
                false => answer("405 Method Not Allowed", "text/plain", "no"),
            })
            .await;
            let host = host(&town, Settings::default());
            let url = format!("http://public.example:{}/sse", web.port);
            register(&host, &url).await.unwrap_err();
            assert!(web.accepted() > 0);
        }
    }
    assert_eq!((trap.accepted(), town.breaches()), (0, 0));
}

#[derive(Default)]
struct Tokens(Mutex<HashMap<ServerId, String>>);

impl TokenStore for Tokens {
    fn load(&self, server: ServerId) -> BoxFuture<'_, Result<Option<String>, String>> {
        let stored = self.0.lock().unwrap().get(&server).cloned();
        Box::pin(std::future::ready(Ok(stored)))
    }

    fn save(&self, server: ServerId, secret: Option<String>) -> BoxFuture<'_, Result<(), String>> {
        let mut stored = self.0.lock().unwrap();
        match secret {
            Some(secret) => stored.insert(server, secret),
            None => stored.remove(&server),
        };
        Box::pin(std::future::ready(Ok(())))
    }
}

fn with_tokens() -> Settings {
    Settings {
        tokens: Some(Arc::new(Tokens::default())),
        ..Settings::default()
    }
}

/// A server that wants a login and names these places for it; what is not named is its own.
async fn wanting(named: &'static str, target: String) -> Web {
    Web::start(move |request| {
        let host = request.lines().find_map(|line| line.strip_prefix("host: "));
        let base = format!("http://{}", host.unwrap_or_default());
        let place = |what: &str| match named == what {
            true => target.clone(),
            false => format!("{base}/{what}"),
        };
        let message = |value: Value| answer("200 OK", "application/json", &value.to_string());
        match path(request) {
            "/mcp" => bare(
                "401 Unauthorized",
                &format!("www-authenticate: Bearer resource_metadata=\"{}\"", place("about")),
            ),
            "/about" => {
                let server = match named {
                    "server" => target.clone(),
                    _ => base.clone(),
                };
                message(json!({ "resource": format!("{base}/mcp"), "authorization_servers": [server] }))
            }
            "/.well-known/oauth-authorization-server" => message(json!({
                "issuer": base, "authorization_endpoint": place("login"), "token_endpoint": place("token"),
                "registration_endpoint": place("register"), "response_types_supported": ["code"],
                "code_challenge_methods_supported": ["S256"] })),
            "/register" => answer(
                "201 Created",
                "application/json",
                &json!({ "client_id": "us", "redirect_uris": ["http://127.0.0.1:7/back"] }).to_string(),
            ),
            "/token" => message(json!({ "access_token": "sesame", "token_type": "Bearer" })),
            _ => answer("404 Not Found", "text/plain", "no"),
        }
    })
    .await
}

/// Registers it, logs in, and says how far that came.
async fn log_in(town: &Arc<Town>, port: u16) -> Result<(), String> {
    let host = host(town, with_tokens());
    let why = register(&host, &format!("http://public.example:{port}/mcp")).await;
    assert!(why.unwrap_err().contains("needs a login"));
    let page = host.log_in(&id(), "http://127.0.0.1:7/back").await?;
    let page = reqwest::Url::parse(&page).unwrap();
    let (_, state) = page.query_pairs().find(|(key, _)| key == "state").unwrap();
    let back = format!("http://127.0.0.1:7/back?code=good&state={state}");
    host.logged_in(&back).await.map(|_| ())
}

#[tokio::test]
async fn p17_nothing_that_a_server_says_about_its_login_leads_inside() {
    let town = Town::new();
    let trap = Web::trap().await;
    for target in inside(&town, trap.port) {
        let is_name = target.contains(".example");
        for named in ["about", "server", "login", "register", "token"] {
            let web = wanting(named, target.clone()).await;
            let ended = log_in(&town, web.port).await;
            // The login page is opened by the person's browser, which asks for the names by itself; and where its
            // description cannot be had, a server is looked at in the usual places.
            let may = named == "about" || (named == "login" && is_name);
            assert!(may || ended.is_err(), "{named} {target}: {ended:?}");
        }
    }
    assert_eq!((trap.accepted(), town.breaches()), (0, 0));
    let web = wanting("nothing", String::new()).await;
    assert_eq!(log_in(&town, web.port).await, Ok(()));
}

/// Set in the process that runs with proxies; says which port and policy.
const CHILD: &str = "GANGWAY_P17_CHILD";

#[tokio::test]
async fn p17_no_proxy_of_the_environment_is_asked_about_a_url_from_a_page() {
    if let Ok(policy) = std::env::var(CHILD) {
        let town = Town::new();
        let host = host(&town, Settings::default());
        let policy = match policy.as_str() {
            "any" => UrlPolicy::Any,
            _ => UrlPolicy::PublicOnly,
        };
        for url in ["http://public.example:9/", "https://public.example:9/"] {
            host.set_up(vec![ServerSpec::http(id(), url, policy)]).await;
            host.ready(&id()).await.unwrap_err();
        }
        return;
    }
    let proxy = Web::trap().await;
    let address = format!("http://127.0.0.1:{}", proxy.port);
    for policy in ["public", "any"] {
        let mut child = tokio::process::Command::new(std::env::current_exe().unwrap());
        child.args([
            "--exact",
            "promises::p17_ssrf::p17_no_proxy_of_the_environment_is_asked_about_a_url_from_a_page",
        ]);
        for name in ["http_proxy", "https_proxy", "all_proxy"] {
            child.env(name, &address).env(name.to_uppercase(), &address);
        }
        child.env_remove("NO_PROXY").env_remove("no_proxy");
        let ended = child.env(CHILD, policy).output().await.unwrap();
        assert!(ended.status.success(), "{ended:?}");
        // What a person typed in goes the way that the person's other programs go.
        assert_eq!(proxy.accepted() > 0, policy == "any");
    }
}

#[test]
fn p17_the_addresses_here_are_what_they_are_said_to_be() {
    let public = |text: &str| gangway_mcp::is_public(text.parse::<IpAddr>().unwrap());
    assert!(public(PUBLIC) && !PRIVATE.into_iter().any(public));
}
