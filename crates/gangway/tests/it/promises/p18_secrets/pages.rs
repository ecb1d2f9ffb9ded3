//! P18: a page of another origin that may use the person's models learns no key of theirs.

use std::fs;

use reqwest::Method;
use serde_json::{Value, json};

use super::{KINDS, Stage};
use crate::web_agent::client::{Broker, SHOP};

impl Stage {
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
        let wish = json!({ "origin": SHOP, "scopes": scopes });
        let grant = self.request(Method::PATCH, "/api/permissions", Some(&wish));
        let grant = grant.bearer_auth(note["token"].as_str().unwrap());
        assert_eq!(grant.send().await.unwrap().status(), 200);

        let address = self.server.url.trim_start_matches("http://");
        let mut page = Broker::at(address.parse().unwrap(), SHOP).await;
        for method in [
            "providers.list",
            "capabilities",
            "tools.list",
            "permissions.list",
        ] {
            let told = page.call(method, json!({})).await.unwrap();
            self.seen.add(method, told.to_string());
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
            let told = page.call(method, params).await;
            self.seen.add(method, format!("{told:?}"));
        }
    }

    /// One provider, as a conversation and as a task.
    async fn ask(&mut self, page: &mut Broker, provider: &str) {
        for input in ["please answer", "please break", "please refuse"] {
            let wish = json!({ "provider": provider });
            let made = page.call("text.create", wish).await.unwrap();
            let prompt = json!({ "sessionId": made["sessionId"], "input": input });
            let talk = page.begin("text.prompt", prompt).await;
            let said = page.end(talk).await;
            let expected = match input {
                "please answer" => "[key]",
                _ => "ERR_MODEL_FAILED",
            };
            let said = format!("{said:?}");
            assert!(said.contains(expected), "{provider} {input}: {said}");
            self.seen.add("text.prompt", said);
            page.call("text.destroy", made).await.unwrap();
            let task = json!({ "task": input, "provider": provider });
            let run = page.begin("run", task).await;
            let said = page.end(run).await;
            self.seen.add("run", format!("{said:?}"));
        }
    }
}
