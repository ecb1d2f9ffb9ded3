//! The agent loop with a scripted model and tools.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex},
};

use futures_util::{FutureExt, StreamExt, future::BoxFuture, stream};
use gangway_core::{Citation, SessionId, Tool, ToolError, ToolName, Toolbox};
use gangway_models::{
    ChatChunk, ChatRequest, ChatStream, Message, ModelError, Provider, ToolCall, ToolChoice,
};
use serde_json::{Value, json};

use super::{Finished, Listener, RunError, Task, run};

/// Returns one scripted response per request, and records the requests.
#[derive(Default)]
struct Model {
    answers: Mutex<VecDeque<Vec<ChatChunk>>>,
    asked: Mutex<Vec<ChatRequest>>,
}

impl Model {
    fn says(answers: Vec<Vec<ChatChunk>>) -> Self {
        Self {
            answers: Mutex::new(answers.into()),
            ..Self::default()
        }
    }

    fn asked(&self) -> Vec<ChatRequest> {
        self.asked.lock().unwrap().clone()
    }
}

impl Provider for Model {
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
        async { Ok(Vec::new()) }.boxed()
    }

    fn chat(&self, request: ChatRequest) -> BoxFuture<'_, Result<ChatStream<'static>, ModelError>> {
        self.asked.lock().unwrap().push(request);
        let answer = self.answers.lock().unwrap().pop_front();
        async move {
            let answer = answer.ok_or_else(|| ModelError::failed("nothing more to say"))?;
            Ok(stream::iter(answer.into_iter().map(Ok)).boxed())
        }
        .boxed()
    }
}

/// Tools that return their arguments; `bad/…` fails.
struct Echo(tokio::sync::Barrier);

impl Toolbox for Echo {
    fn tools<'a>(&'a self, _: SessionId, _: &'a str) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        async { Vec::new() }.boxed()
    }

    fn offered_after<'a>(
        &'a self,
        _: SessionId,
        called: &'a [ToolName],
    ) -> BoxFuture<'a, Vec<Arc<Tool>>> {
        let page = called.iter().any(|tool| tool.server() == "page");
        async move { page.then(|| tool("page/pay")).into_iter().collect() }.boxed()
    }

    fn call(
        &self,
        _: SessionId,
        tool: ToolName,
        arguments: Value,
    ) -> BoxFuture<'_, Result<Value, ToolError>> {
        async move {
            self.0.wait().await;
            match tool.server() {
                "bad" => Err(ToolError::Failed("it broke".into())),
                _ => Ok(arguments),
            }
        }
        .boxed()
    }
}

/// Records events.
#[derive(Default)]
struct Recorder(Vec<String>);

impl Listener for Recorder {
    type Error = ();
    type Call = usize;

    async fn token(&mut self, text: &str) -> Result<(), ()> {
        self.0.push(format!("token {text}"));
        Ok(())
    }

    async fn notice(&mut self, text: &str) -> Result<(), ()> {
        self.0.push(format!("notice {text}"));
        Ok(())
    }

    async fn call(&mut self, tool: &ToolName, arguments: &Value) -> Result<usize, ()> {
        self.0.push(format!("call {tool} {arguments}"));
        Ok(self.0.len())
    }

    async fn result(
        &mut self,
        _: usize,
        tool: &ToolName,
        result: &Result<Value, ToolError>,
    ) -> Result<(), ()> {
        let result = match result {
            Ok(value) => value.to_string(),
            Err(error) => error.code().to_owned(),
        };
        self.0.push(format!("result {tool} {result}"));
        Ok(())
    }
}

fn call(id: &str, name: &str, arguments: Value) -> ChatChunk {
    ChatChunk::ToolCall(ToolCall {
        id: id.into(),
        name: name.into(),
        arguments,
    })
}

fn text(text: &str) -> ChatChunk {
    ChatChunk::Text(text.into())
}

fn tool(name: &str) -> Arc<Tool> {
    Arc::new(Tool {
        name: name.parse().unwrap(),
        description: String::new(),
        input_schema: json!({ "type": "object" }),
    })
}

