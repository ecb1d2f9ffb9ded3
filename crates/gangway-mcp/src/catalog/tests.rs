//! Offers from valid and from hostile entries.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::*;
use crate::UrlPolicy;

fn offers(packages: Value, remotes: Value) -> Vec<InstallOption> {
    let entry = json!({ "name": "a/b", "version": "1", "packages": packages, "remotes": remotes });
    match RegistryServer::read(&entry) {
        ParsedServer::Server(listed) => listed.offers(UrlPolicy::PublicOnly),
        other => panic!("{other:?}"),
    }
}

fn package(change: Value) -> InstallOption {
    let mut package = json!({ "registryType": "npm", "identifier": "@s/pkg", "version": "1.2.3" });
    for (name, value) in change.as_object().unwrap() {
        package[name] = value.clone();
    }
    offers(json!([package]), json!([])).remove(0)
}

fn given(pairs: &[(&str, &str)]) -> BTreeMap<String, String> {
    let pairs = pairs.iter();
    pairs
        .map(|(k, v)| ((*k).to_owned(), (*v).to_owned()))
        .collect()
}

fn named(name: &str) -> String {
    format!("mcp-x-{name}")
}

#[test]
fn a_package_becomes_a_command_with_its_inputs() {
    let offer = package(json!({
        "runtimeArguments": [{ "type": "positional", "value": "-y" }],
        "packageArguments": [
            { "type": "positional", "value": "serve" },
            { "type": "named", "name": "--root", "valueHint": "folder", "isRequired": true },
            { "type": "named", "name": "--region", "value": "eu-{zone}", "variables": { "zone": { "default": "1" } } },
            { "type": "named", "name": "--verbose", "format": "boolean" },
            { "type": "named", "name": "--token", "isSecret": true },
        ],
        "environmentVariables": [
            { "name": "API_KEY", "isRequired": true, "isSecret": true, "description": "Its key" },
            { "name": "LEVEL", "default": "low", "choices": ["low", "high"] },
            { "name": "AUTH", "value": "Bearer {API_KEY}", "variables": { "API_KEY": { "isSecret": true } } },
            { "name": "FIXED", "value": "{\"json\": 1}" },
            { "name": "UNSET" },
        ],
    }));
    assert_eq!(offer.refusal, None);
    assert_eq!(offer.key, "npm:@s/pkg@1.2.3");
    assert_eq!(
        offer.label,
        "npx -y @s/pkg@1.2.3 serve --root <root> --region eu-<zone> --verbose --token <token>"
    );
    let inputs: Vec<_> = offer
        .inputs
        .iter()
        .map(|i| (i.name.as_str(), i.required, i.secret))
        .collect();
    assert_eq!(
        inputs,
        [
            ("root", true, false),
            ("zone", false, false),
            ("verbose", false, false),
            ("token", false, true),
            ("API_KEY", true, true),
            ("LEVEL", false, false),
            ("UNSET", false, false)
        ]
    );
    let missing = offer.fill(&given(&[]), named).unwrap_err();
    assert_eq!(
        missing,
        BadInput::Missing(vec!["root".into(), "API_KEY".into()])
    );
    let inputs = given(&[("root", "/x y"), ("API_KEY", "s3cret"), ("verbose", "true")]);
    let filled = offer.fill(&inputs, named).unwrap();
    assert_eq!(
        filled.args,
        ["serve", "--root", "/x y", "--region", "eu-1", "--verbose"]
    );
    assert_eq!(
        filled.env,
        given(&[
            ("API_KEY", "${secret:mcp-x-API_KEY}"),
            ("LEVEL", "low"),
            ("AUTH", "Bearer ${secret:mcp-x-API_KEY}"),
            ("FIXED", "{\"json\": 1}"),
        ])
    );
    assert_eq!(filled.secrets, given(&[("API_KEY", "s3cret")]));
    assert!(!format!("{filled:?}").contains("s3cret"));
    for (wrong, message) in [
        (("none", "x"), "unknown input"),
        (("LEVEL", "middle"), "one of low, high"),
        (("root", "a\nb"), "control"),
        (("root", "${secret:OPENAI_API_KEY}"), "secret"),
    ] {
        let mut inputs = inputs.clone();
        inputs.insert(wrong.0.into(), wrong.1.into());
        let error = offer.fill(&inputs, named).unwrap_err().to_string();
        assert!(error.contains(message), "{error}");
    }
}

