//! Agents that are invited to a chat: Gangway is the host of its pages.

use std::time::Duration;

use gangway_testing::{
    eventually,
    relay_client::{Client, code},
    server::client,
};
use reqwest::{Method, StatusCode};
use serde_json::{Value, json};
use tokio::task::JoinHandle;
use tokio_util::task::AbortOnDropHandle;

use crate::server::TestServer;

async fn invite(server: &TestServer, chat: &str, request: Value) -> Value {
    let path = format!("/api/sessions/{chat}/invitations");
    let (status, created) = server.post(&path, request).await;
    assert_eq!(status, StatusCode::CREATED, "{created}");
    created
}

fn join_as_agent(chat: &str, token: &Value) -> Value {
    json!({ "role": "agent", "sessionId": chat, "token": token, "presence": false })
}

/// An agent without other credentials that has joined.
async fn joined(server: &TestServer, join: Value) -> (Client, Value) {
    let mut agent = Client::stranger(server).await;
    let joined = agent.ask("relay.join", join).await;
    assert_eq!(joined["type"], "relay.joined", "{joined}");
    (agent, joined["payload"].clone())
}

async fn invited(server: &TestServer, chat: &str) -> Client {
    let created = invite(server, chat, json!({ "label": "Helper" })).await;
    joined(server, join_as_agent(chat, &created["token"]))
        .await
        .0
}

/// A page of a chat with this name; it offers `add`.
async fn page(server: &TestServer, chat: &str, name: &str) -> AbortOnDropHandle<()> {
    let join = json!({ "role": "host", "sessionId": name, "gangwaySession": chat });
    let mut host = Client::joined(server, join).await.0;
    let task: JoinHandle<()> = tokio::spawn(async move {
        while let Some(asked) = host.next().await {
            let number = json!({ "type": "integer" });
            let tool =
                json!({ "name": "add", "description": "Adds.", "parameters": { "a": number } });
            match asked["type"].as_str().unwrap() {
                "snapshot.get" => {
                    let state = json!({ "uiSpec": { "kind": "lamp" }, "messageHistory": [], "toolSchema": [tool] });
                    host.reply(&asked, "snapshot.state", state).await;
                }
                "tool.call" => {
                    host.reply(
                        &asked,
                        "tool.result",
                        json!({ "ok": true, "asked": asked["payload"] }),
                    )
                    .await;
                }
                _ => {}
            }
        }
    });
    AbortOnDropHandle::new(task)
}

#[tokio::test]
async fn an_invited_agent_reads_the_pages_and_messages_of_the_chat() {
    let server = TestServer::start().await;
    let chat = server.session().await;
    server.send_message(&chat, "Hello there").await;
    let _page = page(&server, &chat, "lamp").await;
    let _other = page(&server, &server.session().await, "other").await;
    let created = invite(&server, &chat, json!({ "label": "Helper" })).await;
    let (mut agent, about) = joined(&server, join_as_agent(&chat, &created["token"])).await;
    assert_eq!(
        (&about["sessionId"], &about["host"]),
        (&json!(chat), &json!(true))
    );
    let snapshot = agent.ask("snapshot.get", json!({})).await;
    let shown = &snapshot["payload"];
    let pages = shown["uiSpec"]["pages"].as_array().unwrap();
    assert_eq!(pages.len(), 1, "{snapshot}");
    assert_eq!(pages[0]["server"], "page-lamp");
    assert_eq!(pages[0]["state"], json!({ "kind": "lamp" }));
    let tools = shown["toolSchema"].as_array().unwrap();
    let names: Vec<_> = tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    let expected = [
        "page-lamp/look",
        "page-lamp/add",
        "gangway/list_pages",
        "gangway/read_page",
        "gangway/next_page_event",
    ];
    assert_eq!(names, expected);
    assert_eq!(tools[1]["parameters"]["a"], json!({ "type": "integer" }));
    assert_eq!(tools[1]["parameters"]["reason"]["optional"], true);
    let messages = shown["messageHistory"].as_array().unwrap();
    assert_eq!(
        (&messages[0]["type"], &messages[0]["text"]),
        (&json!("user"), &json!("Hello there"))
    );
    let call =
        |tool: &str| json!({ "toolName": tool, "params": {}, "reason": "to see what is there" });
    let looked = agent.ask("tool.call", call("page-lamp/look")).await;
    assert_eq!(looked["payload"]["result"]["uiSpec"]["kind"], "lamp");
    for unknown in ["look", "page-other/look", "page-lamp/none"] {
        let refused = agent.ask("tool.call", call(unknown)).await;
        assert_eq!(code(&refused), "UNKNOWN_TOOL", "{unknown}");
    }
    for kind in ["session.start", "session.reset", "session.end"] {
        assert_eq!(
            code(&agent.ask(kind, json!({})).await),
            "SESSION_NOT_ACTIVE"
        );
    }
}

