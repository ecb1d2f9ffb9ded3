//! History and export.

use serde_json::json;

use crate::support::TestServer;

#[tokio::test]
async fn history_comes_as_html_without_any_markup_of_the_speakers() {
    let server =
        TestServer::scripted("turns: [{steps: [{say: '<script>alert(1)</script> & {{prompt}}'}]}]")
            .await;
    let session = server.session().await;
    server.ask(&session, "<img src=x onerror=alert(1)>").await;
    let response = server
        .http
        .get(server.url(&format!("/api/history?session={session}")))
        .header("accept", "text/html")
        .send()
        .await
        .unwrap();
    assert_eq!(
        response.headers()["content-type"],
        "text/html; charset=utf-8"
    );
    let html = response.text().await.unwrap();
    assert!(html.starts_with("<div class=\"message user\">&lt;img src=x onerror=alert(1)&gt;</div>\n<div class=\"message assistant\">&lt;script&gt;"), "{html}");
}

#[tokio::test]
async fn a_user_who_types_the_prefix_of_an_applet_is_still_the_user() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.ask(&session, "[applet:x] hi").await;
    let (_, history) = server.get(&format!("/api/history?session={session}")).await;
    let message = &history["entries"][0];
    assert_eq!(
        (&message["content"], &message["source"]),
        (&json!("[applet:x] hi"), &json!({ "kind": "person" }))
    );
}

#[tokio::test]
async fn older_history_comes_in_pages() {
    let server = TestServer::scripted("turns: [{steps: [{delta: 'ok'}]}]").await;
    let session = server.session().await;
    for n in 0..6 {
        server.ask(&session, &format!("n{n}")).await;
    }
    let mut texts = Vec::new();
    let mut path = format!("/api/history?session={session}&limit=8");
    loop {
        let (_, page) = server.get(&path).await;
        let entries = page["entries"].as_array().unwrap().clone();
        let users = entries
            .iter()
            .filter(|e| e["role"] == "user")
            .map(|e| e["content"].as_str().unwrap().to_owned());
        texts = users.chain(texts).collect();
        if page["older"] == false {
            break;
        }
        // A page may hold only events that draw nothing; its first line is then the page after it.
        let first = entries.first().map_or(0, |e| e["seq"].as_u64().unwrap());
        path = format!("/api/history?session={session}&limit=8&before={first}");
    }
    assert_eq!(texts, ["n0", "n1", "n2", "n3", "n4", "n5"]);
}

#[tokio::test]
async fn the_export_holds_every_event_as_the_feed_sends_it() {
    let server = TestServer::start().await;
    let session = server.session().await;
    server.ask(&session, "a tool please").await;
    let export = server
        .http
        .get(server.url(&format!("/api/sessions/{session}/export")))
        .send()
        .await
        .unwrap();
    assert_eq!(
        export.headers()["content-disposition"],
        format!("attachment; filename=\"{session}.jsonl\"")
    );
    let lines: Vec<serde_json::Value> = export
        .text()
        .await
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut feed = server
        .sse(&format!("/api/sessions/{session}/events?since=0"), None)
        .await;
    for (n, line) in lines.iter().enumerate() {
        assert_eq!(line["seq"], n as u64 + 1);
        let frame = loop {
            let frame = feed.next().await.unwrap();
            if frame.event != "session.idle" {
                break frame;
            }
        };
        assert_eq!(&frame.data, line);
    }
}

#[tokio::test]
async fn a_page_of_history_never_cuts_a_tool_call_from_its_result() {
    let script = "turns: [{steps: [{tool: {name: a/b, result: 1}}, {tool: {name: a/c, result: 2}}, {say: done}]}]";
    let server = TestServer::scripted(script).await;
    let session = server.session().await;
    for n in 0..3 {
        server.ask(&session, &format!("n{n}")).await;
    }
    for limit in 1..30 {
        let mut path = format!("/api/history?session={session}&limit={limit}");
        let mut tools = 0;
        loop {
            let (_, page) = server.get(&path).await;
            for entry in page["entries"].as_array().unwrap() {
                assert_ne!(entry["state"], "running", "limit {limit}: {page}");
                tools += usize::from(entry["role"] == "tool");
            }
            let first = page["entries"][0]["seq"].as_u64();
            match first {
                Some(first) if page["older"] == true => {
                    path = format!("/api/history?session={session}&limit={limit}&before={first}");
                }
                _ => break,
            }
        }
        assert!(tools <= 6, "limit {limit}: a call is on two pages");
    }
}

#[tokio::test]
async fn history_as_html_leaves_out_what_is_not_in_the_chat() {
    let server = TestServer::start().await;
    let session = server.session().await;
    let open = server.app.hub.open(session.parse().unwrap()).await.unwrap();
    let command = gangway_core::Command::Prompt {
        prompt: "quiet".into(),
        source: gangway_core::Source::Applet {
            slug: "board".into(),
        },
        shown: false,
        when_busy: gangway_core::WhenBusy::Queue,
    };
    open.submit(command).await.unwrap();
    server.ask(&session, "loud").await;
    let path = format!("/api/history?session={session}");
    let asked = server.http.get(server.url(&path));
    let html = asked.header("accept", "text/html").send().await.unwrap();
    let html = html.text().await.unwrap();
    assert!(html.contains("loud") && !html.contains("quiet"), "{html}");
    let (_, json) = server.get(&path).await;
    assert_eq!(json["entries"][0]["hidden"], true);
}
