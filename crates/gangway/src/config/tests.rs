//! Tests of the settings.

use super::*;

#[test]
fn the_example_holds_every_setting_with_its_default() {
    assert_eq!(Config::parse(EXAMPLE).unwrap(), Config::default());
    let mut names = Vec::new();
    leaves(
        &serde_json::to_value(Config::default()).unwrap(),
        &mut names,
    );
    for name in names {
        assert!(
            EXAMPLE.contains(&format!("{name}:")),
            "{name} is missing from the example"
        );
    }
}

fn leaves(value: &Value, names: &mut Vec<String>) {
    for (key, value) in value.as_object().unwrap() {
        names.push(key.clone());
        if value.is_object() {
            leaves(value, names);
        }
    }
}

#[test]
fn an_unknown_key_is_an_error_with_its_line() {
    let error = Config::parse("listen: 127.0.0.1:1\nlimits:\n  bodybytes: 3\n").unwrap_err();
    assert!(
        error.contains("bodybytes") && error.contains("line 3"),
        "{error}"
    );
}

#[test]
fn every_setting_can_be_an_environment_variable() {
    let env = |name: &str| match name {
        "GANGWAY_LIMITS_BODY_BYTES" => Some("77".to_owned()),
        "GANGWAY_HOSTS" => Some("a.example, b.example".to_owned()),
        "GANGWAY_MODELS_DEFAULT" => Some("7".to_owned()),
        "GANGWAY_LOG_FORMAT" => Some("json".to_owned()),
        _ => None,
    };
    let config = Config::default().with_environment(env).unwrap();
    assert_eq!(config.limits.body_bytes, 77);
    assert_eq!(config.hosts, ["a.example", "b.example"]);
    assert_eq!(config.models.default.as_deref(), Some("7"));
    assert_eq!(config.log.format, LogFormat::Json);
}

#[test]
fn an_empty_variable_is_an_empty_list() {
    let env = |name: &str| (name == "GANGWAY_HOSTS").then(String::new);
    let hosts = vec!["chat.example".to_owned()];
    let config = Config {
        hosts,
        ..Config::default()
    };
    assert!(config.with_environment(env).unwrap().hosts.is_empty());
}

#[test]
fn a_variable_that_does_not_fit_is_named() {
    let env = |name: &str| (name == "GANGWAY_LIMITS_CONNECTIONS").then(|| "many".to_owned());
    let error = Config::default()
        .with_environment(env)
        .unwrap_err()
        .to_string();
    assert!(error.contains("GANGWAY_LIMITS_CONNECTIONS"), "{error}");
}
