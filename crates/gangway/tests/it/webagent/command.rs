//! `gangway permissions`, as a person uses it.

use std::{
    path::{Path, PathBuf},
    sync::Arc,
};

use gangway_client::{DataFolder, ServerNote};
use gangway_core::{Grant, Scope, Tool};
use gangway_testing::webagent_client::SHOP;
use gangway_webagent::permissions::{AskId, Decision, PermissionQuery};
use serde_json::{Value, json};
use tokio::sync::mpsc;

use crate::support::{Gangway, TestServer};

/// Whether it worked, and what it printed.
async fn run(data: &Path, arguments: &[&str]) -> (bool, String) {
    let data = data.to_owned();
    let arguments: Vec<_> = arguments.iter().map(|a| (*a).to_owned()).collect();
    let output = tokio::task::spawn_blocking(move || {
        let mut all = vec!["permissions"];
        all.extend(arguments.iter().map(String::as_str));
        Gangway::run(&data, &all)
    });
    let output = output.await.unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

async fn ok(data: &Path, arguments: &[&str]) -> String {
    let (worked, text) = run(data, arguments).await;
    assert!(worked, "{arguments:?}: {text}");
    text
}

async fn fails(data: &Path, arguments: &[&str]) -> String {
    let (worked, text) = run(data, arguments).await;
    assert!(!worked, "{arguments:?}: {text}");
    text
}

fn tool(name: &str) -> Arc<Tool> {
    Arc::new(Tool {
        name: name.parse().unwrap(),
        description: format!("What {name} does"),
        input_schema: json!({ "type": "object" }),
    })
}

/// A folder whose note names the server of the test.
fn leading_to(server: &TestServer) -> (tempfile::TempDir, PathBuf, DataFolder) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let mut taken = DataFolder::take(&path).unwrap();
    let note = ServerNote {
        pid: std::process::id(),
        url: server.url(""),
        token: "local-token".into(),
        for_browser: false,
    };
    taken.announce(&note).unwrap();
    (folder, path, taken)
}

#[tokio::test]
async fn a_question_is_seen_and_answered_in_a_terminal() {
    let server = TestServer::start().await;
    let (_folder, data, _taken) = leading_to(&server);
    assert!(
        ok(&data, &["pending"])
            .await
            .contains("no pending requests")
    );
    let asked = PermissionQuery {
        origin: SHOP.parse().unwrap(),
        tab: format!("{:032x}", 1).parse().unwrap(),
        embedder: None,
        scopes: vec![Scope::ToolsCall, Scope::ChatOpen],
        reason: "To \u{1b}[2Jfind things".into(),
        tools: None,
        offered: vec![tool("files/read"), tool("files/write")],
        server: None,
        hidden: false,
        session: None,
    };
    let (tell, mut shown) = mpsc::channel(1);
    let permissions = Arc::clone(&server.app.web_agent.permissions);
    let asking = tokio::spawn(async move {
        let message = move |id: &AskId| tell.try_send(id.clone()).unwrap();
        permissions.request(asked, message).await
    });
    let id = shown.recv().await.unwrap().to_string();
    let shown = ok(&data, &["pending"]).await;
    for word in [
        SHOP,
        &id[..8],
        "mcp:tools.call  (high risk)",
        "chat:open  (low risk)",
        "find things",
        "tool 2: files/write",
    ] {
        assert!(shown.contains(word), "{word}: {shown}");
    }
    assert!(!shown.contains('\u{1b}'));
    let json: Value = serde_json::from_str(&ok(&data, &["pending", "--json"]).await).unwrap();
    assert_eq!(json["asks"][0]["id"], id);
    let strange = fails(&data, &["answer", &id, "always", "--tool", "files/delete"]).await;
    assert!(strange.contains("files/delete"), "{strange}");
    assert!(
        fails(&data, &["answer", "0000zzzz", "once"])
            .await
            .contains("permissions pending")
    );
    assert!(
        fails(&data, &["answer", &id, "perhaps"])
            .await
            .contains("once")
    );
    ok(
        &data,
        &["answer", &id[..8], "always", "--tool", "files/read"],
    )
    .await;
    let outcome = asking.await.unwrap().unwrap();
    assert_eq!(outcome.decision, Decision::Always);
    assert_eq!(outcome.standing.tools.unwrap().len(), 1);
    assert!(
        fails(&data, &["answer", &id, "deny"])
            .await
            .contains("no longer open")
    );
    let log = ok(&data, &["log", "--origin", SHOP]).await;
    assert!(
        log.contains("chat:open  asked  always  by terminal"),
        "{log}"
    );
}

#[tokio::test]
async fn sites_are_allowed_refused_revoked_and_forgotten_with_and_without_a_server() {
    let server = TestServer::start().await;
    let (_folder, through, _taken) = leading_to(&server);
    let alone = tempfile::tempdir().unwrap();
    for data in [through.as_path(), alone.path()] {
        assert!(ok(data, &[]).await.contains("No site"));
        let shown = ok(
            data,
            &[
                "allow",
                "HTTPS://Shop.Example/",
                "mcp:tools.call",
                "model:prompt",
            ],
        )
        .await;
        assert!(shown.contains("No tools are allowed yet"), "{shown}");
        for name in ["a/one", "a/two"] {
            ok(data, &["allow", SHOP, "mcp:tools.call", "--tool", name]).await;
        }
        let shown = ok(data, &["deny", SHOP, "chat:open"]).await;
        for line in [
            "model:prompt  granted-always",
            "chat:open  denied",
            "tools: a/one, a/two",
        ] {
            assert!(shown.contains(line), "{line}: {shown}");
        }
        ok(data, &["revoke", SHOP, "model:prompt"]).await;
        let json: Value = serde_json::from_str(&ok(data, &["list", "--json"]).await).unwrap();
        assert_eq!(json["origins"][0]["scopes"]["model:prompt"], "not-granted");
        assert_eq!(
            json["origins"][0]["allowedTools"],
            json!(["a/one", "a/two"])
        );
        assert!(ok(data, &["revoke", SHOP]).await.contains("may ask again"));
        assert!(ok(data, &["list"]).await.contains("No site"));
        ok(data, &["deny", "https://a.example", "model:list"]).await;
        assert!(fails(data, &["clear"]).await.contains("--yes"));
        assert!(ok(data, &["clear", "--yes"]).await.contains("1 sites"));
        assert!(ok(data, &["list"]).await.contains("No site"));
        let log = ok(data, &["log", "--limit", "1"]).await;
        assert!(log.contains("https://a.example  forget"), "{log}");
        assert!(
            fails(data, &["allow", SHOP, "model:all"])
                .await
                .contains("model:prompt")
        );
        assert!(
            fails(data, &["allow", "null", "model:prompt"])
                .await
                .contains("https://shop.example")
        );
        assert!(fails(data, &["allow", SHOP]).await.contains("SCOPE"));
    }
    let standing = server
        .app
        .web_agent
        .permissions
        .standing(&SHOP.parse().unwrap());
    assert_eq!(standing.of(Scope::ChatOpen), Grant::NotGranted);
    assert!(
        fails(alone.path(), &["pending"])
            .await
            .contains("gangway serve")
    );
    assert!(
        fails(alone.path(), &["answer", &"0".repeat(32), "once"])
            .await
            .contains("gangway serve")
    );
}
