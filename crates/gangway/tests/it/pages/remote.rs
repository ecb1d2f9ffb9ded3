//! Remote agents with the pages of their sessions: the real program in tmux.

use gangway::config::Config;
use gangway_providers::ModelAccess;
use gangway_remote::config::{PersonaConfig, ProjectConfig};
use gangway_testing::{
    remote_client::{RemoteClient, SKILL, TestAgent, create_request},
    remote_stock::Swept,
    webagent_client::{calls, end, says},
    weblets_client::{WebletSocket, put_notes},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use super::{Pages, SERVERS, numbers, opened_in};
use crate::{
    providers::fake::Fake,
    remote::{backend, program},
    support::{LOCAL_TOKEN, TestServer, eventually},
};

/// A server with a project and a persona, and a client that creates agents.
struct Yard {
    _swept: Swept,
    _projects: TempDir,
    server: TestServer,
    agents: RemoteClient,
}

impl Yard {
    /// The agents have this model.
    async fn with(model: &Fake, approval: &str) -> Self {
        Self::running(model, approval, |_| {}).await
    }

    /// The same with other settings.
    async fn running(model: &Fake, approval: &str, change: impl FnOnce(&mut Config)) -> Self {
        let base = model.start().await;
        let yaml = format!(
            "providers: {{ m: {{ type: openai, base_url: '{base}', model: m }} }}\ntools: {{ approval: {approval} }}"
        );
        let mut config = Config::parse(&yaml).unwrap();
        let (folder, projects) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        for name in ["shop", "clerk"] {
            std::fs::create_dir(projects.path().join(name)).unwrap();
        }
        let folder_of = |name: &str| projects.path().join(name);
        std::fs::write(folder_of("clerk").join("skill.md"), SKILL).unwrap();
        let project = ProjectConfig {
            folder: folder_of("shop"),
            backend: None,
            model: None,
            mcp_servers: None,
        };
        config.projects.insert("shop".into(), project);
        let persona = PersonaConfig {
            folder: folder_of("clerk"),
            active: true,
        };
        config.personas.insert("clerk".into(), persona);
        config.apps = vec![put_notes(folder.path())];
        change(&mut config);
        let swept = Swept(folder.path().to_owned());
        let server = TestServer::with_access(folder, config, ModelAccess::default()).await;
        Self {
            _swept: swept,
            _projects: projects,
            agents: RemoteClient::at(&server.url(""), LOCAL_TOKEN),
            server,
        }
    }

    /// An agent that has answered its first message.
    async fn agent(&self) -> TestAgent {
        let made = self.agents.made(create_request("Hello.")).await;
        self.agents.until_state(&made, "complete").await;
        made
    }

    async fn tell(&self, made: &TestAgent, text: &str) {
        let (status, message) = self
            .agents
            .post(made, "messages", json!({ "text": text }))
            .await;
        assert_eq!(status, 202, "{message}");
    }

    /// The first entry of this role in the conversation.
    async fn entry(&self, made: &TestAgent, role: &str) -> Value {
        eventually(async || {
            let (_, history) = self.agents.get(made, "history").await;
            let entries = history["entries"].as_array().unwrap();
            entries.iter().find(|entry| entry["role"] == role).cloned()
        })
        .await
    }
}

/// A model that greets, and makes these calls when it is asked to add.
fn adding(wanted: &[(&str, &str)]) -> Fake {
    let adding = Fake::streams(&[&says("Five."), &end()]).first_says(&[&calls(wanted)]);
    Fake::streams(&[&says("Good day."), &end()]).when("Add them", adding)
}

fn tools_of(request: &Value) -> Vec<String> {
    let tools = request["tools"].as_array().cloned().unwrap_or_default();
    let names = tools.iter().map(|tool| tool["function"]["name"].as_str());
    names.map(|name| name.unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_remote_agent_calls_a_tool_of_every_kind_of_page_of_its_session() {
    let names = SERVERS.map(|server| format!("{server}__add"));
    let arguments = SERVERS.map(|server| numbers(2, 3, server).to_string());
    let mut wanted: Vec<_> = names
        .iter()
        .zip(&arguments)
        .map(|(name, arguments)| (name.as_str(), arguments.as_str()))
        .collect();
    // What a page on the relay shows is a tool, too.
    wanted.push(("page-lamp__look", "{}"));
    let wrong = json!({ "a": "two", "b": 3 }).to_string();
    wanted.push((names[0].as_str(), &wrong));
    wanted.push(("gangway__read_page", r#"{"page":"page-notes"}"#));
    wanted.push((
        "gangway__next_page_event",
        r#"{"page":"page-notes","after":0}"#,
    ));
    let model = adding(&wanted);
    let yard = Yard::with(&model, "none").await;
    let (made, other) = (yard.agent().await, yard.agent().await);
    let _pages = Pages::open_in(&yard.server, &made.session).await;
    yard.tell(&made, "Add them").await;
    let done = eventually(async || {
        let answers = yard.agents.answers(&made).await;
        (answers.last()? == "Five.").then_some(answers)
    })
    .await;
    assert_eq!(done, ["Good day.", "Five."]);
    let asked = model.asked();
    let asking = |request: &&Value| request["messages"].to_string().contains("Add them");
    let asked: Vec<_> = asked.iter().filter(asking).collect();
    let offered = tools_of(asked[0]);
    for (name, _) in &wanted {
        assert!(offered.iter().any(|one| one == name), "{offered:?}");
    }
    let messages = asked[1]["messages"].as_array().unwrap().iter();
    let results: Vec<String> = messages
        .filter(|message| message["role"] == "tool")
        .map(|message| message["content"].to_string())
        .collect();
    assert_eq!(results.len(), 8, "{results:?}");
    let shows = ["sum", "sum", "sum", "sum", "lamp", "/a", "notes", "added"];
    for (n, shown) in shows.iter().enumerate() {
        assert!(results[n].contains(shown), "{results:?}");
    }
    // The server has logged them, each with its result.
    let (_, history) = yard.agents.get(&made, "history").await;
    let entries = history["entries"].as_array().unwrap().iter();
    let logged: Vec<_> = entries
        .filter(|entry| entry["role"] == "tool")
        .map(|entry| (entry["tool"].clone(), entry["state"].clone()))
        .collect();
    assert_eq!(logged.len(), 8, "{logged:?}");
    for server in SERVERS {
        let call = (json!(format!("{server}/add")), json!("done"));
        assert!(logged.contains(&call), "{logged:?}");
    }
    // The agent of another session has none of them.
    yard.tell(&other, "And you?").await;
    eventually(async || (yard.agents.answers(&other).await.len() == 2).then_some(())).await;
    let asked = model.asked();
    let mut asked = asked.iter().filter(|one| one["messages"].is_array());
    let last = tools_of(asked.next_back().unwrap());
    assert!(last.is_empty(), "{last:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_person_s_approval_a_remote_agent_changes_nothing() {
    let arguments = numbers(2, 3, SERVERS[0]).to_string();
    for (answer, state) in [("Allow once", "done"), ("Deny", "failed")] {
        let model = adding(&[("page-notes__add", &arguments)]);
        let yard = Yard::with(&model, "writes").await;
        let made = yard.agent().await;
        let _pages = Pages::open_in(&yard.server, &made.session).await;
        yard.tell(&made, "Add them").await;
        yard.agents.until_state(&made, "awaiting_input").await;
        let question = yard.entry(&made, "question").await;
        let text = question["question"].as_str().unwrap();
        assert!(text.contains("page-notes/add"), "{text}");
        let decide = async |answer: &str| {
            let answer = json!({ "question_id": question["questionId"], "answer": answer });
            yard.agents.post(&made, "answer", answer).await
        };
        // Visitors decide about this agent only.
        assert_eq!(decide("Always allow").await.0, 403);
        assert_eq!(yard.entry(&made, "tool").await["state"], "running");
        assert_eq!(decide(answer).await.0, 200);
        yard.agents.until_state(&made, "complete").await;
        let call = yard.entry(&made, "tool").await;
        assert_eq!(call["state"], state, "{call}");
        let asked = model.asked().last().unwrap().to_string();
        assert_eq!(
            asked.contains("\\\"sum\\\""),
            answer == "Allow once",
            "{asked}"
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_event_of_an_app_that_asks_for_a_turn_reaches_the_remote_agent() {
    let model = Fake::streams(&[&says("I hear."), &end()]);
    let yard = Yard::with(&model, "none").await;
    let made = yard.agent().await;
    let launched = opened_in(&yard.server, &made.session).await;
    let mut page = WebletSocket::page(&yard.server, &launched, "&page=p1").await;
    page.emit("e1", "help-wanted", json!({ "with": "the lamp" }))
        .await;
    let ask = eventually(async || {
        let (_, asks) = yard.server.get("/api/asks").await;
        asks["asks"].as_array()?.first().cloned()
    })
    .await;
    let path = format!("/api/asks/{}", ask["id"].as_str().unwrap());
    let (status, text) = yard.server.post(&path, json!({ "decision": "once" })).await;
    assert!(status.is_success(), "{text}");
    let heard = eventually(async || {
        let asked = model.asked();
        let last = asked.last()?["messages"].to_string();
        last.contains("the lamp").then_some(last)
    })
    .await;
    assert!(heard.contains("help-wanted"), "{heard}");
    let answers = eventually(async || {
        let answers = yard.agents.answers(&made).await;
        (answers.len() == 2).then_some(answers)
    });
    assert_eq!(answers.await, ["I hear.", "I hear."]);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_acp_agent_calls_a_tool_of_every_kind_of_page_over_mcp() {
    let model = Fake::streams(&[&says("Not asked."), &end()]);
    let acp = backend(Some(vec![program()]), None);
    let yard = Yard::running(&model, "writes", |config| {
        acp(config);
        config.remote_agents.creation_timeout_seconds = 15;
    })
    .await;
    let made = yard.agent().await;
    let pages = Pages::open_in(&yard.server, &made.session).await;
    // The first answer is that to its first message.
    for (n, server) in (2..).zip(SERVERS) {
        let arguments = numbers(2, 3, server);
        yard.tell(&made, &format!("page {server}__add {arguments}"))
            .await;
        yard.agents.until_state(&made, "awaiting_input").await;
        let (_, history) = yard.agents.get(&made, "history").await;
        let entries = history["entries"].as_array().unwrap();
        let open = |entry: &&Value| entry["role"] == "question" && entry["answer"].is_null();
        let question = entries.iter().find(open).unwrap();
        let answer = json!({ "question_id": question["questionId"], "answer": "Allow once" });
        assert_eq!(yard.agents.post(&made, "answer", answer).await.0, 200);
        let answers = eventually(async || {
            let answers = yard.agents.answers(&made).await;
            (answers.len() == n).then_some(answers)
        })
        .await;
        let answer = answers.last().unwrap();
        for text in ["\"page-lamp__look\"", "\"structuredContent\"", "\"sum\":5"] {
            assert!(answer.contains(text), "{answer}");
        }
    }
    let (_, history) = yard.agents.get(&made, "history").await;
    let entries = history["entries"].as_array().unwrap().iter();
    let results: Vec<_> = entries
        .filter(|entry| entry["role"] == "tool")
        .map(|entry| entry["result"]["sum"].clone())
        .collect();
    assert_eq!(results, [5, 5, 5, 5]);
    // Nothing of it is left when the agent has ended.
    let socket = yard.server.data().join("agents").join(&made.id);
    assert!(socket.join("pages.sock").exists());
    drop(pages);
    yard.agents.post(&made, "shutdown", json!({})).await;
    yard.agents.until_ended(&made).await;
    eventually(async || (!socket.exists()).then_some(())).await;
}