fn task(max_tool_calls: u32) -> Task {
    Task {
        session: SessionId::new(),
        messages: vec![Message::User("go".into())],
        model: None,
        tools: vec![tool("good/echo_it"), tool("bad/echo")],
        max_tool_calls,
        cite: false,
        temperature: None,
    }
}

/// Runs with exactly this many concurrent calls: with fewer it would hang.
async fn play(
    model: &Model,
    task: Task,
    together: usize,
) -> (Result<Finished, RunError<()>>, Recorder) {
    let toolbox = Echo(tokio::sync::Barrier::new(together));
    let mut recorded = Recorder::default();
    let finished = run(model, &toolbox, task, &mut recorded).await;
    (finished, recorded)
}

#[tokio::test]
async fn calls_run_side_by_side_and_their_results_go_back_in_order() {
    let model = Model::says(vec![
        vec![
            text("Let me see. "),
            call("1", "good__echo_it", json!({ "n": 1 })),
            call("2", "bad__echo", json!({})),
            ChatChunk::Usage {
                input: 10,
                output: 2,
            },
        ],
        vec![
            text("Done."),
            ChatChunk::Usage {
                input: 20,
                output: 3,
            },
        ],
    ]);
    let (finished, recorded) = play(&model, task(5), 2).await;
    let finished = finished.unwrap();
    assert_eq!(
        (finished.output.as_str(), finished.usage),
        ("Done.", Some((30, 5)))
    );
    assert_eq!(
        recorded.0[..3],
        [
            "token Let me see. ",
            "call good/echo_it {\"n\":1}",
            "call bad/echo {}"
        ]
    );
    assert!(
        recorded
            .0
            .contains(&"result bad/echo ERR_TOOL_FAILED".to_owned()),
        "{:?}",
        recorded.0
    );
    let asked = model.asked();
    let results: Vec<_> = asked[1].messages[2..].to_vec();
    assert_eq!(
        results,
        [
            Message::Tool {
                call: "1".into(),
                name: "good__echo_it".into(),
                content: "{\"n\":1}".into(),
                failed: false
            },
            Message::Tool {
                call: "2".into(),
                name: "bad__echo".into(),
                content: "it broke".into(),
                failed: true
            },
        ]
    );
}

#[tokio::test]
async fn when_no_calls_are_left_the_model_has_one_last_turn_without_them() {
    let again = || {
        vec![
            call("1", "good__echo_it", json!({})),
            call("2", "good__echo_it", json!({})),
        ]
    };
    let model = Model::says(vec![again(), again(), vec![text("Enough.")]]);
    let (finished, recorded) = play(&model, task(3), 1).await;
    assert_eq!(finished.unwrap().output, "Enough.");
    let calls = recorded
        .0
        .iter()
        .filter(|line| line.starts_with("call"))
        .count();
    assert_eq!(calls, 3);
    let asked = model.asked();
    let choices: Vec<_> = asked.iter().map(|request| &request.tool_choice).collect();
    assert_eq!(
        choices,
        [&ToolChoice::Auto, &ToolChoice::Auto, &ToolChoice::Never]
    );
    // The fourth call has a result, but was not made.
    assert!(
        matches!(asked[2].messages.last(), Some(Message::Tool { failed: true, content, .. }) if content.contains("the limit of tool calls is reached"))
    );
}

#[tokio::test]
async fn a_tools_picture_is_shown_to_the_model_as_one() {
    let model = Model::says(vec![
        vec![call(
            "1",
            "good__echo_it",
            json!([{ "type": "image", "mimeType": "image/png", "data": "QUJD" }]),
        )],
        vec![text("A picture.")],
    ]);
    play(&model, task(5), 1).await.0.unwrap();
    let asked = model.asked();
    let [.., Message::Tool { content, .. }, Message::Images(images)] = &asked[1].messages[..]
    else {
        panic!("{asked:?}");
    };
    assert!(
        !content.contains("QUJD") && content.contains("image/png"),
        "{content}"
    );
    assert_eq!(images[0].data, "QUJD");
}