#[tokio::test]
async fn messages_of_the_person_reach_the_agent_and_those_of_the_agent_are_in_the_chat() {
    let server = TestServer::start().await;
    let chat = server.session().await;
    server.send_message(&chat, "Before it came").await;
    let mut agent = invited(&server, &chat).await;
    server.send_message(&chat, "Are you there?").await;
    let heard = agent.receive_type("user.message").await;
    assert_eq!(
        heard["payload"],
        json!({ "text": "Are you there?", "stage": "chat" })
    );
    agent
        .send_message("agent.message", json!({ "text": "Yes" }))
        .await;
    let said = eventually(async || {
        let lines = server.history(&chat).await.into_iter();
        let mut said = lines.filter(|line| line["role"] == "pageMessage");
        said.next()
    })
    .await;
    assert_eq!(
        (&said["content"], &said["by"]),
        (&json!("Yes"), &json!("Helper"))
    );
    for wrong in [
        json!({}),
        json!({ "text": "" }),
        json!({ "text": "x".repeat(16_001) }),
    ] {
        let refused = agent.ask("agent.message", wrong).await;
        assert_eq!(code(&refused), "INVALID_PARAMS");
    }
}

#[tokio::test]
async fn the_agent_hears_when_pages_come_and_go() {
    let server = TestServer::start().await;
    let chat = server.session().await;
    let created = invite(&server, &chat, json!({})).await;
    let mut join = join_as_agent(&chat, &created["token"]);
    join["presence"] = json!(true);
    let (mut agent, about) = joined(&server, join).await;
    assert_eq!(about["host"], false);
    let lamp = page(&server, &chat, "lamp").await;
    let presence = agent.receive_type("relay.presence").await;
    assert_eq!(
        presence["payload"],
        json!({ "host": true, "agents": 1, "names": ["External agent"] })
    );
    let update = agent.receive_type("state.updated").await;
    let payload = &update["payload"];
    assert_eq!(payload["source"], "stage");
    assert_eq!(payload["uiSpec"]["pages"][0]["server"], "page-lamp");
    assert_eq!(payload["toolSchema"][0]["name"], "page-lamp/look");
    drop(lamp);
    loop {
        let update = agent.receive_type("state.updated").await;
        if update["payload"]["uiSpec"]["pages"] == json!([]) {
            assert_eq!(update["payload"]["toolSchema"], json!([]));
            return;
        }
    }
}

#[tokio::test]
async fn a_token_opens_its_own_chat_to_agents_and_nothing_else() {
    let server = TestServer::start().await;
    let (chat, other) = (server.session().await, server.session().await);
    let created = invite(&server, &chat, json!({})).await;
    let token = &created["token"];
    let elsewhere = gangway_core::SessionId::new().to_string();
    let shop = "shop".parse().unwrap();
    let keyed = server.service.relay.tokens.make(&shop).await.unwrap();
    for refused in [
        join_as_agent(&other, token),
        join_as_agent("default", token),
        join_as_agent("shop", token),
        join_as_agent(&elsewhere, token),
        join_as_agent(&chat, &json!("gwi_wrong")),
        join_as_agent(&chat, &json!(keyed.agent)),
        json!({ "role": "agent", "sessionId": chat }),
        json!({ "role": "host", "sessionId": "default", "token": token }),
        json!({ "role": "host", "sessionId": "mine", "gangwaySession": chat, "token": token }),
    ] {
        let mut agent = Client::stranger(&server).await;
        let answer = agent.ask("relay.join", refused.clone()).await;
        assert_eq!(code(&answer), "SESSION_NOT_ACTIVE", "{refused}");
    }
    // Not even the person's own page takes the place of the chat.
    let mut host = Client::connect(&server).await;
    let join = json!({ "role": "host", "sessionId": chat });
    assert_eq!(code(&host.ask("relay.join", join).await), "INVALID_MESSAGE");
    // Nor does it open the API.
    let url = server.url(&format!("/api/sessions/{chat}/invitations"));
    let answer = client(token.as_str().unwrap()).get(url).send().await;
    assert_eq!(answer.unwrap().status(), StatusCode::UNAUTHORIZED);
    // In another case the id is the same chat.
    let join = join_as_agent(&chat.to_uppercase(), &created["token"]);
    let (_, about) = joined(&server, join).await;
    assert_eq!(about["sessionId"], json!(chat));
}

