//! What a runner can do with the pages of its session, and what it cannot: the test is the runner.

use gangway_runner::wire::{FromRunner, ToRunner, TurnEvent};
use gangway_testing::{
    runner_client::{NOBODY, Runner},
    socket::TestSocket,
};
use gangway_tools::approvals::ApprovalPolicy;
use serde_json::{Value, json};

use super::{TestAgent, Yard, create_request};
use crate::{
    pages::{add, open_applet},
    support::eventually,
};

const TOOL: &str = "page-calculator/add";

/// A server, the runner of an agent, its turn, and an applet in its session that offers a tool.
struct Stage {
    yard: Yard,
    made: TestAgent,
    runner: Runner,
    turn: u64,
    page: TestSocket,
}

async fn offering(yard: &Yard, session: &str) -> TestSocket {
    let mut page = open_applet(&yard.server, session).await;
    page.send(&json!({ "type": "offerTools", "id": 1, "tools": [add()] }))
        .await;
    page.until("toolsOffered").await;
    page
}

impl Stage {
    async fn open(approval: ApprovalPolicy) -> Self {
        let yard = Yard::with_program(NOBODY, |config| config.tools.approval = approval).await;
        let ((runner, turn), created) = tokio::join!(
            Runner::begin_as(yard.data(), Some(1)),
            yard.create(create_request("Work."))
        );
        let made = TestAgent::of(&created.1);
        let page = offering(&yard, &made.session).await;
        Self {
            yard,
            made,
            runner,
            turn,
            page,
        }
    }

    async fn call_over(&mut self, connection: u64, call: u32, tool: &str, arguments: Value) {
        let what = TurnEvent::PageCall {
            call,
            tool: tool.into(),
            arguments,
            connection,
        };
        self.runner.send_message(self.turn, what).await;
    }

    async fn call(&mut self, call: u32, tool: &str) {
        self.call_over(1, call, tool, json!({ "a": call, "b": 1 }))
            .await;
    }

    /// The result of the next call that ends: its number, and the value or the error.
    async fn result(&mut self) -> (u32, Result<Value, String>) {
        loop {
            if let ToRunner::PageResult { turn, call, result } =
                self.runner.receive().await.unwrap()
            {
                assert_eq!(turn, self.turn);
                return (call, result);
            }
        }
    }

    /// Connects again; the number of the last event that was acknowledged.
    async fn reconnect(&mut self, connection: u64) -> u64 {
        let ticket = Runner::ticket(self.yard.data()).await;
        let (runner, welcome) = Runner::come_as(&ticket, false, Some(connection)).await;
        self.runner = runner;
        let Some(ToRunner::Welcome { heard, .. }) = welcome else {
            panic!("{welcome:?}");
        };
        self.runner.said = heard;
        heard
    }

    async fn entries(&self, role: &str) -> Vec<Value> {
        let (_, history) = self.yard.get(&self.made, "history").await;
        let entries = history["entries"].as_array().unwrap().iter();
        let own = entries.filter(|entry| entry["role"] == role);
        own.cloned().collect()
    }

    /// The call of this number, once it has ended.
    async fn ended(&self, call: usize) -> Value {
        eventually(async || {
            let calls = self.entries("tool").await;
            calls
                .get(call - 1)
                .filter(|call| call["state"] != "running")
                .cloned()
        })
        .await
    }

