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

fn checked(text: &str) -> Result<(), String> {
    Config::parse(text)
        .unwrap()
        .check()
        .map_err(|error| error.to_string())
}

#[test]
fn what_travels_over_mcp_is_logged_only_on_request() {
    let filter = |level: &str| {
        let mut config = Config::default();
        config.log.level = level.to_owned();
        config.log_filter().unwrap().to_string()
    };
    for level in ["info", "trace", "info,gangway_core=debug"] {
        assert!(filter(level).contains("rmcp=off"), "{level}");
    }
    assert!(!filter("info,rmcp=debug").contains("off"));
}

#[test]
fn settings_that_make_no_sense_are_refused_by_name() {
    for (key, text) in [
        ("listen", "listen: nowhere"),
        ("listen", "listen: 127.0.0.1"),
        ("log.level", "log: {level: loud}"),
        ("log.level", "log: {level: 'gangway=loud'}"),
        ("default_agent", "default_agent: nobody"),
        ("hosts", "hosts: ['https://chat.example']"),
        ("hosts", "hosts: ['chat.example:3000']"),
        ("hosts", "hosts: ['']"),
        ("allowed_origins", "allowed_origins: [tools.example]"),
        (
            "allowed_origins",
            "allowed_origins: ['https://tools.example/path']",
        ),
        (
            "allowed_origins",
            "allowed_origins: ['https://tools.example:port']",
        ),
        ("allowed_origins", "allowed_origins: ['*']"),
        ("sessions.idle_seconds", "sessions: {idle_seconds: 2592001}"),
        ("sessions.queued_prompts", "sessions: {queued_prompts: 0}"),
        ("tools.at_once", "tools: {at_once: 0}"),
        ("models.default", "models: {default: nobody/x}"),
        ("models.retries", "models: {retries: 11}"),
        ("providers", "providers: {ollama: {type: openai}}"),
        (
            "providers.*.key",
            "providers: {x: {type: openai, key: sk-abc}}",
        ),
        ("limits.body_bytes", "limits: {body_bytes: 0}"),
        ("limits.header_bytes", "limits: {header_bytes: 65537}"),
        ("limits.frame_bytes", "limits: {frame_bytes: 0}"),
        ("limits.connections", "limits: {connections: 1000001}"),
        (
            "limits.requests_per_second",
            "limits: {requests_per_second: 0}",
        ),
        ("limits.request_burst", "limits: {request_burst: 0}"),
        ("limits.heartbeat_seconds", "limits: {heartbeat_seconds: 0}"),
        ("limits.stalled_seconds", "limits: {stalled_seconds: 3601}"),
        ("relay.answer_seconds", "relay: {answer_seconds: 0}"),
        ("relay.message_bytes", "relay: {message_bytes: 1}"),
        (
            "models.embedded.parallel",
            "models: {embedded: {parallel: 33}}",
        ),
    ] {
        let error = checked(text).expect_err(text);
        assert!(
            error.starts_with(key) && error.contains("must be"),
            "{error}"
        );
    }
}

#[test]
fn an_invalid_mcp_server_is_reported_by_name() {
    for (text, message) in [
        ("mcp_servers: {A: {command: x}}", "\"A\" is not a server id"),
        (
            "mcp_servers: {files: {args: [x]}}",
            "files must have either",
        ),
        ("mcp_servers: {files: {url: 'ftp://x'}}", "the URL of files"),
    ] {
        let error = checked(text).expect_err(text);
        assert!(
            error.starts_with("mcp_servers: ") && error.contains(message),
            "{error}"
        );
    }
}

#[test]
fn settings_that_make_sense_pass() {
    for text in [
        "listen: localhost:0",
        "listen: '[::1]:3000'",
        "log: {level: 'warn,gangway_core=trace'}",
        "log: {level: OFF}",
        "models: {embedded: {parallel: 32}}",
        "default_agent: tester\nagents: {tester: {script: t.yaml}}",
        "hosts: [chat.example, 10.0.0.7, '[fd00::1]', my_box]",
        "allowed_origins: ['https://tools.example', 'http://localhost:5173/', 'chrome-extension://abc', 'http://[::1]:80']",
    ] {
        assert_eq!(checked(text), Ok(()), "{text}");
    }
}

#[test]
fn the_catalog_comes_from_a_registry_or_from_nowhere() {
    let config = |yaml: &str| Config::parse(yaml).unwrap();
    for (yaml, wanted) in [
        ("{}", Some(gangway_tools::PUBLIC_CATALOG)),
        ("tools: { catalog_url: 'off' }", None),
        ("tools: { catalog_url: '' }", None),
        (
            "tools: { catalog_url: 'http://127.0.0.1:1/x' }",
            Some("http://127.0.0.1:1/x"),
        ),
    ] {
        let config = config(yaml);
        config.check().unwrap();
        assert_eq!(config.tools.catalog(), wanted);
    }
    for (yaml, name) in [
        ("tools: { catalog_url: 'ftp://x' }", "tools.catalog_url"),
        ("tools: { programs: ['bin'] }", "tools.programs"),
        ("tools: { install_seconds: 0 }", "tools.install_seconds"),
    ] {
        let error = config(yaml).check().unwrap_err().to_string();
        assert!(error.contains(name), "{error}");
    }
}
