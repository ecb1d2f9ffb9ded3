//! Valid and invalid manifests.

use gangway_apps::manifest::{Delivery, FieldKind, ParsedManifest, read};
use serde_json::json;

fn told(text: &str) -> Vec<String> {
    let reading = read(text, "notes");
    reading.problems.iter().map(ToString::to_string).collect()
}

/// A manifest with these lines after the two required ones; the first of them is line 4.
fn with(lines: &str) -> ParsedManifest {
    read(
        &format!("---\nname: notes\ndescription: Keeps notes.\n{lines}\n---\n\n# Notes\n"),
        "notes",
    )
}

/// The one problem of a manifest with these lines.
fn only(lines: &str) -> String {
    let reading = with(lines);
    assert_eq!(reading.problems.len(), 1, "{:?}", reading.problems);
    reading.problems[0].to_string()
}

#[test]
fn a_whole_manifest_is_read() {
    let reading = with(
        r#"title: My notes
version: 1.2.0
entry: pages/start.html
runtime: browser
category: productivity
tags: [notes, text]
csp: "default-src 'self'"
agent:
  discoverable: true
  launchable: false
  triggers:
    - user wants to write something down
  provides: [notes]
  requires: text
  delivery: turn
  context:
    data:
      expenses: { type: array, description: What was spent, required: false, items: { type: object } }
      date_range:
        type: object
        properties:
          start: { type: date }
          end: { type: date, required: true }
    config:
      chart_type: { type: string, enum: [bar, line, pie], default: bar }
  events:
    - name: note-saved
      description: A note was saved
      deliver: context
      payload:
        id: string
        length: { type: number }
    - note-opened"#,
    );
    assert_eq!(reading.problems, []);
    let notes = reading.manifest.unwrap();
    assert_eq!(
        (notes.name.as_str(), notes.title.as_str()),
        ("notes", "My notes")
    );
    assert_eq!(notes.entry.as_str(), "pages/start.html");
    assert_eq!(notes.tags, ["notes", "text"]);
    assert_eq!(notes.csp.as_deref(), Some("default-src 'self'"));
    assert_eq!(notes.about, "# Notes");
    let agent = &notes.agent;
    assert!(agent.discoverable && !agent.launchable);
    assert_eq!(agent.requires, ["text"]);
    let context = serde_json::to_value(&agent.context).unwrap();
    let wanted = json!({
        "data": {
            "expenses": {"type": "array", "description": "What was spent", "required": false, "items": {"type": "object", "required": false}},
            "date_range": {"type": "object", "required": false, "properties": {
                "start": {"type": "date", "required": false},
                "end": {"type": "date", "required": true},
            }},
        },
        "config": {"chart_type": {"type": "string", "required": false, "default": "bar", "enum": ["bar", "line", "pie"]}},
    });
    assert_eq!(context, wanted);
    assert_eq!(agent.events[0].payload["id"].kind, Some(FieldKind::String));
    assert_eq!(notes.delivery("note-saved"), Delivery::Context);
    assert_eq!(notes.delivery("note-opened"), Delivery::Turn);
    assert!(notes.declares("note-opened") && !notes.declares("note-lost"));
}

#[test]
fn a_name_and_a_description_are_enough() {
    let reading = with("");
    assert_eq!(reading.problems, []);
    let notes = reading.manifest.unwrap();
    assert_eq!(
        (notes.version.as_str(), notes.entry.as_str()),
        ("0.0.0", "index.html")
    );
    assert!(notes.agent.discoverable && notes.agent.launchable);
    assert!(!notes.agent.context.declared() && notes.declares("anything"));
}

#[test]
fn a_context_can_be_a_list_of_choices() {
    for list in [
        "agent:\n  context:\n    - difficulty: easy | medium | hard\n    - rounds: number\n    - players: 1 | 2",
        "agent:\n  context:\n    - \"difficulty: easy | medium | hard\"\n    - \"rounds: number\"\n    - \"players: 1 | 2\"",
    ] {
        let reading = with(list);
        assert_eq!(reading.problems, [], "{list}");
        let context = serde_json::to_value(reading.manifest.unwrap().agent.context).unwrap();
        let wanted = json!({
            "difficulty": {"required": false, "enum": ["easy", "medium", "hard"]},
            "rounds": {"type": "number", "required": false},
            "players": {"required": false, "enum": [1, 2]},
        });
        assert_eq!(context["data"], wanted, "{list}");
        assert_eq!(context["config"], wanted, "{list}");
    }
}