#[test]
fn a_python_package_may_name_its_program_and_nothing_else() {
    let from = |from: &str, program: &str| {
        package(json!({
            "registryType": "pypi", "identifier": "my-server", "version": "1.0",
            "runtimeArguments": [{ "type": "named", "name": "--from", "value": from }, { "type": "positional", "value": program }],
        }))
    };
    let offer = from("my-server==1.0", "serve");
    assert_eq!(offer.refusal, None);
    assert_eq!(offer.label, "uvx my-server@1.0");
    let filled = offer.fill(&BTreeMap::new(), named).unwrap();
    assert_eq!(filled.command.as_deref(), Some("serve"));
    for (package, program) in [
        ("other", "serve"),
        ("my-server", "--index-url"),
        ("git+https://x", "serve"),
    ] {
        assert!(from(package, program).refusal.is_some(), "{package}");
    }
}

#[test]
fn a_remote_server_becomes_a_url_with_headers() {
    let remotes = json!([
        { "type": "streamable-http", "url": "https://{tenant}.example.com/mcp", "headers": [
            { "name": "Authorization", "value": "Bearer {token}", "isRequired": true, "isSecret": true, "variables": { "token": {} } },
            { "name": "X-Optional" },
        ] },
        { "type": "sse", "url": "https://example.com/sse" },
        { "type": "sse", "url": "https://example.com/sse" },
    ]);
    let all = offers(json!([]), remotes);
    assert_eq!(all[0].refusal, None);
    let inputs: Vec<_> = all[0]
        .inputs
        .iter()
        .map(|i| (i.name.as_str(), i.place, i.required, i.secret))
        .collect();
    assert_eq!(
        inputs,
        [
            ("tenant", InputLocation::Url, true, false),
            ("token", InputLocation::Header, true, true),
            ("X-Optional", InputLocation::Header, false, false)
        ]
    );
    let filled = all[0]
        .fill(&given(&[("tenant", "me"), ("token", "t0p")]), named)
        .unwrap();
    assert_eq!(filled.url.as_deref(), Some("https://me.example.com/mcp"));
    assert_eq!(
        filled.headers,
        given(&[("Authorization", "Bearer ${secret:mcp-x-token}")])
    );
    assert_eq!(all[2].key, "remote:https://example.com/sse#2");
}

#[test]
fn what_gangway_does_not_install_says_why() {
    for (kind, message) in [
        ("oci", "container"),
        ("mcpb", "bundle"),
        ("nuget", ".NET"),
        ("cargo", "unknown package type"),
    ] {
        let offer = package(json!({ "registryType": kind, "identifier": "docker.io/x/y:1" }));
        assert_eq!(offer.kind, InstallOptionKind::Other);
        assert!(offer.refusal.unwrap().contains(message), "{kind}");
    }
}

