//! P18: a page of another origin that may use the person's models learns no key of theirs.

use std::fs;

use futures_util::StreamExt;
use gangway_testing::webagent_client::{Broker, SHOP};
use reqwest::Method;
use serde_json::{Value, json};

use super::{KINDS, Stage};

impl Stage {
    /// One provider in a session and on the OpenAI door, as it answers and as it fails.
    pub(super) async fn talk(&mut self, provider: &str) {
        let body = json!({ "agent": "builtin", "model": provider, "title": provider });
        let (status, session) = self.call(Method::POST, "/api/sessions", body).await;
        assert_eq!(status, 201, "{session}");
        let session = format!("/api/sessions/{}", session["sessionId"].as_str().unwrap());
        let feed = format!("{}{session}/events", self.server.url);
        let feed = crate::support::socket(&feed, &self.server.token);
        let (mut socket, _) = tokio_tungstenite::connect_async(feed).await.unwrap();
        for prompt in ["please answer", "please break", "please refuse"] {
            let text = json!({ "prompt": prompt });
            let (_, text) = self
                .call(Method::POST, &format!("{session}/messages"), text)
                .await;
            let stream = format!("/api/stream/{}", text["streamId"].as_str().unwrap());
            let (_, received) = self.get(&stream).await;
            let expected = match prompt {
                "please answer" => "[key]",
                _ => "no such key",
            };
            assert!(
                received.contains(expected),
                "{provider} {prompt}: {received}"
            );
            let mut feed = String::new();
            while !feed.contains("\"outcome\"") {
                let message = socket.next().await.unwrap().unwrap();
                feed += message.to_text().unwrap();
            }
            self.seen.add("the feed", feed);
            for stream in [false, true] {
                let messages = [json!({ "role": "user", "content": prompt })];
                let body = json!({ "model": provider, "messages": messages, "stream": stream });
                self.call(Method::POST, "/v1/chat/completions", body).await;
            }
        }
        let id = session.rsplit('/').next().unwrap().to_owned();
        self.get(&format!("{session}/export")).await;
        self.get(&format!("/api/history?session={id}")).await;
        let page = self.request(Method::GET, &format!("/api/history?session={id}"), None);
        self.seen.ask(page.header("accept", "text/html")).await;
    }

    /// A page that may do everything lists providers and talks to each, as it answers and as it fails.
    pub(super) async fn visit(&mut self) {
        let note = fs::read(self.data().join("server.lock")).unwrap();
        let note: Value = serde_json::from_slice(&note).unwrap();
        let scopes = [
            "model:prompt",
            "model:list",
            "model:tools",
            "mcp:tools.list",
            "mcp:tools.call",
            "chat:open",
        ];
        let scopes: serde_json::Map<_, _> = scopes
            .iter()
            .map(|scope| ((*scope).to_owned(), json!("granted-always")))
            .collect();
        let body = json!({ "origin": SHOP, "scopes": scopes });
        let grant = self.request(Method::PATCH, "/api/permissions", Some(&body));
        let grant = grant.bearer_auth(note["token"].as_str().unwrap());
        assert_eq!(grant.send().await.unwrap().status(), 200);

        let address = self.server.url.trim_start_matches("http://");
        let mut page = Broker::at(address.parse().unwrap(), &self.server.token, SHOP).await;
        for method in [
            "providers.list",
            "capabilities",
            "tools.list",
            "permissions.list",
        ] {
            let message = page.call(method, json!({})).await.unwrap();
            self.seen.add(method, message.to_string());
        }
        let listed = page.call("providers.list", json!({})).await.unwrap();
        assert!(listed.to_string().contains("env-openai"), "{listed}");
        for kind in KINDS {
            for source in ["env", "cli", "web"] {
                self.ask(&mut page, &format!("{source}-{kind}")).await;
            }
        }
        for (method, params) in [
            ("text.create", json!({ "provider": "nothing" })),
            ("chat.open", json!({ "systemPrompt": "be kind" })),
            ("nothing", json!({})),
        ] {
            let message = page.call(method, params).await;
            self.seen.add(method, format!("{message:?}"));
        }
    }

    /// One provider, as a conversation and as a task.
    async fn ask(&mut self, page: &mut Broker, provider: &str) {
        for input in ["please answer", "please break", "please refuse"] {
            let request = json!({ "provider": provider });
            let made = page.call("text.create", request).await.unwrap();
            let prompt = json!({ "sessionId": made["sessionId"], "input": input });
            let talk = page.begin("text.prompt", prompt).await;
            let message = page.end(talk).await;
            let expected = match input {
                "please answer" => "[key]",
                _ => "ERR_MODEL_FAILED",
            };
            let message = format!("{message:?}");
            assert!(message.contains(expected), "{provider} {input}: {message}");
            self.seen.add("text.prompt", message);
            page.call("text.destroy", made).await.unwrap();
            let task = json!({ "task": input, "provider": provider });
            let run = page.begin("run", task).await;
            let message = page.end(run).await;
            self.seen.add("run", format!("{message:?}"));
        }
    }
}
