//! Terminal programs as executors: real ones, in a real tmux.

use std::collections::BTreeMap;

use gangway_runner::wire::{Backend, FromRunner, ToRunner, TurnEvent};
use gangway_testing::{
    eventually,
    runner::{Connection, Server, text_of},
    tmux::Tmux,
};

use crate::panes::in_tmux;

fn backend(command: &[&str], prompt: Option<&str>) -> Backend {
    Backend::Terminal {
        command: command.iter().map(|word| (*word).to_owned()).collect(),
        env: BTreeMap::from([("OWN".to_owned(), "it's \"mine\" $HOME".to_owned())]),
        prompt: prompt.map(str::to_owned),
        quiet_ms: 300,
    }
}

async fn start(backend: Backend, skill: &str) -> (Server, Tmux, Connection) {
    let server = Server::start();
    let tmux = in_tmux(&server);
    let mut setup = server.setup(backend);
    setup.persona.skill = skill.to_owned();
    setup.persona.experience = None;
    let connection = server.ready_as(setup).await;
    (server, tmux, connection)
}

const SHELL: [&str; 4] = ["bash", "--norc", "--noprofile", "-i"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_shell_answers_without_its_echo_and_its_prompt() {
    let (server, _tmux, mut connection) = start(backend(&SHELL, Some(r"[$#] $")), "").await;
    assert_eq!(connection.ask(1, "echo one; echo two").await, "one\ntwo\n");
    let folder = format!("{}\n", server.project().display());
    assert_eq!(connection.ask(2, "pwd").await, folder);
    assert_eq!(connection.ask(3, "true").await, "");
    // It has its own variables and none of ours.
    let own = connection.ask(4, "echo \"$OWN/$TOP_SECRET/$TMUX\"").await;
    assert_eq!(own, "it's \"mine\" $HOME//\n");
    // Longer than a line of the window, and more than fits on it.
    let long = "x".repeat(250);
    assert_eq!(
        connection.ask(5, &format!("echo {long}")).await,
        format!("{long}\n")
    );
    let many = connection.ask(6, "seq 1 200").await;
    let wanted: String = (1..=200).map(|n| format!("{n}\n")).collect();
    assert_eq!(many, wanted);
    // Quiet for longer than the limit, but without a prompt.
    assert_eq!(connection.ask(7, "sleep 1; echo late").await, "late\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_answer_that_takes_its_time_comes_in_chunks() {
    let (_server, _tmux, mut connection) = start(backend(&SHELL, Some(r"[$#] $")), "").await;
    let slow = "for n in 1 2 3 4 5 6; do echo line $n; sleep 0.3; done";
    connection.prompt(1, slow).await;
    let all = connection.turn(1).await;
    let chunks = all
        .iter()
        .filter(|what| matches!(what, TurnEvent::Delta { .. }));
    assert!(chunks.count() > 1, "{all:?}");
    let wanted: String = (1..=6).map(|n| format!("line {n}\n")).collect();
    assert_eq!(text_of(&all), wanted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_without_a_prompt_is_done_when_it_is_quiet() {
    let (_server, _tmux, mut connection) = start(backend(&["cat"], None), "").await;
    assert_eq!(connection.ask(1, "hello").await, "hello\n");
    assert_eq!(connection.ask(2, "hello").await, "hello\n");
    assert_eq!(connection.ask(3, "größe 🎉").await, "größe 🎉\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_persona_is_typed_first_and_its_answer_is_ignored() {
    let (_server, tmux, mut connection) = start(backend(&["cat"], None), "Be kind.").await;
    assert_eq!(connection.ask(1, "hello").await, "hello\n");
    let window = tmux.call(&["capture-pane", "-p", "-t", "agent:1"]);
    let window = String::from_utf8_lossy(&window.stdout).into_owned();
    assert_eq!(window.matches("Be kind.").count(), 2, "{window}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn guardrails_are_typed_before_the_persona() {
    let server = Server::start();
    let tmux = in_tmux(&server);
    let mut setup = server.setup(backend(&["cat"], None));
    setup.guardrails = Some("Never promise a refund.".into());
    setup.persona.skill = "Be kind.".into();
    let mut connection = server.ready_as(setup).await;
    assert_eq!(connection.ask(1, "hello").await, "hello\n");
    let window = tmux.call(&["capture-pane", "-p", "-t", "agent:1"]);
    let window = String::from_utf8_lossy(&window.stdout).into_owned();
    let at = |text: &str| window.find(text).unwrap_or(usize::MAX);
    assert!(
        at("Never promise a refund.") < at("Be kind.") && at("Be kind.") < at("hello"),
        "{window}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bytes_and_escapes_on_its_screen_break_nothing() {
    let (server, _tmux, mut connection) = start(backend(&SHELL, Some(r"[$#] $")), "").await;
    let mut bytes: Vec<u8> = (0..=255).cycle().take(5000).collect();
    // Titles, colors, other character sets, the alternate screen, cursor movement, and a reset.
    bytes.extend(
        b"\x1b]0;title\x07\x1b[31m\x0e\x1b[?1049h\x1b[5;5Hx\x1b[?1049l\x1bPq\x1b\\\x1bc\xff\xfe",
    );
    std::fs::write(server.project().join("binary"), bytes).unwrap();
    let answer = connection.ask(1, "cat binary; echo; echo fine").await;
    assert!(answer.ends_with("fine\n"), "{answer:?}");
    assert!(
        !answer.contains(|c: char| c.is_control() && c != '\n'),
        "{answer:?}"
    );
    assert_eq!(connection.ask(2, "echo still fine").await, "still fine\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn keys_in_a_message_are_not_pressed() {
    let (_server, _tmux, mut connection) = start(backend(&["cat"], None), "").await;
    let answer = connection.ask(1, "a\u{3}b\u{4}c\u{1b}[201~d").await;
    assert_eq!(answer, "abc[201~d\n");
    assert_eq!(connection.ask(2, "alive").await, "alive\n");
}

/// Whether a process with this command line exists.
fn is_running(command: &str) -> bool {
    let processes = std::fs::read_dir("/proc").unwrap();
    processes.flatten().any(|process| {
        let line = std::fs::read_to_string(process.path().join("cmdline"));
        line.is_ok_and(|line| line.trim_end_matches('\0').replace('\0', " ") == command)
    })
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_stop_interrupts_it_and_the_next_message_is_answered() {
    let (_server, _tmux, mut connection) = start(backend(&SHELL, Some(r"[$#] $")), "").await;
    let sleep = format!("sleep {}", 1_000_000 + std::process::id());
    connection.prompt(1, &sleep).await;
    assert!(matches!(connection.line().await, FromRunner::Said { .. }));
    eventually(async || is_running(&sleep).then_some(())).await;
    connection.send(ToRunner::Stop { turn: 1 }).await;
    assert_eq!(connection.ask(2, "echo next").await, "next\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_end_is_reported_and_the_next_message_restarts_it() {
    let (_server, _tmux, mut connection) = start(backend(&SHELL, Some(r"[$#] $")), "").await;
    connection.prompt(1, "echo bye; exit 3").await;
    let all = connection.turn(1).await;
    assert!(text_of(&all).starts_with("bye\n"), "{all:?}");
    match all.last() {
        Some(TurnEvent::Failed { message, .. }) => {
            assert!(message.contains("status 3"), "{message}")
        }
        other => panic!("{other:?}"),
    }
    connection.prompt(2, "echo again").await;
    let all = connection.turn(2).await;
    assert!(matches!(&all[1], TurnEvent::Notice { text } if text.contains("restarted")));
    assert_eq!(text_of(&all), "again\n");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_program_that_is_not_there_is_reported_and_nothing_is_left() {
    for (backend, wanted) in [
        (backend(&["/nowhere/program"], None), "/nowhere/program"),
        (
            backend(&["bash", "-c", "echo no luck; exit 4"], None),
            "no luck",
        ),
    ] {
        let server = Server::start();
        let tmux = in_tmux(&server);
        let mut connection = server.accept().await;
        let setup = server.setup(backend);
        connection.welcome(Some(setup), 0, None).await;
        match connection.line().await {
            FromRunner::Broken { message } => assert!(message.contains(wanted), "{message}"),
            other => panic!("{other:?}"),
        }
        eventually(|| async { (!tmux.is_there()).then_some(()) }).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_left_when_the_agent_ends() {
    let command = [
        "bash",
        "-c",
        "trap '' HUP TERM; while true; do sleep 1; done",
    ];
    let (server, tmux, mut connection) = start(backend(&command, None), "").await;
    let folder = server.project();
    let running = || {
        let entries = std::fs::read_dir("/proc").unwrap().flatten();
        let there = entries.filter(|entry| {
            std::fs::read_link(entry.path().join("cwd")).is_ok_and(|cwd| cwd == folder)
        });
        there.count()
    };
    eventually(|| async { (running() > 0).then_some(()) }).await;
    connection.send(ToRunner::End).await;
    eventually(|| async { (running() == 0 && !tmux.is_there()).then_some(()) }).await;
}
