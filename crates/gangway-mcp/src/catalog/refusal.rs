//! Why an offer is refused.

use super::{
    listed::{Argument, shown},
    names,
    template::is_safe,
};
use crate::package::{Ecosystem, Package};

pub(super) type Refusal = String;

/// For unsupported package types.
pub(super) fn not_installed(kind: &str) -> Refusal {
    match kind {
        "oci" => "it is a container, which Gangway does not run; run it yourself and add it by its URL or command".into(),
        "mcpb" => "it is a desktop bundle, which Gangway does not support".into(),
        "nuget" => "it is a .NET package, which Gangway does not install".into(),
        other => format!("unknown package type {:?}", shown(other, 40)),
    }
}

/// Arguments for npx and uvx themselves are not passed on: they could make them do anything. Only the usual ones and
/// the name of a program are accepted.
pub(super) fn runtime_command(
    arguments: &[Argument],
    package: &Package,
) -> Result<Option<String>, Refusal> {
    let mut message = arguments.iter().flat_map(|argument| {
        let name = argument
            .name
            .as_deref()
            .filter(|_| argument.kind == "named");
        name.into_iter().chain(argument.input.value.as_deref())
    });
    let mut command = None;
    while let Some(word) = message.next() {
        match (word, package.ecosystem()) {
            ("-y" | "--yes", Ecosystem::Npm) => {}
            ("--from", Ecosystem::Pypi) => {
                let from = message.next().unwrap_or_default();
                let bare = from.split(['=', '@']).next().unwrap_or_default();
                let program = message
                    .next()
                    .filter(|word| names::is_flag(word) && !word.starts_with('-'));
                let (true, Some(program)) = (bare == package.name(), program) else {
                    return Err("it runs from another package".into());
                };
                command = Some(program.to_owned());
            }
            (word, _) => {
                return Err(format!(
                    "it needs {:?} as an argument of the package manager, which Gangway does not pass",
                    shown(word, 60)
                ));
            }
        }
    }
    Ok(command)
}

pub(super) fn safe(text: &str) -> Result<(), Refusal> {
    match is_safe(text) {
        true => Ok(()),
        false => Err(
            "it has a text that is too long, contains control characters or refers to a secret"
                .into(),
        ),
    }
}
