//! Tasks that pages give to an agent.

use gangway_testing::{
    fake::Fake,
    webagent_client::{Broker, SHOP, allow, calls, end, grant, says},
};
use serde_json::{Value, json};

use crate::server::server;

const ALL: [&str; 2] = ["model:tools", "mcp:tools.call"];

fn kinds(events: &[Value]) -> Vec<&str> {
    events
        .iter()
        .map(|event| event["type"].as_str().unwrap())
        .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn every_step_of_a_run_is_an_event_and_the_last_is_final_with_its_sources() {
    let model = Fake::streams(&[&says("Nothing yet [1]."), &end()])
        .first_says(&[&calls(&[("memory__read_graph", "{}")])]);
    let server = server(&model).await;
    let mut page = Broker::of(&server, SHOP).await;
    let task = json!({ "task": "What do you remember?", "requireCitations": true });
    assert_eq!(
        page.refused("run", task.clone()).await,
        "ERR_SCOPE_REQUIRED"
    );
    allow(&server, SHOP, &ALL).await;
    grant(
        &server,
        SHOP,
        json!({ "allowedTools": ["memory/read_graph"] }),
    )
    .await;
    let id = page.begin("run", task).await;
    let (events, end) = page.end(id).await;
    assert_eq!(end.unwrap(), Value::Null);
    assert_eq!(
        kinds(&events),
        ["status", "tool_call", "tool_result", "token", "final"]
    );
    assert_eq!(
        events[1],
        json!({ "type": "tool_call", "tool": "memory/read_graph", "args": {} })
    );
    assert!(events[2].get("error").is_none());
    assert_eq!(events[4]["output"], "Nothing yet [1].");
    let cited = &events[4]["citations"][0];
    assert_eq!(
        (&cited["source"], &cited["ref"]),
        (&json!("tool"), &json!("memory/read_graph"))
    );
    // The model is shown what the page may use, and nothing else.
    let offered = model.asked()[0]["tools"].as_array().unwrap().len();
    assert_eq!(offered, 1);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_calls_nothing_that_the_page_may_not_and_no_more_than_its_budget() {
    let greedy = [
        ("memory__read_graph", "{}"),
        ("memory__create_entities", "{\"entities\":[]}"),
        ("memory__read_graph", "{}"),
    ];
    let model = Fake::streams(&[&says("Done."), &end()]).first_says(&[&calls(&greedy)]);
    let server = server(&model).await;
    allow(&server, SHOP, &ALL).await;
    grant(
        &server,
        SHOP,
        json!({ "allowedTools": ["memory/read_graph"] }),
    )
    .await;
    let mut page = Broker::of(&server, SHOP).await;
    let id = page
        .begin("run", json!({ "task": "remember", "maxToolCalls": 2 }))
        .await;
    let (events, end) = page.end(id).await;
    end.unwrap();
    let results: Vec<_> = events
        .iter()
        .filter(|event| event["type"] == "tool_result")
        .collect();
    // The model asked for a tool that it was never shown: that call is made up, and answered as such to the model.
    let budget = results
        .iter()
        .find(|event| event["error"]["code"] == "ERR_BUDGET_EXCEEDED");
    assert!(budget.is_some(), "{events:?}");
    assert!(
        results
            .iter()
            .all(|event| event["tool"] == "memory/read_graph"),
        "{results:?}"
    );
    assert_eq!(events.last().unwrap()["type"], "final");
    let too_many = json!({ "task": "x", "maxToolCalls": 1000 });
    assert_eq!(page.refused("run", too_many).await, "ERR_INVALID_ARGUMENT");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn filters_name_tools_exactly_or_all_of_a_server_and_an_empty_one_means_none() {
    let model = Fake::streams(&[&says("Fine."), &end()]);
    let server = server(&model).await;
    allow(&server, SHOP, &ALL).await;
    let allowed = json!([
        "memory/read_graph",
        "memory/search_nodes",
        "memory/open_nodes"
    ]);
    grant(&server, SHOP, json!({ "allowedTools": allowed })).await;
    let mut page = Broker::of(&server, SHOP).await;
    for (tools, offered) in [
        (json!(["memory/search_nodes"]), 1),
        (json!(["memory/*"]), 3),
        (json!(["other/*", "memory/create_entities"]), 0),
        (json!([]), 0),
    ] {
        let task = json!({ "task": "look", "tools": tools });
        page.call("run", task).await.unwrap();
        let asked = model.asked();
        let shown = asked.last().unwrap()["tools"]
            .as_array()
            .map_or(0, Vec::len);
        assert_eq!(shown, offered, "{tools}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_aborted_run_ends_and_a_page_that_is_gone_leaves_nothing_running() {
    let server = server(&Fake::streams(&[&says("One")]).then_silent()).await;
    allow(&server, SHOP, &ALL).await;
    let mut page = Broker::of(&server, SHOP).await;
    let id = page.begin("run", json!({ "task": "x" })).await;
    while page.receive().await["event"]["type"] != "token" {}
    page.send_message(json!({ "type": "abort", "id": id }))
        .await;
    assert_eq!(page.end(id).await.1.unwrap_err()["code"], "ERR_ABORTED");

    page.begin("run", json!({ "task": "x" })).await;
    while page.receive().await["event"]["type"] != "token" {}
    page.send_message(json!({ "type": "bye" })).await;
    let idle = || async { (server.service.models.registry.activity().active == 0).then_some(()) };
    gangway_testing::eventually(idle).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_fifth_answer_at_once_waits_for_one_of_the_four_before_it() {
    let model = Fake::streams(&[&says("One")]).then_silent();
    let server = server(&model).await;
    allow(&server, SHOP, &ALL).await;
    let mut page = Broker::of(&server, SHOP).await;
    let mut first = 0;
    for _ in 0..4 {
        first = page.begin("run", json!({ "task": "x" })).await;
        while page.receive().await["event"]["type"] != "token" {}
    }
    let fifth = page.begin("run", json!({ "task": "x" })).await;
    while page.receive().await["event"]["type"] != "status" {}
    assert_eq!(model.asked().len(), 4);
    page.send_message(json!({ "type": "abort", "id": first }))
        .await;
    loop {
        let received = page.receive().await;
        if received["id"] == fifth && received["event"]["type"] == "token" {
            break;
        }
    }
    assert_eq!(model.asked().len(), 5);
}
