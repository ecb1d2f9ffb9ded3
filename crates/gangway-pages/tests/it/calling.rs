//! Calls of tools in pages, and what ends them.

use std::time::Duration;

use gangway_pages::{GRACE, ToPage};
use serde_json::{Value, json};

use crate::{World, described, tool};

fn call(next: ToPage) -> (u64, Value) {
    match next {
        ToPage::Call(call) => (call.call, Value::clone(&call.arguments)),
        ToPage::Cancel(call) => panic!("{call} was cancelled"),
    }
}

#[tokio::test]
async fn a_call_reaches_the_page_and_its_result_the_caller() {
    let world = World::open();
    let page = world.connect("todo", "a");
    let schema = json!({ "type": "object", "required": ["title"], "properties": { "title": { "type": "string" } } });
    let add = described(json!({ "name": "add", "inputSchema": schema }));
    page.offer(vec![add], false);
    // What does not fit never reaches the page.
    for wrong in [json!({}), json!({ "title": 7 }), json!([]), json!("x")] {
        let refused = world.call("page-todo/add", wrong).await.unwrap();
        let error = refused.unwrap_err();
        assert!(error.to_string().contains("invalid arguments"), "{error}");
    }
    let mut nested = json!(1);
    for _ in 0..100 {
        nested = json!([nested]);
    }
    let deep = json!({ "title": "x", "more": nested });
    let refused = world.call("page-todo/add", deep).await.unwrap();
    assert!(refused.unwrap_err().to_string().contains("levels deep"));
    let called = world.call("page-todo/add", json!({ "title": "milk" }));
    let (number, arguments) = call(page.next().await);
    assert_eq!(arguments, json!({ "title": "milk" }));
    // A call that it was not sent answers nothing.
    assert!(!page.answer(number + 1, Ok(json!("forged"))));
    assert!(page.answer(number, Ok(json!({ "id": 1 }))));
    assert!(!page.answer(number, Ok(json!("twice"))));
    assert_eq!(called.await.unwrap(), Ok(json!({ "id": 1 })));
    let unknown = world.call("page-todo/none", json!({})).await.unwrap();
    assert_eq!(unknown.unwrap_err().code(), "ERR_TOOL_NOT_FOUND");
}

#[tokio::test]
async fn a_page_cannot_answer_the_calls_of_another() {
    let world = World::open();
    let (page, other) = (world.connect("todo", "a"), world.connect("evil", "b"));
    page.offer(vec![tool("add")], false);
    other.offer(vec![tool("add")], false);
    let called = world.call("page-todo/add", json!({}));
    let (number, _) = call(page.next().await);
    assert!(!other.answer(number, Ok(json!("forged"))));
    page.answer(number, Ok(json!("true")));
    assert_eq!(called.await.unwrap(), Ok(json!("true")));
}

#[tokio::test]
async fn a_page_that_closes_or_is_reloaded_ends_its_calls_at_once() {
    let world = World::open();
    for reload in [false, true] {
        let page = world.connect("todo", "a");
        page.offer(vec![tool("add")], false);
        let called = world.call("page-todo/add", json!({}));
        call(page.next().await);
        match reload {
            true => drop(page.offer(vec![tool("add")], true)),
            false => page.close(),
        }
        let error = called.await.unwrap().unwrap_err();
        assert_eq!(error.code(), "ERR_SERVER_UNAVAILABLE");
        let why = if reload { "reloaded" } else { "closed" };
        assert!(error.to_string().contains(why), "{error}");
        page.close();
    }
}

#[tokio::test(start_paused = true)]
async fn a_page_that_reconnects_goes_on_with_its_calls_and_one_that_does_not_ends_them() {
    let world = World::open();
    let page = world.connect("todo", "a");
    page.offer(vec![tool("add")], false);
    let called = world.call("page-todo/add", json!({ "n": 1 }));
    let first = call(page.next().await);
    drop(page);
    tokio::time::sleep(GRACE / 2).await;
    let pages = world.pages.of_session(world.session);
    assert!(!pages[0].is_present());
    let page = world.connect("todo", "a");
    assert!(pages[0].is_present());
    // It may not have got the call, and knows by the number whether it did.
    assert_eq!(call(page.next().await), first);
    page.answer(first.0, Ok(json!("done")));
    assert_eq!(called.await.unwrap(), Ok(json!("done")));
    tokio::time::sleep(GRACE * 2).await;
    assert_eq!(world.offered().await, ["page-todo/add"]);
    let called = world.call("page-todo/add", json!({}));
    call(page.next().await);
    let before = tokio::time::Instant::now();
    drop(page);
    let error = called.await.unwrap().unwrap_err();
    assert!(error.to_string().contains("closed"), "{error}");
    assert_eq!(before.elapsed(), GRACE);
    assert!(world.offered().await.is_empty());
}

#[tokio::test(start_paused = true)]
async fn a_call_has_thirty_seconds_and_the_page_hears_when_nobody_waits_any_more() {
    let world = World::open();
    let page = world.connect("todo", "a");
    page.offer(vec![tool("add")], false);
    let called = world.call("page-todo/add", json!({}));
    let (late, _) = call(page.next().await);
    let before = tokio::time::Instant::now();
    let error = called.await.unwrap().unwrap_err();
    assert_eq!(error.code(), "ERR_TOOL_TIMEOUT");
    assert_eq!(before.elapsed(), Duration::from_secs(30));
    assert_eq!(page.next().await, ToPage::Cancel(late));
    assert!(!page.answer(late, Ok(json!("late"))));
    let called = world.call("page-todo/add", json!({}));
    let (stopped, _) = call(page.next().await);
    called.abort();
    assert_eq!(page.next().await, ToPage::Cancel(stopped));
    // One that was never sent is not cancelled either.
    let called = world.call("page-todo/add", json!({}));
    tokio::task::yield_now().await;
    called.abort();
    let _ = called.await;
    let next = world.call("page-todo/add", json!({ "n": 2 }));
    assert_eq!(call(page.next().await).1, json!({ "n": 2 }));
    next.abort();
}

#[tokio::test]
async fn a_page_works_on_so_many_calls_and_no_more() {
    let world = World::open();
    let page = world.connect("todo", "a");
    page.offer(vec![tool("add")], false);
    let mut calls = Vec::new();
    for _ in 0..16 {
        calls.push(world.call("page-todo/add", json!({})));
        call(page.next().await);
    }
    let busy = world.call("page-todo/add", json!({})).await.unwrap();
    assert_eq!(busy.unwrap_err().code(), "ERR_RATE_LIMITED");
    page.close();
    for one in calls {
        assert!(one.await.unwrap().is_err());
    }
}
