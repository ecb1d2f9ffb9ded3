//! The addresses of MCP servers that sites bring along.

use gangway_testing::{
    fake::Fake,
    webagent_client::{Broker, SHOP, allow},
};
use serde_json::json;

use crate::server::server;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn addresses_of_this_machine_and_its_network_are_no_servers_of_a_site() {
    let server = server(&Fake::streams(&[])).await;
    allow(&server, SHOP, &["mcp:servers.register"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    for url in [
        "http://169.254.169.254/",
        "http://127.0.0.1:3000/mcp",
        "http://localhost:3000/mcp",
        "http://app.localhost/mcp",
        "http://LOCALHOST./mcp",
        "http://[::1]/mcp",
        "http://2130706433/",
        "http://10.0.0.1/mcp",
        "http://192.168.1.1/mcp",
        "file:///etc/passwd",
        "https://a:b@shop.example/mcp",
        "no url",
        "",
    ] {
        // It is refused before anyone is asked.
        let request = json!({ "url": url, "name": "x" });
        let answer = page.call("mcp.register", request).await.unwrap();
        assert_eq!(answer["error"]["code"], "INVALID_URL", "{url}: {answer}");
    }
    let request = json!({ "url": "https://shop.example/mcp", "name": "x", "transport": "stdio" });
    let answer = page.call("mcp.register", request).await.unwrap();
    assert_eq!(answer["error"]["code"], "NOT_SUPPORTED");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_user_is_asked_about_an_address_as_it_is_connected_to() {
    let server = server(&Fake::streams(&[])).await;
    allow(&server, SHOP, &["mcp:servers.register"]).await;
    let mut page = Broker::of(&server, SHOP).await;
    for (spelled, target) in [
        (
            "https://evil.example\\@good.example/mcp",
            "https://evil.example/@good.example/mcp",
        ),
        (
            "https://g\u{43e}\u{43e}d.example/",
            "https://xn--gd-fmca.example/",
        ),
    ] {
        let id = page
            .begin("mcp.register", json!({ "url": spelled, "name": "x" }))
            .await;
        page.until("ask").await;
        let (_, asks) = server.get("/api/asks").await;
        assert_eq!(asks["asks"][0]["request"]["server"]["url"], target);
        page.send_message(json!({ "type": "abort", "id": id }))
            .await;
        assert_eq!(page.end(id).await.1.unwrap_err()["code"], "ERR_ABORTED");
    }
}
