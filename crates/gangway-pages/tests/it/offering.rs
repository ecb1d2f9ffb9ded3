//! What pages may offer: nothing of it can hurt agents, other pages or the server.

use gangway_core::{ToolName, ToolSource};
use serde_json::json;

use crate::{World, described, tool};

#[tokio::test]
async fn two_pages_with_the_same_tools_are_told_apart_and_a_name_is_free_again_when_its_page_leaves()
 {
    let world = World::open();
    let (first, second) = (world.connect("todo", "a"), world.connect("todo", "b"));
    assert_eq!(
        first.offer(vec![tool("add")], false).server.as_deref(),
        Some("page-todo")
    );
    assert_eq!(
        second.offer(vec![tool("add")], false).server.as_deref(),
        Some("page-todo-2")
    );
    assert_eq!(world.offered().await, ["page-todo/add", "page-todo-2/add"]);
    first.close();
    assert_eq!(world.offered().await, ["page-todo-2/add"]);
    let third = world.connect("todo", "c");
    // A page without tools has no name that another might need.
    assert_eq!(third.offer(Vec::new(), false).server, None);
    assert_eq!(
        third.offer(vec![tool("add")], false).server.as_deref(),
        Some("page-todo")
    );
    // A name for good: it does not lead elsewhere while the page is open.
    third.offer(Vec::new(), false);
    assert_eq!(third.page().server(), Some("page-todo"));
}

#[tokio::test]
async fn a_page_names_neither_its_server_nor_another_one() {
    let world = World::open();
    let page = world.connect("todo", "a");
    let names = [
        "gangway/read_session",
        "memory/read_graph",
        "../look",
        "a b",
        "",
        "a\u{202e}b",
        "ä",
        "a\n",
    ];
    let offered = names.iter().map(|name| tool(name)).chain([tool("ok")]);
    let accepted = page.offer(offered.collect(), false);
    assert_eq!(accepted.tools, ["ok"]);
    assert_eq!(accepted.refused.len(), names.len());
    assert!(
        accepted
            .refused
            .iter()
            .all(|one| one.message.contains("`name` must be"))
    );
    assert_eq!(world.offered().await, ["page-todo/ok"]);
    let long = tool(&"x".repeat(129));
    assert_eq!(page.offer(vec![long], false).refused.len(), 1);
    // Nor does an app whose name tries to.
    let odd = world.connect("../memory/x", "b");
    let server = odd.offer(vec![tool("t")], false).server.unwrap();
    assert_eq!(server, "page----memory-x");
}

#[tokio::test]
async fn ten_thousand_tools_are_as_many_as_fit_and_one_clear_refusal() {
    let world = World::open();
    let page = world.connect("todo", "a");
    let many: Vec<_> = (0..10_000).map(|n| tool(&format!("t{n}"))).collect();
    let accepted = page.offer(many, false);
    assert_eq!((accepted.tools.len(), accepted.refused.len()), (64, 1));
    assert_eq!(
        accepted.refused[0].message,
        "a page can offer at most 64 tools"
    );
    let same = (0..10_000).map(|_| tool("t0"));
    let accepted = page.offer(same.collect(), false);
    assert_eq!((accepted.tools.len(), accepted.refused.len()), (1, 64));
}

