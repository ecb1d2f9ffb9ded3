//! Servers that hang, crash, lie or send too much: each harms only itself.

use std::time::Duration;

use futures_util::FutureExt;
use gangway_core::ToolError;
use gangway_mcp::{Host, Settings, Source, State};
use serde_json::{Value, json};

use crate::support::*;

#[tokio::test]
async fn broken_tools_are_reported_and_the_others_work() {
    let host = host(brisk(), vec![fault("")]).await;
    assert_eq!(status(&host).protocol.as_deref(), Some("2025-06-18"));
    let usable: Vec<String> = host.tools().iter().map(|t| t.name.to_string()).collect();
    assert!(
        usable.contains(&"faults/echo".to_owned()) && usable.contains(&"faults/a/b c".to_owned())
    );
    for name in ["faults/broken", "faults/remote", "faults/wrong"] {
        assert!(!usable.contains(&name.to_owned()));
        let refused = call(&host, name, Value::Null).await.unwrap_err();
        assert!(
            matches!(&refused, ToolError::Failed(why) if why.contains("schema")),
            "{refused}"
        );
    }
    let echo = host
        .entries()
        .into_iter()
        .find(|e| e.tool.name == tool("faults/echo"));
    assert_eq!(echo.unwrap().tool.description, "Says it again.");
    until_said(&host, "a second tool named \"echo\"").await;

    let message = call(&host, "faults/echo", json!({"text": "hi"})).await;
    assert_eq!(message, Ok(json!([{"type": "text", "text": "hi"}])));
    assert!(call(&host, "faults/a/b c", Value::Null).await.is_ok());
    for wrong in [
        json!({}),
        json!({"text": 7}),
        json!([]),
        json!("x"),
        Value::Null,
    ] {
        let refused = call(&host, "faults/echo", wrong).await.unwrap_err();
        assert!(
            matches!(refused, ToolError::BadArguments { .. }),
            "{refused}"
        );
    }
    for unknown in ["faults/nothing", "nobody/echo", "FAULTS/echo"] {
        let refused = call(&host, unknown, Value::Null).await;
        assert_eq!(refused, Err(ToolError::NotFound(tool(unknown))));
    }
    let failed = call(&host, "faults/fail", Value::Null).await;
    assert_eq!(failed, Err(ToolError::Failed("no luck".to_owned())));
    let refused = call(&host, "faults/refuse", Value::Null).await;
    assert_eq!(
        refused,
        Err(ToolError::Failed("not today (-32099)".to_owned()))
    );
    let nonsense = call(&host, "faults/nonsense", Value::Null).await;
    assert!(matches!(nonsense, Err(ToolError::Failed(_))));
    // A response that cannot be parsed fails at once.
    let deep = format!("{}{}", "[".repeat(1000), "]".repeat(1000));
    for odd in [
        r#"{"content":[{"type":"text","text":"\ud83d"}]}"#,
        &deep,
        "1e999",
    ] {
        let failed = call(&host, "faults/odd", json!({ "json": odd })).await;
        assert!(
            matches!(&failed, Err(ToolError::Failed(why)) if why.contains("cannot be read")),
            "{failed:?}"
        );
    }

    assert_eq!(
        until_said(&host, "hello from the log").await.source,
        Source::Message
    );
    assert_eq!(
        until_said(&host, "ready to fail").await.source,
        Source::Stderr
    );
    host.shutdown().await;
    assert_eq!(status(&host).state, State::Stopped);
    let gone = call(&host, "faults/echo", json!({"text": "hi"})).await;
    assert!(matches!(gone, Err(ToolError::Unavailable(_))));
}

#[tokio::test]
async fn a_large_result_is_cut_and_a_huge_one_refused_without_being_kept() {
    let settings = Settings {
        max_result_bytes: 1000,
        max_message_bytes: 1_000_000,
        ..brisk()
    };
    let host = host(settings, vec![fault("")]).await;
    let cut = call(&host, "faults/bytes", json!({"n": 2500}))
        .await
        .unwrap();
    assert_eq!(
        (&cut["truncated"], &cut["totalBytes"]),
        (&json!(true), &json!(2500))
    );
    let handle = cut["handle"].as_str().unwrap();
    let rest = host.rest("tester", handle, 2000).unwrap();
    assert_eq!((rest.text.len(), rest.next), (500, None));
    assert!(host.rest("somebody else", handle, 0).is_none());

    let huge = call(&host, "faults/bytes", json!({"n": 50_000_000}))
        .await
        .unwrap_err();
    assert!(
        matches!(&huge, ToolError::Failed(why) if why.contains("50000")),
        "{huge}"
    );
    assert!(
        call(&host, "faults/echo", json!({"text": "still here"}))
            .await
            .is_ok()
    );
}

