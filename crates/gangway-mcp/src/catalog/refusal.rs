//! Why a way to install is refused.

use super::{
    listed::{Argument, shown},
    names,
    template::is_safe,
};
use crate::package::{Ecosystem, Package};

/// The reason, in words.
pub(super) type Refusal = String;

/// Of kinds of packages that are none of ours.
pub(super) fn not_installed(kind: &str) -> Refusal {
    match kind {
        "oci" => "it comes as a container, which Gangway does not run; run it yourself and add it by its URL or command".into(),
        "mcpb" => "it comes as a bundle for desktop programs, which Gangway does not open".into(),
        "nuget" => "it comes as a .NET package, which Gangway does not install".into(),
        other => format!("packages of {:?} are not known here", shown(other, 40)),
    }
}

/// What is said to npx and uvx themselves is not passed on: it could make them do anything. What they are told anyway
/// is understood, and the name of a program.
pub(super) fn runtime_command(
    arguments: &[Argument],
    package: &Package,
) -> Result<Option<String>, Refusal> {
    let mut words = arguments.iter().flat_map(|argument| {
        let name = argument
            .name
            .as_deref()
            .filter(|_| argument.kind == "named");
        name.into_iter().chain(argument.input.value.as_deref())
    });
    let mut command = None;
    while let Some(word) = words.next() {
        match (word, package.ecosystem()) {
            ("-y" | "--yes", Ecosystem::Npm) => {}
            ("--from", Ecosystem::Pypi) => {
                let from = words.next().unwrap_or_default();
                let bare = from.split(['=', '@']).next().unwrap_or_default();
                let program = words
                    .next()
                    .filter(|word| names::is_flag(word) && !word.starts_with('-'));
                let (true, Some(program)) = (bare == package.name(), program) else {
                    return Err("it wants to be run from another package".into());
                };
                command = Some(program.to_owned());
            }
            (word, _) => {
                return Err(format!(
                    "it wants {:?} to be said to what installs it, which Gangway does not do",
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
            "it holds a text that is too long, names a secret or has control characters in it"
                .into(),
        ),
    }
}