#[tokio::test]
async fn a_tool_that_is_not_there_is_reported_to_the_model_and_not_called() {
    let model = Model::says(vec![
        vec![call("1", "made_up", json!({}))],
        vec![text("Sorry.")],
    ]);
    let (finished, recorded) = play(&model, task(5), 1).await;
    assert_eq!(finished.unwrap().output, "Sorry.");
    assert_eq!(recorded.0, ["token Sorry."]);
    assert!(
        matches!(model.asked()[1].messages.last(), Some(Message::Tool { content, .. }) if content.contains("no tool"))
    );
}

#[tokio::test]
async fn an_answer_says_where_it_is_from_when_that_is_asked_for() {
    let answers = || {
        let calls = vec![
            call("1", "good__echo_it", json!({ "a": 1 })),
            call("2", "good__echo_it", json!({ "b": 2 })),
        ];
        vec![calls, vec![text("It is two [2].")]]
    };
    let citation = |excerpt: &str| Citation {
        reference: "good/echo_it".into(),
        excerpt: excerpt.into(),
    };
    let cited = Task {
        cite: true,
        temperature: None,
        ..task(5)
    };
    let model = Model::says(answers());
    let (finished, _) = play(&model, cited, 2).await;
    assert_eq!(finished.unwrap().citations, [citation("{\"b\":2}")]);
    assert!(
        matches!(&model.asked()[1].messages[3], Message::Tool { content, .. } if content == "[1] {\"a\":1}")
    );
    let (finished, _) = play(&Model::says(answers()), task(5), 2).await;
    assert!(finished.unwrap().citations.is_empty());
}

#[tokio::test]
async fn tools_of_the_past_keep_names_that_the_model_knows() {
    let model = Model::says(vec![vec![text("ok")]]);
    let mut task = task(5);
    let past = ToolCall {
        id: "c".into(),
        name: "gone/look at".into(),
        arguments: json!({}),
    };
    task.messages.insert(
        0,
        Message::Assistant {
            text: String::new(),
            calls: vec![past],
            fields: Default::default(),
        },
    );
    task.messages.insert(
        1,
        Message::Tool {
            call: "c".into(),
            name: "gone/look at".into(),
            content: "x".into(),
            failed: false,
        },
    );
    play(&model, task, 1).await.0.unwrap();
    let asked = &model.asked()[0].messages;
    let (Message::Assistant { calls, .. }, Message::Tool { name, .. }) = (&asked[0], &asked[1])
    else {
        panic!("{asked:?}");
    };
    assert_eq!(calls[0].name, *name);
    assert!(
        name.starts_with("gone") && !name.contains([' ', '/']),
        "{name}"
    );
}

#[tokio::test]
async fn what_a_page_offers_after_a_call_is_what_the_model_is_offered_next() {
    let model = Model::says(vec![
        vec![call("1", "page__next", json!({}))],
        vec![call("2", "page__pay", json!({ "n": 1 }))],
        vec![text("paid")],
    ]);
    let mut task = task(5);
    task.tools.push(tool("page/next"));
    let (finished, recorded) = play(&model, task, 1).await;
    assert_eq!(finished.unwrap().output, "paid");
    let recorded = recorded.0.join("\n");
    assert!(recorded.contains("call page/pay {\"n\":1}"), "{recorded}");
    let asked = model.asked();
    let offered = |at: usize| -> Vec<String> {
        asked[at]
            .tools
            .iter()
            .map(|spec| spec.name.clone())
            .collect()
    };
    assert_eq!(offered(0), ["good__echo_it", "bad__echo", "page__next"]);
    assert_eq!(offered(1), ["good__echo_it", "bad__echo", "page__pay"]);
}

#[tokio::test]
async fn a_model_that_fails_ends_the_run() {
    let (finished, _) = play(&Model::says(Vec::new()), task(5), 1).await;
    assert!(
        matches!(finished, Err(RunError::Model(error)) if error.message == "nothing more to say")
    );
}