#[tokio::test]
async fn a_crash_ends_its_calls_at_once_and_after_three_the_server_is_left_alone() {
    let host = host(brisk(), vec![fault("")]).await;
    for crash in 1..=3 {
        let waiting = call(&host, "faults/wait", Value::Null);
        let dying = call(&host, "faults/die", Value::Null);
        let (waiting, dying) =
            tokio::time::timeout(SOON, futures_util::future::join(waiting, dying))
                .await
                .unwrap();
        for died in [waiting, dying] {
            let died = died.unwrap_err();
            assert!(
                matches!(&died, ToolError::Unavailable(_)),
                "{crash}: {died:?}"
            );
        }
        if crash < 3 {
            until(&host, |state| *state == State::Ready).await;
        }
    }
    let status = until(&host, |state| matches!(state, State::Failed { .. })).await;
    let State::Failed { reason, tries } = status.state else {
        unreachable!()
    };
    assert!(reason.contains("exit status: 3") && tries == 3, "{reason}");
    assert!(matches!(
        call(&host, "faults/echo", json!({"text": "hi"})).await,
        Err(ToolError::Unavailable(_))
    ));
    assert!(host.restart(&id("faults")).await);
    until(&host, |state| *state == State::Ready).await;
    assert!(
        call(&host, "faults/echo", json!({"text": "hi"}))
            .await
            .is_ok()
    );
}

/// Why a server does not start.
async fn why_not(spec: gangway_mcp::ServerSpec) -> String {
    let settings = Settings {
        start_timeout: Duration::from_secs(2),
        tries: 1,
        ..brisk()
    };
    let host = Host::new(settings, None);
    host.set_up(vec![spec]).await;
    host.ready(&id("faults")).await.unwrap_err()
}

#[tokio::test]
async fn servers_that_never_begin_time_out() {
    let mut missing = fault("");
    missing.transport =
        gangway_mcp::ServerSpec::stdio(id("x"), "/no/such/program", vec![]).transport;
    let (hang, garbage, exit, missing) = tokio::join!(
        why_not(fault("hang")),
        why_not(fault("only-garbage")),
        why_not(fault("exit")),
        why_not(missing),
    );
    assert!(hang.contains("not ready within"), "{hang}");
    assert!(garbage.contains("not ready within"), "{garbage}");
    assert!(
        exit.contains("the key is missing") && exit.contains("exit status: 2"),
        "{exit}"
    );
    assert!(
        missing.contains("/no/such/program could not be started"),
        "{missing}"
    );
}

#[tokio::test]
async fn a_server_that_dies_of_the_newer_hello_or_chatters_is_understood() {
    let works = async |how: &str| {
        // The one that stops responding after a message other than `initialize` has all of this time.
        let settings = Settings {
            start_timeout: Duration::from_secs(4),
            ..brisk()
        };
        let host = host(settings, vec![fault(how)]).await;
        let message = call(&host, "faults/echo", json!({"text": "hi"})).await;
        assert!(message.is_ok(), "{how}: {message:?}");
        host
    };
    let (_, _, garbage) = tokio::join!(works("strict"), works("offended"), works("garbage"));
    assert_eq!(
        until_said(&garbage, "Welcome!").await.source,
        Source::Stdout
    );
}