#[tokio::test]
async fn a_key_joins_a_chat_with_the_scopes_for_both() {
    let server = TestServer::start().await;
    let chat = server.session().await;
    for (scopes, may) in [
        (&["relay.agent"][..], false),
        (&["chat"][..], false),
        (&["chat", "relay.host"][..], false),
        (&["chat", "relay.agent"][..], true),
    ] {
        let key = server.key_for(scopes).await.key;
        let mut agent = Client::raw(&server, &[("authorization", &format!("Bearer {key}"))])
            .await
            .unwrap();
        let join = json!({ "role": "agent", "sessionId": chat });
        let joined = agent.ask("relay.join", join).await;
        assert_eq!(joined["type"] == "relay.joined", may, "{scopes:?} {joined}");
    }
}

#[tokio::test]
async fn an_invitation_ends_when_it_expires_or_is_revoked_and_with_its_chat() {
    let mut server = TestServer::start().await;
    let chat = server.session().await;
    let short = invite(&server, &chat, json!({ "expiresIn": 60 })).await;
    let long = invite(&server, &chat, json!({ "label": "Long" })).await;
    let last = invite(&server, &chat, json!({ "label": "Last" })).await;
    let (mut first, _) = joined(&server, join_as_agent(&chat, &short["token"])).await;
    let (mut second, _) = joined(&server, join_as_agent(&chat, &long["token"])).await;
    let (mut third, _) = joined(&server, join_as_agent(&chat, &last["token"])).await;
    let path = format!("/api/sessions/{chat}/invitations");
    let (_, listed) = server.get(&path).await;
    assert_eq!(listed["agents"], json!(["External agent", "Long", "Last"]));
    assert!(!listed.to_string().contains("gwi_"), "{listed}");
    server.pass(Duration::from_secs(61)).await;
    assert_eq!(first.end().await, Some(4001));
    let id = long["invitation"]["invitationId"].as_str().unwrap();
    let one = format!("{path}/{id}");
    let (status, _) = server.call(Method::DELETE, &one, None).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    assert_eq!(second.end().await, Some(4001));
    let (status, _) = server.call(Method::DELETE, &one, None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    server.delete(&chat).await;
    assert_eq!(third.end().await, Some(4004));
    let mut late = Client::stranger(&server).await;
    let answer = late.ask("relay.join", join_as_agent(&chat, &last["token"]));
    assert_eq!(code(&answer.await), "SESSION_NOT_ACTIVE");
    let (status, _) = server.get(&path).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn an_expired_token_is_no_token() {
    let server = TestServer::start().await;
    let chat = server.session().await;
    let past = jiff::Timestamp::now() - Duration::from_secs(1);
    let invitations = &server.service.relay.invitations;
    let made = invitations
        .make(chat.parse().unwrap(), "Late".to_owned(), past)
        .await
        .unwrap()
        .unwrap();
    let mut agent = Client::stranger(&server).await;
    let join = join_as_agent(&chat, &json!(made.token));
    assert_eq!(
        code(&agent.ask("relay.join", join).await),
        "SESSION_NOT_ACTIVE"
    );
    assert!(invitations.of(chat.parse().unwrap()).is_empty());
}

#[tokio::test]
async fn invitations_survive_a_restart_and_are_listed_and_revoked_beside_the_tokens() {
    let server = TestServer::start().await;
    let chat = server.session().await;
    let created = invite(&server, &chat, json!({ "label": "Helper" })).await;
    let server = server.restart().await;
    let (_agent, _) = joined(&server, join_as_agent(&chat, &created["token"])).await;
    let (_, listed) = server.get("/api/relay").await;
    assert_eq!(listed["invitations"][0]["sessionId"], json!(chat));
    assert_eq!(listed["invitations"][0]["agents"], 1);
    let path = format!("/api/relay/tokens/{chat}");
    let (status, _) = server.call(Method::DELETE, &path, None).await;
    assert_eq!(status, StatusCode::NO_CONTENT);
    let (_, listed) = server.get("/api/relay").await;
    assert_eq!(listed["invitations"], json!([]));
    for wrong in [
        json!({ "label": "x".repeat(61) }),
        json!({ "label": "a\u{202e}b" }),
        json!({ "expiresIn": 0 }),
        json!({ "expiresIn": 2_592_001 }),
        json!({ "scopes": [] }),
    ] {
        let path = format!("/api/sessions/{chat}/invitations");
        let (status, _) = server.post(&path, wrong.clone()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{wrong}");
    }
}

#[tokio::test]
async fn an_agent_that_floods_a_chat_is_refused_and_the_chat_stays_usable() {
    let server = TestServer::start().await;
    let chat = server.session().await;
    let mut agent = invited(&server, &chat).await;
    for _ in 0..120 {
        agent
            .send_message("agent.message", json!({ "text": "again" }))
            .await;
    }
    let refused = agent.ask("agent.message", json!({ "text": "again" })).await;
    assert_eq!(code(&refused), "TOOL_EXECUTION_FAILED");
    let _page = page(&server, &chat, "lamp").await;
    let look = json!({ "toolName": "page-lamp/look", "params": {}, "reason": "again" });
    let (mut calls, mut last) = (0, Value::Null);
    while last["type"] != "error" {
        last = agent.ask("tool.call", look.clone()).await;
        calls += 1;
    }
    assert!(calls > 240 && last.to_string().contains("in a minute"));
    let mut answers = 0;
    for _ in 0..100 {
        agent.send_message("snapshot.get", json!({})).await;
    }
    while answers < 100 {
        let received = agent.receive().await;
        answers += usize::from(received["replyTo"].is_string());
    }
    let mut other = invited(&server, &chat).await;
    let snapshot = other.ask("snapshot.get", json!({})).await;
    assert_eq!(snapshot["type"], "snapshot.state");
}

#[tokio::test]
async fn what_hostile_pages_are_called_is_bounded_and_shown_as_text() {
    let server = TestServer::start().await;
    let chat = server.session().await;
    let join = json!({ "role": "host", "sessionId": "lamp", "gangwaySession": chat });
    let mut host = Client::joined(&server, join).await.0;
    let mut agent = invited(&server, &chat).await;
    let asked = agent.send_message("snapshot.get", json!({})).await;
    let mut deep = json!(1);
    for _ in 0..90 {
        deep = json!([deep]);
    }
    let tools: Vec<_> = (0..100)
        .map(|n| json!({ "name": format!("t{n}"), "description": "x\u{202e}".repeat(2_000) }))
        .collect();
    let mut states = [json!({ "big": "x".repeat(100_000) }), deep]
        .into_iter()
        .cycle();
    let snapshot = loop {
        tokio::select! {
            request = host.receive() => if request["type"] == "snapshot.get" {
                let state = json!({ "uiSpec": states.next(), "messageHistory": [], "toolSchema": tools });
                host.reply(&request, "snapshot.state", state).await;
            },
            received = agent.receive() => if received["replyTo"] == asked.as_str() {
                break received;
            },
        }
    };
    assert_eq!(snapshot["type"], "snapshot.state");
    assert!(snapshot.to_string().len() < 2 << 20);
    let shown = &snapshot["payload"]["uiSpec"]["pages"][0];
    assert_eq!(shown["stateOmitted"], true);
    assert_eq!(shown["state"], Value::Null);
    assert!(!snapshot.to_string().contains('\u{202e}'));
}
