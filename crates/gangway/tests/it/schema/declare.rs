//! How a wire type is written in TypeScript.

use std::fmt::Write;

use gangway_applets::wire::channel;
use gangway_bridge::{Problem, ServerOrigin, wire as bridge};
use gangway_http::feed::frame::EventBody;
use gangway_relay::{
    Code, Envelope, ErrorPayload, FromAgent, FromHost, Joined, Presence, Role, VERSION,
    wire::JoinPayload,
};
use gangway_webagent::SiteServerMessage;
use ts_rs::{Config, TS};

/// JSON has one kind of number.
fn config() -> Config {
    Config::default().with_large_int("number")
}

pub fn declare<T: TS>(text: &mut String) {
    let docs = T::docs().unwrap_or_default();
    let declared = T::decl(&config());
    // What is flattened into a frame has a name of its own.
    let declared = match T::ident(&config()).as_str() {
        "EventFrame" => named::<EventBody>(&declared),
        "Numbered" => named::<SiteServerMessage>(&declared),
        _ => declared,
    };
    write!(text, "\n{docs}export {declared}\n").unwrap();
}

fn named<T: TS>(declared: &str) -> String {
    let inline = format!("({})", T::inline(&config()));
    assert!(declared.contains(&inline), "{declared}");
    declared.replace(&inline, &T::ident(&config()))
}

/// Messages of the relay are read by their names, which the types repeat for TypeScript.
fn declare_names<T: TS>(text: &mut String, known: fn(&str) -> bool) {
    let declared = T::decl(&config());
    let names: Vec<_> = declared.split('"').skip(1).step_by(2).collect();
    assert!(!names.is_empty() && names.iter().all(|name| known(name)));
    declare::<T>(text);
}

/// The messages of the relay, the bridge and the applets' channel.
pub fn declare_messages(text: &mut String) {
    text.push_str("\n/** The version of the external agent protocol. */\n");
    writeln!(text, "export type RelayVersion = {VERSION:?};").unwrap();
    declare::<Role>(text);
    declare::<Code>(text);
    declare_names::<FromAgent>(text, |name| FromAgent::named(name).is_some());
    declare_names::<FromHost>(text, |name| FromHost::named(name).is_some());
    declare::<Envelope<'static, ()>>(text);
    declare::<ErrorPayload<'static>>(text);
    declare::<JoinPayload>(text);
    declare::<Joined>(text);
    declare::<Presence>(text);
    declare::<ServerOrigin>(text);
    declare::<Problem>(text);
    declare::<bridge::BridgeHello>(text);
    declare::<bridge::BridgeLimits>(text);
    declare::<bridge::ServerPresence>(text);
    declare::<bridge::BridgeStatus<'static>>(text);
    declare::<bridge::BridgeMessage<'static>>(text);
    declare::<channel::FileKind>(text);
    declare::<channel::FileEvent>(text);
    declare::<channel::SourceKind>(text);
}