#[tokio::test]
async fn a_call_that_takes_too_long_or_is_dropped_is_cancelled_at_its_server() {
    let mut spec = fault("");
    spec.tool_timeouts
        .insert("wait".to_owned(), Duration::from_millis(200));
    let host = host(brisk(), vec![spec]).await;
    let late = call(&host, "faults/wait", Value::Null).await.unwrap_err();
    assert!(matches!(&late, ToolError::Timeout { .. }), "{late}");
    until_said(&host, "cancelled").await;
    let before = logs(&host).len();
    let mut dropped = Box::pin(call(&host, "faults/wait", Value::Null));
    // It must be in flight before it is dropped.
    for _ in 0..3 {
        assert!((&mut dropped).now_or_never().is_none());
        tokio::task::yield_now().await;
    }
    drop(dropped);
    for _ in 0..500 {
        if logs(&host)[before..]
            .iter()
            .any(|l| l.text.contains("cancelled"))
        {
            return;
        }
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    panic!("{:#?}", logs(&host));
}

#[tokio::test]
async fn two_calls_of_a_caller_run_at_a_time_and_too_many_are_busy() {
    let settings = Settings {
        waiting_per_caller: 1,
        call_timeout: Duration::from_secs(1),
        ..brisk()
    };
    let host = host(settings, vec![fault("")]).await;
    let (wait, echo) = (tool("faults/wait"), tool("faults/echo"));
    let calls: Vec<_> = (0..4)
        .map(|_| host.call("greedy", &wait, Value::Null, None))
        .collect();
    let other = host.call("modest", &echo, json!({"text": "hi"}), None);
    let (greedy, modest) =
        futures_util::future::join(futures_util::future::join_all(calls), other).await;
    let busy = |r: &&Result<Value, ToolError>| matches!(r, Err(ToolError::Busy(_)));
    let late = |r: &&Result<Value, ToolError>| matches!(r, Err(ToolError::Timeout { .. }));
    assert_eq!(greedy.iter().filter(busy).count(), 1, "{greedy:?}");
    assert_eq!(greedy.iter().filter(late).count(), 3, "{greedy:?}");
    assert!(modest.is_ok());
}

#[tokio::test]
async fn a_changed_list_is_read_again_and_unchanged_servers_keep_running() {
    let host = host(brisk(), vec![fault("")]).await;
    let process = status(&host).process;
    let mut changes = host.changes();
    call(&host, "faults/grow", Value::Null).await.unwrap();
    let grown = changes.wait_for(|_| host.tools().iter().any(|t| t.name.tool() == "grown"));
    tokio::time::timeout(SOON, grown).await.unwrap().unwrap();
    let mut second = fault("");
    second.id = id("second");
    set_up(&host, vec![fault(""), second.clone(), fault("hang")]).await;
    assert_eq!(host.status().len(), 2);
    assert_eq!(status(&host).process, process);
    let mut changed = fault("");
    changed.timeout = Some(Duration::from_secs(3));
    set_up(&host, vec![changed, second]).await;
    assert_ne!(status(&host).process, process);
    host.set_up(Vec::new()).await;
    assert!(host.status().is_empty() && host.tools().is_empty());
}

#[tokio::test]
async fn a_slow_server_is_started_once_and_keeps_its_revision() {
    // Longer than the handshake timeout of the MCP library, and more than three quarters of its own.
    let settings = Settings {
        start_timeout: Duration::from_secs(13),
        ..brisk()
    };
    let host = host(settings, vec![fault("slow")]).await;
    assert_eq!(status(&host).protocol.as_deref(), Some("2026-07-28"));
    let starts = logs(&host).into_iter();
    let starts = starts.filter(|line| line.text == "fetching myself");
    assert_eq!(starts.count(), 1);
}

#[tokio::test]
async fn a_call_that_reports_progress_continues_beyond_its_timeout() {
    let mut spec = fault("");
    spec.timeout = Some(Duration::from_millis(700));
    let host = host(brisk(), vec![spec]).await;
    let done = call(&host, "faults/work", json!({"steps": 6}))
        .await
        .unwrap();
    assert_eq!(done[0]["text"], "done");
    let late = call(&host, "faults/wait", Value::Null).await.unwrap_err();
    assert!(matches!(&late, ToolError::Timeout { .. }), "{late}");
}

#[tokio::test]
async fn a_tool_for_a_page_alone_is_not_offered_to_models() {
    let host = host(brisk(), vec![fault("")]).await;
    let own = tool("faults/for-page");
    assert!(host.tools().iter().all(|tool| tool.name != own));
    assert!(host.described().iter().any(|(tool, _)| tool.name == own));
}

#[tokio::test]
async fn a_parameter_with_a_default_is_not_required_and_the_server_gets_the_default() {
    let host = host(brisk(), vec![fault("")]).await;
    let listed = host.entry(&tool("faults/defaults")).unwrap();
    assert_eq!(listed.tool.input_schema["required"], json!(["city"]));
    let texts = call(&host, "faults/defaults", json!({"city": "Rome"}))
        .await
        .unwrap();
    assert_eq!(
        texts[0]["text"],
        r#"{"area": {"km": 5}, "city": "Rome", "unit": "C"}"#
    );
    let texts = call(
        &host,
        "faults/defaults",
        json!({"city": "Rome", "unit": "F", "area": null}),
    )
    .await
    .unwrap();
    assert_eq!(
        texts[0]["text"],
        r#"{"area": {"km": 5}, "city": "Rome", "unit": "F"}"#
    );
    let refused = call(&host, "faults/defaults", json!({"unit": "F"})).await;
    assert!(matches!(refused, Err(ToolError::BadArguments { .. })));
}

#[tokio::test]
async fn servers_set_up_twice_at_once_are_started_for_both_callers() {
    let host = host(brisk(), vec![fault("")]).await;
    let changed = || vec![fault("modern")];
    // The first call waits until the old server is gone; the second finds nothing to change.
    let (_, ready) = tokio::join!(host.set_up(changed()), async {
        host.set_up(changed()).await;
        host.ready(&id("faults")).await
    });
    ready.unwrap();
}