#[test]
fn what_is_missing_is_reported_with_its_line() {
    assert_eq!(
        told("---\ntitle: x\n---\n"),
        [
            "APP.md:1: error: `name` is missing: use the folder's name, in lowercase letters, digits and hyphens",
            "APP.md:1: error: `description` is missing: describe the app in one sentence",
        ]
    );
    let empty = told("---\nname: notes\ndescription: \"\"\n---\n");
    assert!(empty[0].contains("`description` is missing"), "{empty:?}");
}

#[test]
fn a_broken_front_matter_is_reported_with_its_line() {
    for (text, line, word) in [
        ("", 1, "the first line is not ---"),
        ("# Notes\n", 1, "the first line is not ---"),
        ("---\nname: notes\n", 1, "is not closed"),
        ("---\n---\n", 1, "empty"),
        (
            "---\nname: notes\ndescription: [a\n---\n",
            0,
            "invalid YAML",
        ),
        (
            "---\nname: notes\ndescription: a\n  b: c\n---\n",
            4,
            "invalid YAML",
        ),
        (
            "---\nname: notes\ndescription: x\nname: other\n---\n",
            4,
            "invalid YAML",
        ),
        ("---\n- a\n---\n", 2, "must be a map"),
        (
            "---\nname: notes\ndescription: &a [*a]\n---\n",
            0,
            "invalid YAML",
        ),
    ] {
        let reading = read(text, "notes");
        assert!(reading.is_broken(), "{text:?}");
        let first = &reading.problems[0];
        assert!(first.message.contains(word), "{text:?}: {first}");
        assert!(line == 0 || first.line == Some(line), "{text:?}: {first}");
        assert!(!first.message.contains("at line "), "told once: {first}");
        // It can still be shown.
        assert_eq!(reading.manifest.unwrap().name.as_str(), "notes");
    }
}

#[test]
fn a_file_from_windows_with_a_byte_order_mark_is_read() {
    let reading = read(
        "\u{feff}---\r\nname: notes\r\ndescription: x\r\n---\r\nText\r\n",
        "notes",
    );
    assert_eq!(reading.problems, []);
    assert_eq!(reading.manifest.unwrap().about, "Text");
}

#[test]
fn a_name_off_the_pattern_is_an_error_and_another_than_the_folders_a_warning() {
    let bad = told("---\nname: My Notes\ndescription: x\n---\n");
    assert!(
        bad[0].starts_with("APP.md:2: error: `name`: \"My Notes\" is not an app name"),
        "{bad:?}"
    );
    let reading = read("---\nname: other\ndescription: x\n---\n", "notes");
    assert!(!reading.is_broken());
    assert_eq!(reading.manifest.unwrap().name.as_str(), "other");
    assert_eq!(
        reading.problems[0].to_string(),
        "APP.md:2: warning: `name` is other, but the folder is named \"notes\"; they must be the same"
    );
    // Without a valid name there is no manifest.
    assert_eq!(read("---\nname: X\n---\n", "Some Folder").manifest, None);
}

#[test]
fn an_entry_stays_in_the_folder() {
    for bad in [
        "../index.html",
        "a/../../index.html",
        "/etc/passwd.html",
        "//host/x.html",
        "'C:\\x.html'",
        "'a\\b.html'",
        "index.html?x",
        "'a#b.html'",
        "'%2e%2e/index.html'",
        ".hidden.html",
        ".git/index.html",
        "main.js",
        "pages",
    ] {
        let problem = only(&format!("entry: {bad}"));
        assert!(
            problem.starts_with("APP.md:4: error: `entry` is "),
            "{problem}"
        );
    }
}

