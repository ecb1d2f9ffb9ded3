//! Contexts of launches.

use gangway_apps::{
    context::{Context, ContextError, LARGEST, complete},
    manifest::{ContextFields, read},
};
use serde_json::{Map, Value, json};

fn declared(context: &str) -> ContextFields {
    let indented: String = context
        .lines()
        .map(|line| format!("    {line}\n"))
        .collect();
    let text = format!("---\nname: a\ndescription: b\nagent:\n  context:\n{indented}---\n");
    let reading = read(&text, "a");
    assert_eq!(reading.problems, []);
    reading.manifest.unwrap().agent.context
}

fn map(value: Value) -> Map<String, Value> {
    value.as_object().unwrap().clone()
}

fn with(fields: &ContextFields, data: Value, config: Value) -> Result<Context, ContextError> {
    complete(fields, map(data), map(config))
}

/// The faults, as `path message`.
fn faults(fields: &ContextFields, data: Value, config: Value) -> Vec<String> {
    match with(fields, data, config) {
        Err(ContextError::Wrong(faults)) => faults
            .iter()
            .map(|f| format!("{} {}", f.path, f.message))
            .collect(),
        other => panic!("{other:?}"),
    }
}

fn budget() -> ContextFields {
    declared(
        "data:
  expenses: { type: array, required: true, items: { type: object, properties: { amount: { type: number, required: true } } } }
  date_range: { type: object, properties: { start: { type: date }, end: { type: date } } }
config:
  chart_type: { type: string, enum: [bar, line, pie], default: bar }
  look: { type: object, properties: { theme: { type: string, default: auto }, size: number } }
  top: { type: number, enum: [5, 10] }",
    )
}

#[test]
fn defaults_are_filled_in_at_every_depth() {
    let context = with(&budget(), json!({"expenses": []}), json!({})).unwrap();
    assert_eq!(Value::Object(context.data), json!({"expenses": []}));
    assert_eq!(
        Value::Object(context.config),
        json!({"chart_type": "bar", "look": {"theme": "auto"}})
    );
    let given = json!({"chart_type": null, "look": {"size": 3}, "top": 5.0});
    let context = with(&budget(), json!({"expenses": []}), given).unwrap();
    assert_eq!(
        Value::Object(context.config),
        json!({"look": {"size": 3, "theme": "auto"}, "top": 5.0, "chart_type": "bar"})
    );
}

#[test]
fn everything_that_does_not_fit_is_listed_at_once_with_its_path() {
    let data = json!({"date_range": {"start": "01/02/2026", "end": 7}});
    let config = json!({"chart_type": "donut", "top": 7, "look": "dark"});
    assert_eq!(
        faults(&budget(), data, config),
        [
            "data.date_range.end must be a date (2026-11-15, or 2026-11-15T08:00:00Z), not 7",
            "data.date_range.start must be a date (2026-11-15, or 2026-11-15T08:00:00Z), not \"01/02/2026\"",
            "data.expenses is required: an array",
            "config.chart_type must be one of \"bar\", \"line\", \"pie\", not \"donut\"",
            "config.look must be an object, not \"dark\"",
            "config.top must be one of 5, 10, not 7",
        ]
    );
    assert_eq!(
        faults(
            &budget(),
            json!({"expenses": [{"amount": 1}, {}, 3, {"amount": "4"}]}),
            json!({})
        ),
        [
            "data.expenses[1].amount is required: a number",
            "data.expenses[2] must be an object, not 3",
            "data.expenses[3].amount must be a number, not \"4\"",
        ]
    );
}

#[test]
fn dates_are_days_or_moments() {
    let fields = declared("data:\n  at: date");
    for good in [
        "2026-11-15",
        "2024-02-29",
        "2026-11-15T08:00:00Z",
        "2026-11-15T08:00:00.5+02:00",
    ] {
        assert!(
            with(&fields, json!({"at": good}), json!({})).is_ok(),
            "{good}"
        );
    }
    for bad in [
        "",
        "2026-02-29",
        "2026-13-01",
        "20261115",
        "2026-11-15T08",
        "2026-11-15T08:00:00",
        "tomorrow",
        "2026-11-15T25:00:00Z",
        "ä026-11-1",
    ] {
        assert!(
            with(&fields, json!({"at": bad}), json!({})).is_err(),
            "{bad}"
        );
    }
}

#[test]
fn what_is_not_declared_passes_with_a_warning_if_anything_is_declared() {
    let context = with(
        &budget(),
        json!({"expenses": [], "a.b": 1}),
        json!({"x": {"y": 2}}),
    )
    .unwrap();
    assert_eq!(context.data["a.b"], 1);
    assert_eq!(
        context.warnings,
        [
            "data[\"a.b\"] is not declared by the app",
            "config.x is not declared by the app"
        ]
    );
    let free = with(&ContextFields::default(), json!({"x": 1}), json!({})).unwrap();
    assert!(free.warnings.is_empty());
}

#[test]
fn a_context_of_more_than_a_megabyte_is_refused() {
    let fits = "x".repeat(LARGEST - json!({"a": ""}).to_string().len() - 2);
    let fields = ContextFields::default();
    assert!(with(&fields, json!({"a": fits}), json!({})).is_ok());
    let over = format!("{fits}x");
    let refused = with(&fields, json!({"a": over}), json!({})).unwrap_err();
    assert_eq!(refused, ContextError::TooLarge { bytes: LARGEST + 1 });
    // Bytes count, not characters.
    assert!(with(&fields, json!({"a": "ä".repeat(LARGEST / 2)}), json!({})).is_err());
}

#[test]
fn a_list_of_choices_is_checked_wherever_its_field_is_given() {
    let fields = declared("- difficulty: easy | hard");
    assert!(with(&fields, json!({"difficulty": "easy"}), json!({})).is_ok());
    assert!(with(&fields, json!({}), json!({"difficulty": "hard"})).is_ok());
    assert!(
        with(&fields, json!({}), json!({}))
            .unwrap()
            .config
            .is_empty()
    );
    assert_eq!(
        faults(&fields, json!({"difficulty": "odd"}), json!({})),
        ["data.difficulty must be one of \"easy\", \"hard\", not \"odd\""]
    );
}

#[test]
fn as_many_faults_as_anyone_reads_are_listed() {
    let fields = declared("data:\n  all: { type: array, items: { type: number } }");
    let all = vec!["x"; 1000];
    assert_eq!(faults(&fields, json!({"all": all}), json!({})).len(), 100);
}
