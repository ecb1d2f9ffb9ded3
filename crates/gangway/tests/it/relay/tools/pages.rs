//! `gangway relay check --role host` reports exactly what a page does wrong.

use serde_json::Value;

use super::lamp::{Flaw, Page};
use crate::support::{Gangway, TestServer};

/// The exit code, and the checks that found something wrong.
async fn check(flaw: Flaw, more: &[&str]) -> (Option<i32>, Vec<String>, Value) {
    let server = TestServer::start().await;
    let url = server.url("");
    let _page = Page::open(&url, "lamp", flaw).await;
    let mut command = Gangway::command(&server.data());
    command
        .args([
            "relay",
            "check",
            &url,
            "--role",
            "host",
            "--session",
            "lamp",
            "--seconds",
            "1",
            "--json",
        ])
        .env("GANGWAY_KEY", "local-token")
        .args(more);
    let output = tokio::task::spawn_blocking(move || command.output().unwrap());
    let output = output.await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let report: Value = serde_json::from_str(&text).unwrap_or_else(|_| {
        panic!("{text} {}", String::from_utf8_lossy(&output.stderr));
    });
    let findings = report["findings"].as_array().unwrap();
    let wrong = findings
        .iter()
        .filter(|finding| finding["verdict"] == "wrong");
    let wrong = wrong.map(|finding| finding["check"].as_str().unwrap().to_owned());
    (output.status.code(), wrong.collect(), report.clone())
}

#[tokio::test]
async fn a_page_that_does_everything_right_passes_every_check() {
    let (code, wrong, report) = check(Flaw::Nothing, &[]).await;
    assert_eq!((code, wrong), (Some(0), vec![]), "{report}");
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|f| f["verdict"] == "good"), "{report}");
    assert!(findings.len() >= 14, "{report}");
}

macro_rules! told {
    ($($name:ident: $flaw:ident => $check:expr;)*) => {$(
        #[tokio::test]
        async fn $name() {
            let (code, wrong, report) = check(Flaw::$flaw, &[]).await;
            assert_eq!((code, wrong.iter().map(String::as_str).collect::<Vec<_>>()), (Some(1), $check.to_vec()), "{report}");
        }
    )*};
}

told! {
    a_page_that_leaks_backend_data_is_told: LeaksBackendData => ["backendData"];
    a_page_without_a_tool_schema_is_told: HasNoToolSchema => ["snapshot", "toolSchema"];
    a_page_whose_schema_has_an_unknown_type_is_told: HasABadSchema => ["toolSchema"];
    a_page_that_takes_any_tool_is_told: TakesUnknownTools => ["unknownTool"];
    a_page_that_names_a_wrong_code_is_told: NamesTheWrongCode => ["unknownTool"];
    a_page_that_takes_any_params_is_told: TakesWrongParams => ["params", "missingParams"];
    a_page_that_shows_the_state_before_a_call_is_told: ShowsTheStateBefore => ["stateAfter"];
    a_page_that_tells_no_updates_is_told: TellsNoUpdates => ["stateUpdated"];
    a_page_whose_updates_grow_is_told: UpdatesGrow => ["growth"];
    a_page_that_does_not_reset_is_told: DoesNotReset => ["reset"];
    a_page_whose_results_are_not_ok_is_told: SaysItIsNotOk => ["result"];
}

#[tokio::test]
async fn a_page_that_does_not_answer_is_reported() {
    let (code, wrong, report) = check(Flaw::DoesNotAnswer, &[]).await;
    assert_eq!(
        (code, wrong),
        (Some(1), vec!["snapshot".to_owned()]),
        "{report}"
    );
    let message = report["findings"][0]["words"].as_str().unwrap();
    assert!(message.contains("replyTo"), "{message}");
}

#[tokio::test]
async fn a_check_that_cannot_be_made_says_why() {
    let server = TestServer::start().await;
    let url = server.url("");
    for (arguments, message) in [
        (vec![url.as_str()], "no page has joined default"),
        (
            vec!["ws://127.0.0.1:9"],
            "connecting to ws://127.0.0.1:9/agent/ws",
        ),
        (vec!["ws://192.0.2.1"], "not on this machine"),
    ] {
        let mut command = Gangway::command(&server.data());
        command
            .args(["relay", "check", "--role", "host"])
            .env("GANGWAY_KEY", "local-token")
            .args(arguments);
        let output = tokio::task::spawn_blocking(move || command.output().unwrap())
            .await
            .unwrap();
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{text}");
        assert!(text.contains(message), "{text}");
    }
}

#[tokio::test]
async fn a_page_is_checked_with_a_call_that_its_author_names() {
    let named = ["--call", r#"switch={"on":false}"#];
    let (code, _, report) = check(Flaw::Nothing, &named).await;
    assert_eq!(code, Some(0), "{report}");
}