#[test]
fn wrong_values_are_reported_with_their_position() {
    for (lines, wanted) in [
        (
            "runtime: php",
            "4: error: `runtime` is \"php\", but must be one of browser, bun, deno, node",
        ),
        (
            "title: 1.0",
            "4: warning: `title` is read as the number 1.0; put it in quotes",
        ),
        (
            "version: '1.0'",
            "4: warning: `version` is \"1.0\"; use a version like 1.0.0",
        ),
        (
            "tags:\n  a: b",
            "5: error: `tags` must be a list of texts, but is a map",
        ),
        (
            "agent: yes",
            "4: error: `agent` is a text, but must be a map",
        ),
        (
            "agent:\n  launchable: maybe",
            "5: error: `agent.launchable` must be true or false",
        ),
        (
            "agent:\n  delivery: now",
            "5: error: `agent.delivery` is \"now\", but must be `turn` or `context`",
        ),
        (
            "agent:\n  context: 7",
            "5: error: `agent.context` must be a map with `data` and `config`",
        ),
        (
            "agent:\n  context:\n    data:\n      a: { type: strin }",
            "7: error: `agent.context.data.a.type` is \"strin\", which is not a type",
        ),
        (
            "agent:\n  context:\n    data:\n      a: wrong",
            "7: error: `agent.context.data.a` is \"wrong\", which is not a type",
        ),
        (
            "agent:\n  context:\n    config:\n      a:\n        type: number\n        enum: [1, two]",
            "9: error: `agent.context.config.a.enum` contains \"two\", which is not a number",
        ),
        (
            "agent:\n  context:\n    config:\n      a:\n        type: string\n        enum: [x, y]\n        default: z",
            "10: warning: `agent.context.config.a.default` is \"z\", which is not among its `enum`",
        ),
        (
            "agent:\n  context:\n    config:\n      a: { type: date, default: 2026-02-30 }",
            "7: warning: `agent.context.config.a.default` is \"2026-02-30\", but must be a date",
        ),
        (
            "agent:\n  context:\n    data:\n      a:\n        type: string\n        properties: { b: string }",
            "9: error: `agent.context.data.a.properties` is only for fields of type object",
        ),
        (
            "agent:\n  events:\n    - name: Note Saved",
            "6: error: invalid event name \"Note Saved\"",
        ),
        (
            "agent:\n  events:\n    - description: x",
            "6: error: `agent.events[0]` has no `name`",
        ),
        (
            "agent:\n  events:\n    - saved\n    - saved",
            "7: warning: duplicate event saved",
        ),
        (
            "csp: \"default-src 'self'\\nX-Evil: 1\"",
            "4: error: `csp` must be one line of ASCII",
        ),
    ] {
        let problem = only(lines);
        assert!(
            problem.starts_with(&format!("APP.md:{wanted}")),
            "{lines}\n{problem}"
        );
    }
}

#[test]
fn keys_of_the_wider_format_cause_no_warning() {
    let reading = with(
        "icon: 📊\ndisplay: standalone\ndependencies: { d3: ^7 }\nstorage: local\ni18n: { default: en }\ncapabilities: [camera]\n\
         author: { name: A }\nlicense: MIT\nhomepage: https://example.org\nruntime: bun\nentry: server.ts",
    );
    assert_eq!(reading.problems, []);
    let manifest = reading.manifest.unwrap();
    assert_eq!(manifest.icon.as_deref(), Some("📊"));
    assert_eq!(manifest.capabilities.unwrap(), ["camera"]);
    let server = manifest.server.unwrap();
    assert_eq!(server.file.unwrap().as_str(), "server.ts");
    assert_eq!(manifest.entry.as_str(), "index.html");
}

#[test]
fn unknown_keys_are_warnings_that_guess_what_was_meant() {
    let reading = with(
        "licence: MIT\nagent:\n  tiggers: [x]\n  context:\n    date: {}\n  events:\n    - { name: a, colour: red }",
    );
    assert!(!reading.is_broken());
    let lines: Vec<String> = reading.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "APP.md:4: warning: unknown key `licence`",
            "APP.md:6: warning: unknown key `agent.tiggers`; did you mean `triggers`?",
            "APP.md:8: warning: unknown key `agent.context.date`; did you mean `data`?",
            "APP.md:10: warning: unknown key `agent.events[0].colour`",
        ]
    );
}

#[test]
fn everything_that_is_wrong_is_listed_at_once_up_to_a_limit() {
    let many: String = (0..500).map(|n| format!("key{n}: 1\n")).collect();
    assert_eq!(with(&many).problems.len(), 100);
    let deep = format!(
        "agent:\n  context:\n    data:\n      a: {}string{}",
        "{ items: ".repeat(40),
        " }".repeat(40)
    );
    assert!(only(&deep).contains("more than 16 levels deep"));
    let deeper = format!("agent: {}1{}", "[".repeat(20_000), "]".repeat(20_000));
    assert!(with(&deeper).is_broken());
}