#[test]
fn hostile_entries_are_refused() {
    let variable = |name: &str, value: &str| json!({ "environmentVariables": [{ "name": name, "value": value }] });
    let argument = |value: Value| json!({ "packageArguments": [value] });
    for change in [
        json!({ "identifier": "--prefix=/etc" }),
        json!({ "identifier": "../../x" }),
        json!({ "identifier": "git+ssh://x/y" }),
        json!({ "version": "1.2.3 --foo" }),
        json!({ "version": "file:../x" }),
        json!({ "registryBaseUrl": "https://npm.evil.example" }),
        json!({ "transport": { "type": "streamable-http", "url": "http://localhost:1" } }),
        json!({ "runtimeArguments": [{ "type": "named", "name": "--node-options", "value": "--require=/tmp/x" }] }),
        json!({ "runtimeArguments": [{ "type": "positional", "value": "--package=evil" }] }),
        variable("LD_PRELOAD", "/tmp/x.so"),
        variable("NODE_OPTIONS", "--require /tmp/x"),
        variable("PATH", "/tmp"),
        variable("npm_config_registry", "http://x"),
        variable("A B", "x"),
        variable("STOLEN", "${secret:OPENAI_API_KEY}"),
        variable("LINES", "a\nb"),
        variable("LONG", &"x".repeat(20_000)),
        argument(json!({ "type": "positional", "value": "${secret:OPENAI_API_KEY}" })),
        argument(json!({ "type": "named", "name": "--a b" })),
        argument(json!({ "type": "named" })),
        argument(json!({ "type": "positional", "default": "a\u{0}b" })),
        argument(json!({ "type": "positional", "choices": ["${secret:X}"] })),
    ] {
        let offer = package(change.clone());
        assert!(offer.refusal.is_some(), "{change}");
        assert!(offer.inputs.is_empty(), "{change}");
    }
    for remote in [
        json!({ "type": "stdio", "url": "https://example.com" }),
        json!({ "type": "sse", "url": "file:///etc/passwd" }),
        json!({ "type": "sse", "url": "http://127.0.0.1:9/" }),
        json!({ "type": "sse", "url": "http://169.254.169.254/" }),
        json!({ "type": "sse", "url": "https://a:b@example.com/" }),
        json!({ "type": "sse", "url": "https://example.com/${secret:OPENAI_API_KEY}" }),
        json!({ "type": "sse", "url": "https://example.com/", "headers": [{ "name": "Host", "value": "x" }] }),
        json!({ "type": "sse", "url": "https://example.com/", "headers": [{ "name": "A", "value": "${secret:K}" }] }),
    ] {
        let offer = offers(json!([]), json!([remote])).remove(0);
        assert!(offer.refusal.is_some(), "{remote}");
    }
}

#[test]
fn harmless_pieces_do_not_make_a_reference_to_a_secret_together() {
    for value in ["${{x}secret:OPENAI_API_KEY}", "${secret{x}:OPENAI_API_KEY}"] {
        let offer = package(json!({
            "environmentVariables": [{ "name": "A", "value": value, "variables": { "x": {}, "y": { "isSecret": true } } }],
        }));
        assert_eq!(offer.refusal, None);
        for inputs in [given(&[("x", "")]), given(&[("x", "sec")])] {
            let filled = offer.fill(&inputs, named);
            let leaks = filled.is_ok_and(|filled| {
                filled
                    .env
                    .values()
                    .any(|v| v.contains("${secret:OPENAI_API_KEY}"))
            });
            assert!(!leaks, "{value}");
        }
    }
    let hidden = package(json!({
        "environmentVariables": [{ "name": "A", "value": "${{y}secret:OPENAI_API_KEY}{x}", "variables": { "x": {}, "y": {} } }],
    }));
    assert!(hidden.fill(&given(&[("x", "1")]), named).is_err());
}

#[test]
fn a_variable_that_is_refused_but_not_needed_is_left_out() {
    let offer =
        package(json!({ "environmentVariables": [{ "name": "HTTPS_PROXY" }, { "name": "KEY" }] }));
    let names: Vec<_> = offer.inputs.iter().map(|i| i.name.as_str()).collect();
    assert_eq!((offer.refusal, names), (None, vec!["KEY"]));
}

#[test]
fn the_built_in_servers_can_all_be_installed() {
    let servers = seed();
    assert_eq!(servers.len(), 7);
    for server in servers {
        let offers = server.offers(UrlPolicy::PublicOnly);
        assert_eq!((offers.len(), &offers[0].refusal), (1, &None), "{server:?}");
    }
}