#[tokio::test]
async fn hostile_schemas_are_refused_with_what_is_wrong_and_the_other_tools_stay() {
    let world = World::open();
    let page = world.connect("todo", "a");
    let deep = |levels: usize| {
        let mut schema = json!({ "type": "object" });
        for _ in 0..levels {
            schema = json!({ "type": "object", "properties": { "a": schema } });
        }
        schema
    };
    let mut doubling = serde_json::Map::new();
    for n in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/a{}", n + 1) });
        doubling.insert(format!("a{n}"), json!({ "allOf": [next, next] }));
    }
    let doubling = json!({ "type": "object", "$defs": doubling, "$ref": "#/$defs/a0" });
    let hostile = [
        ("deep", deep(50), "levels deep"),
        (
            "huge",
            json!({ "type": "object", "description": "x".repeat(70_000) }),
            "bytes",
        ),
        (
            "loop",
            json!({ "type": "object", "allOf": [{ "$ref": "#" }] }),
            "endless",
        ),
        ("doubling", doubling, "expands"),
        (
            "remote",
            json!({ "type": "object", "properties": { "a": { "$ref": "http://127.0.0.1:1/x" } } }),
            "remote references",
        ),
        (
            "pattern",
            json!({ "type": "object", "properties": { "a": { "pattern": "(" } } }),
            "invalid",
        ),
        ("list", json!([1]), "not an object"),
        ("text", json!({ "type": "string" }), "not of type object"),
    ];
    let mut offered: Vec<_> = hostile
        .iter()
        .map(|(name, schema, _)| described(json!({ "name": name, "inputSchema": schema })))
        .collect();
    offered.push(tool("good"));
    let accepted = page.offer(offered, false);
    assert_eq!(accepted.tools, ["good"]);
    for (refused, (name, _, why)) in accepted.refused.iter().zip(&hostile) {
        assert_eq!(refused.name, *name);
        assert!(refused.message.contains(why), "{name}: {}", refused.message);
    }
    // Together they may not be too large either.
    let large = json!({ "type": "object", "description": "x".repeat(60_000) });
    let many = (0..10).map(|n| described(json!({ "name": format!("t{n}"), "inputSchema": large })));
    let accepted = page.offer(many.collect(), false);
    assert_eq!(accepted.tools.len(), 4);
    assert!(accepted.refused[0].message.contains("in total"));
}

#[tokio::test]
async fn what_a_tool_says_of_itself_is_shown_as_text_within_limits() {
    let world = World::open();
    let page = world.connect("todo", "a");
    let schema = json!({ "type": "object", "properties": { "a": {
        "type": "string", "description": "in\u{202e}vert\u{0}" } } });
    let odd = "red\u{1b}[31m \u{202e}dne\u{0} \u{200b}".to_owned() + &"x".repeat(10_000);
    page.offer(
        vec![described(
            json!({ "name": "t", "description": odd, "inputSchema": schema }),
        )],
        false,
    );
    let tools = world.tools.tools(world.session, "").await;
    let shown = &tools[0].description;
    assert!(
        shown.starts_with("red\\u{001b}[31m \\u{202e}dne\\u{0000}"),
        "{shown}"
    );
    assert!(shown.len() < 5_000);
    let inner = &tools[0].input_schema["properties"]["a"]["description"];
    assert_eq!(inner, "in\\u{202e}vert\\u{0000}");
}

#[tokio::test]
async fn agents_of_other_sessions_have_none_of_it_and_a_site_without_a_session_offers_nothing() {
    let world = World::open();
    let page = world.connect("todo", "a");
    page.offer(vec![tool("add")], false);
    let other = gangway_core::SessionId::new();
    assert!(world.tools.tools(other, "").await.is_empty());
    let mut foreign = world.agent();
    foreign.session = Some(other);
    let add: ToolName = "page-todo/add".parse().unwrap();
    let refused = world.tools.call(&foreign, &add, json!({})).await;
    assert_eq!(refused.unwrap_err().code(), "ERR_TOOL_NOT_FOUND");
    world.pages.connect(page.page(), None);
    assert!(world.tools.all().await.is_empty() && world.tools.servers().is_empty());
    let mut anyone = world.agent();
    anyone.session = None;
    let refused = world.tools.call(&anyone, &add, json!({})).await;
    assert_eq!(refused.unwrap_err().code(), "ERR_TOOL_NOT_FOUND");
}

#[tokio::test]
async fn listeners_hear_of_other_tools_and_of_nothing_else() {
    let world = World::open();
    let page = world.connect("todo", "a");
    let changes = world.pages.changes();
    let before = *changes.borrow();
    let add = || described(json!({ "name": "add", "inputSchema": { "type": "object" } }));
    for (tools, count) in [
        (vec![], 0),
        (vec![add()], 1),
        (vec![add()], 1),
        (vec![add(), tool("b")], 2),
        (vec![tool("b")], 3),
    ] {
        page.offer(tools, false);
        assert_eq!(*changes.borrow(), before + count);
    }
    page.close();
    assert_eq!(*changes.borrow(), before + 4);
}
