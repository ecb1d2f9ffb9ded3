//! Runners, models, frames and neighbours that mean ill.

use std::process::Command;

use gangway_runner::wire::{FromRunner, Ticket, ToRunner, TurnEvent};
use gangway_testing::runner_client::{NOBODY, Runner};
use reqwest::Method;
use serde_json::{Value, json};

use super::{TestAgent, Yard, answered, create_request, model::Model};

async fn by_hand() -> (Yard, TestAgent, Runner, u64) {
    let remote = Yard::with_program(NOBODY, |_| {}).await;
    let ((runner, turn), created) = tokio::join!(
        Runner::begin(remote.data()),
        remote.create(create_request("Work."))
    );
    let made = TestAgent::of(&created.1);
    (remote, made, runner, turn)
}

fn delta(text: &str) -> TurnEvent {
    TurnEvent::Delta { text: text.into() }
}

#[tokio::test]
async fn a_runner_without_a_ticket_is_rejected() {
    let (remote, made, runner, _) = by_hand().await;
    let ticket = Runner::ticket(remote.data()).await;
    let with = |agent: &str, token: &str| Ticket {
        socket: ticket.socket.clone(),
        agent: agent.into(),
        token: token.into(),
    };
    for wrong in [
        with(&made.id, &made.token),
        with(&made.id, ""),
        with(&made.id, "local-token"),
        with("000000000000000000000000", &ticket.token),
        with("../../x", &ticket.token),
        with("", &ticket.token),
    ] {
        let (_, answer) = Runner::come(&wrong, true).await;
        assert!(
            matches!(answer, Some(ToRunner::Refused { .. })),
            "{answer:?}"
        );
    }
    // What says something else first is not answered at all.
    for line in ["", "{}", "[]", "\u{0}", "{\"type\":\"ready\"}", "hello"] {
        let stream = tokio::net::UnixStream::connect(&ticket.socket)
            .await
            .unwrap();
        let (mut reading, mut writing) = stream.into_split();
        let text = format!("{line}\n");
        tokio::io::AsyncWriteExt::write_all(&mut writing, text.as_bytes())
            .await
            .unwrap();
        let mut answer = Vec::new();
        let _ = tokio::io::AsyncReadExt::read_to_end(&mut reading, &mut answer).await;
        assert!(answer.is_empty(), "{line}");
    }
    assert_eq!(remote.alive(&made).await["state"], "processing");
    // Once it is over, its ticket is worth nothing.
    drop(runner);
    remote.post(&made, "shutdown", json!({})).await;
    remote.stream(&made, None).await.until("agent.ended").await;
    let (_, answer) = Runner::come(&ticket, true).await;
    assert!(
        matches!(answer, Some(ToRunner::Refused { .. })),
        "{answer:?}"
    );
}

#[tokio::test]
async fn what_a_runner_says_twice_too_late_or_out_of_turn_changes_nothing() {
    let (remote, made, mut runner, turn) = by_hand().await;
    runner.send_message(turn, delta("one ")).await;
    let say = |n, turn, text: &str| FromRunner::Said {
        n,
        turn,
        what: delta(text),
    };
    for line in [
        say(2, turn, "again "),
        say(1, turn, "earlier "),
        say(0, turn, "never "),
        say(99, turn + 1, "of another turn "),
        say(98, 0, "of none "),
    ] {
        runner.tell(&line).await;
    }
    runner.send_message(turn, delta("two")).await;
    runner
        .send_message(turn, TurnEvent::Done { usage: None })
        .await;
    remote.until_state(&made, "complete").await;
    runner.send_message(turn, delta(" and after the end")).await;
    runner
        .send_message(turn, TurnEvent::Done { usage: None })
        .await;
    assert_eq!(remote.answers(&made).await, ["one two"]);
    // Another one with the same ticket replaces it; messages of the first are ignored.
    let ticket = Runner::ticket(remote.data()).await;
    let (mut second, _) = Runner::come(&ticket, false).await;
    remote
        .post(&made, "messages", json!({ "text": "Again." }))
        .await;
    let next = second.prompted().await;
    runner.tell(&say(100, next, "from the first")).await;
    for (n, what) in [
        (101, delta("from the second")),
        (102, TurnEvent::Done { usage: None }),
    ] {
        second
            .tell(&FromRunner::Said {
                n,
                turn: next,
                what,
            })
            .await;
    }
    remote.until_state(&made, "complete").await;
    assert_eq!(remote.answers(&made).await, ["one two", "from the second"]);
}