    async fn answer(&mut self, asked: &Value) {
        let sum = asked["arguments"]["a"].as_i64().unwrap() + 1;
        let result = json!({ "type": "toolResult", "call": asked["call"], "result": sum });
        self.page.send(&result).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runner_hears_of_the_tools_of_its_session_and_of_no_others() {
    let mut stage = Stage::open(ApprovalPolicy::None).await;
    let names = |tools: &[gangway_runner::wire::PageTool]| -> Vec<String> {
        let names = tools.iter().map(|tool| tool.name.clone());
        names.filter(|name| name.starts_with("page-")).collect()
    };
    let other = stage.yard.server.session().await;
    let mut foreign = offering(&stage.yard, &other).await;
    let listed = async |runner: &mut Runner, wanted: &[&str]| loop {
        if let ToRunner::PageTools { connection, tools } = runner.receive().await.unwrap() {
            assert_eq!(connection, 1);
            if names(&tools) == wanted {
                return;
            }
        }
    };
    listed(&mut stage.runner, &[TOOL]).await;
    stage
        .page
        .send(&json!({ "type": "offerTools", "id": 2, "tools": [] }))
        .await;
    listed(&mut stage.runner, &[]).await;
    // Pages of other sessions, MCP servers and Gangway's own tools are out of reach.
    for (n, tool) in (1..).zip([
        "page-calculator-2/add",
        "gangway/list_sessions",
        "files/read",
        TOOL,
        "browser/click",
        "nonsense",
        "",
    ]) {
        stage.call(n, tool).await;
        let (call, result) = stage.result().await;
        assert_eq!(call, n);
        let error = result.unwrap_err();
        assert!(error.contains("not"), "{tool}: {error}");
    }
    assert!(stage.entries("question").await.is_empty());
    let calls = stage.entries("tool").await;
    assert_eq!(calls.len(), 7);
    assert!(calls.iter().all(|call| call["state"] == "failed"));
    // The foreign page was not called: this comes first.
    foreign
        .send(&json!({ "type": "offerTools", "id": 3, "tools": [] }))
        .await;
    assert_eq!(foreign.receive().await["type"], "toolsOffered");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runner_does_not_approve_its_own_calls_nor_make_up_their_results() {
    let mut stage = Stage::open(ApprovalPolicy::Writes).await;
    stage.call(1, TOOL).await;
    stage.yard.until_state(&stage.made, "awaiting_input").await;
    let question = stage.entries("question").await.remove(0);
    let text = question["question"].as_str().unwrap();
    assert!(text.contains(TOOL), "{text}");
    for text in ["Allow once", "Allow in this chat", "1"] {
        stage
            .runner
            .tell(&FromRunner::Typed { text: text.into() })
            .await;
        loop {
            if let ToRunner::NotTyped { message } = stage.runner.receive().await.unwrap() {
                assert!(message.contains("answer in the chat"), "{message}");
                break;
            }
        }
    }
    assert_eq!(stage.entries("question").await[0]["answer"], Value::Null);
    let answer = json!({ "question_id": question["questionId"], "answer": "Allow once" });
    let (status, message) = stage.yard.post(&stage.made, "answer", answer).await;
    assert_eq!(status, 200, "{message}");
    let asked = stage.page.until("toolCall").await;
    assert_eq!(asked["arguments"], json!({ "a": 1, "b": 1 }));
    stage.answer(&asked).await;
    assert_eq!(stage.result().await, (1, Ok(json!(2))));
    let forged = TurnEvent::Result {
        call: 1,
        tool: TOOL.into(),
        result: Ok(json!("forged")),
    };
    stage.runner.send_message(stage.turn, forged).await;
    stage
        .runner
        .send_message(stage.turn, TurnEvent::Done { usage: None })
        .await;
    stage.yard.until_state(&stage.made, "complete").await;
    let calls = stage.entries("tool").await;
    assert_eq!(
        (calls.len(), &calls[0]["result"]),
        (1, &json!(2)),
        "{calls:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_ends_with_its_connection_and_is_not_made_again() {
    let mut stage = Stage::open(ApprovalPolicy::None).await;
    stage.call(1, TOOL).await;
    let asked = stage.page.until("toolCall").await;
    stage.reconnect(2).await;
    let cancelled = stage.page.until("toolCancel").await;
    assert_eq!(cancelled["call"], asked["call"]);
    let ended = stage.ended(1).await;
    let error = ended["error"].as_str().unwrap();
    assert!(error.contains("was lost during the call"), "{error}");
    // The runner repeats what was not acknowledged, and sends what it had not sent yet.
    let last = stage.runner.said;
    stage.runner.said = 1;
    while stage.runner.said < last {
        stage.call(1, TOOL).await;
    }
    stage.call(2, TOOL).await;
    let ended = stage.ended(2).await;
    let error = ended["error"].as_str().unwrap();
    assert!(error.starts_with("not called"), "{error}");
    stage.call_over(2, 3, TOOL, json!({ "a": 3, "b": 1 })).await;
    // The page hears of this one next.
    let asked = stage.page.until("toolCall").await;
    assert_eq!(asked["arguments"]["a"], 3);
    stage.answer(&asked).await;
    assert_eq!(stage.result().await, (3, Ok(json!(4))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_question_about_a_call_is_withdrawn_with_its_connection() {
    let mut stage = Stage::open(ApprovalPolicy::Writes).await;
    stage.call(1, TOOL).await;
    stage.yard.until_state(&stage.made, "awaiting_input").await;
    stage.reconnect(2).await;
    stage.ended(1).await;
    stage.yard.until_state(&stage.made, "processing").await;
    let question = stage.entries("question").await.remove(0);
    assert!(question["answer"].as_str().unwrap().contains("not needed"));
    let answer = json!({ "question_id": question["questionId"], "answer": "Allow once" });
    let (status, message) = stage.yard.post(&stage.made, "answer", answer).await;
    assert_eq!(status, 404, "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runner_has_a_limited_number_of_open_calls_which_end_with_the_turn() {
    let mut stage = Stage::open(ApprovalPolicy::None).await;
    for call in 1..=17 {
        stage.call(call, TOOL).await;
    }
    let (call, result) = stage.result().await;
    assert_eq!(call, 17);
    assert!(result.unwrap_err().contains("at most 16 calls"));
    stage
        .call_over(1, 18, TOOL, json!({ "a": "x".repeat(600 << 10) }))
        .await;
    let (call, result) = stage.result().await;
    assert_eq!(call, 18);
    assert!(result.unwrap_err().contains("arguments"));
    for _ in 0..16 {
        stage.page.until("toolCall").await;
    }
    let (status, message) = stage.yard.post(&stage.made, "stop", json!({})).await;
    assert_eq!(status, 200, "{message}");
    for _ in 0..16 {
        stage.page.until("toolCancel").await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_restart_of_the_server_ends_the_calls_and_the_runner_says_so_once() {
    let mut stage = Stage::open(ApprovalPolicy::Writes).await;
    let what = TurnEvent::Question {
        question: 1,
        text: "Which?".into(),
        options: Vec::new(),
    };
    stage.runner.send_message(stage.turn, what).await;
    stage.call(1, TOOL).await;
    eventually(async || (stage.entries("question").await.len() == 2).then_some(())).await;
    let Stage {
        yard,
        made,
        runner,
        turn,
        page,
    } = stage;
    drop(page);
    let yard = yard.restart().await;
    drop(runner);
    let ticket = Runner::ticket(yard.data()).await;
    let (runner, welcome) = Runner::come_as(&ticket, false, Some(2)).await;
    let Some(ToRunner::Welcome { heard, .. }) = welcome else {
        panic!("{welcome:?}");
    };
    let page = offering(&yard, &made.session).await;
    let mut stage = Stage {
        yard,
        made,
        runner,
        turn,
        page,
    };
    stage.runner.said = heard;
    for why in ["lost", "a second time"] {
        let what = TurnEvent::Result {
            call: 1,
            tool: TOOL.into(),
            result: Err(why.into()),
        };
        stage.runner.send_message(stage.turn, what).await;
    }
    let questions = eventually(async || {
        let questions = stage.entries("question").await;
        (questions[1]["answer"] != Value::Null).then_some(questions)
    })
    .await;
    // The agent's own question is still its first.
    assert_eq!(questions[0]["answer"], Value::Null);
    let answer = json!({ "question_id": questions[0]["questionId"], "answer": "That." });
    let (status, message) = stage.yard.post(&stage.made, "answer", answer).await;
    assert_eq!(status, 200, "{message}");
    loop {
        match stage.runner.receive().await.unwrap() {
            ToRunner::Answer { question, text, .. } => {
                assert_eq!((question, text.as_str()), (1, "That."));
                break;
            }
            ToRunner::PageResult { .. } => panic!("the call was made"),
            _ => {}
        }
    }
    stage
        .runner
        .send_message(stage.turn, TurnEvent::Done { usage: None })
        .await;
    stage.yard.until_state(&stage.made, "complete").await;
    let calls = stage.entries("tool").await;
    assert_eq!(
        (calls.len(), &calls[0]["error"]),
        (1, &json!("lost")),
        "{calls:?}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_runner_of_an_older_version_goes_on_without_page_tools() {
    let yard = Yard::with_program(NOBODY, |_| {}).await;
    let ((mut runner, turn), created) = tokio::join!(
        Runner::begin(yard.data()),
        yard.create(create_request("Work."))
    );
    let made = TestAgent::of(&created.1);
    let _page = offering(&yard, &made.session).await;
    runner
        .raw(r#"{"type":"of_a_newer_version","n":1}"#.into())
        .await;
    let newer = json!({ "type": "said", "n": 2, "turn": turn, "what": { "what": "of_a_newer_version", "n": 1 } });
    runner.raw(newer.to_string()).await;
    runner.said = 2;
    let delta = TurnEvent::Delta { text: "Hi.".into() };
    runner.send_message(turn, delta).await;
    runner
        .send_message(turn, TurnEvent::Done { usage: None })
        .await;
    yard.until_state(&made, "complete").await;
    assert_eq!(yard.answers(&made).await, ["Hi."]);
    loop {
        match runner.receive().await.unwrap() {
            ToRunner::PageTools { .. } => panic!("it does not know this message"),
            ToRunner::Stop { .. } => break,
            _ => {}
        }
    }
}