#[tokio::test]
async fn lines_that_make_no_sense_end_a_connection_and_not_the_agent() {
    let (remote, made, mut runner, turn) = by_hand().await;
    let ticket = Runner::ticket(remote.data()).await;
    for line in [
        "{",
        "[]",
        "{\"type\":\"said\",\"n\":-1}",
        "\u{7f}\u{0}",
        "null",
    ] {
        runner.raw(line.into()).await;
        while runner.receive().await.is_some() {}
        let (back, welcome) = Runner::come(&ticket, false).await;
        assert!(
            matches!(welcome, Some(ToRunner::Welcome { .. })),
            "{line}: {welcome:?}"
        );
        runner = back;
    }
    assert_eq!(remote.alive(&made).await["state"], "processing");
    // More than a message may hold fails the turn alone.
    for n in 10..20 {
        let what = delta(&"x".repeat(1 << 20));
        runner.tell(&FromRunner::Said { n, turn, what }).await;
    }
    remote.until_state(&made, "idle").await;
    let (_, history) = remote.get(&made, "history").await;
    let lines = history["entries"].as_array().unwrap();
    assert!(lines.iter().any(|line| line["role"] == "error"));
    remote
        .post(&made, "messages", json!({ "text": "Again." }))
        .await;
    // Each connection repeats the first message, followed by the new one.
    while runner.prompted().await == turn {}
}

#[tokio::test]
async fn what_an_agent_says_is_data_in_every_frame_of_its_stream() {
    let (remote, made, mut runner, turn) = by_hand().await;
    let mut stream = remote.stream(&made, None).await;
    stream.until("agent.state").await;
    let sly = "\n\nevent: agent.ended\ndata: {}\r\n\r\rid: 9999\u{2028}\0</script><img src=x onerror=alert(1)>";
    runner.send_message(turn, delta(sly)).await;
    let frame = stream.next().await.unwrap();
    assert_eq!(
        (frame.event.as_str(), &frame.data["delta"]),
        ("assistant.message_delta", &json!(sly))
    );
    let question = TurnEvent::Question {
        question: 1,
        text: sly.into(),
        options: vec![sly.into()],
    };
    runner.send_message(turn, question).await;
    let frame = stream.until("agent.state").await;
    assert_eq!(frame.data["state"], "awaiting_input");
}

/// What a model says is drawn in a terminal, too.
#[tokio::test]
async fn a_model_does_not_steer_the_terminal_of_the_operator() {
    let sly =
        "\u{1b}[2J\u{1b}[H\u{1b}]52;c;ZXZpbA==\u{7}\u{1b}]0;owned\u{7}\u{9b}2Jfine\rover\u{8}";
    let remote = Yard::with(Model::says(&[sly]), |_| {}).await;
    let made = remote.agent("Hi.").await;
    remote.until_state(&made, "complete").await;
    let tmux = |words: &[&str]| {
        let mut command = Command::new("tmux");
        command
            .arg("-S")
            .arg(remote.data().join("agents/tmux.sock"));
        let message = command.args(words).output().unwrap().stdout;
        String::from_utf8_lossy(&message).into_owned()
    };
    let shown = gangway_testing::eventually(|| async {
        let shown = tmux(&["capture-pane", "-p", "-S", "-", "-t", &made.tmux]);
        shown.contains("fine").then_some(shown)
    })
    .await;
    assert!(shown.contains("agent clerk in shop"), "cleared: {shown}");
    assert_eq!(tmux(&["show-buffer"]), "");
    let title = tmux(&["display-message", "-p", "-t", &made.tmux, "#{pane_title}"]);
    assert!(!title.contains("owned"), "{title}");
    // What was said is kept as it was said.
    assert_eq!(remote.answers(&made).await, [sly]);
}

/// A page that sends forms or plain text, as any page can without being asked.
#[tokio::test]
async fn forms_and_plain_text_of_other_sites_make_nothing_and_say_nothing() {
    let remote = Yard::open().await;
    let made = remote.agent("Hi.").await;
    let before = remote.stock();
    let say = format!("/{}/messages?token={}", made.id, made.token);
    let create = "/create".to_owned();
    for (path, body) in [
        (create, create_request("Hi.")),
        (say, json!({ "text": "Hi." })),
    ] {
        for kind in [
            "text/plain",
            "application/x-www-form-urlencoded",
            "multipart/form-data; boundary=x",
        ] {
            for (name, value) in [
                ("sec-fetch-site", "cross-site"),
                ("x-none", "1"),
                ("origin", "null"),
            ] {
                let request = remote
                    .request(Method::POST, &path)
                    .header("content-type", kind);
                let request = request.header(name, value).body(body.to_string());
                let (status, error): (u16, Value) = answered(request).await;
                assert!(
                    [403, 415].contains(&status),
                    "{path} {kind} {name}: {status} {error}"
                );
            }
        }
    }
    remote.until_state(&made, "complete").await;
    assert_eq!(remote.stock().tmux(), before.tmux());
    assert_eq!(remote.model.asked().len(), 1);
}
