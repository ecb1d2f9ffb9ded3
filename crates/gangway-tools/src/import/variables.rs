//! Variables in entries: `${env:X}`, `${X}`, `${X:-default}`, `{env:X}`, and the folder variables of hosts.

use crate::entry::ServerEntry;

use std::path::Path;

/// Expands the variables of an entry; the error names one without a value.
pub(super) fn filled(
    mut entry: ServerEntry,
    folder: &Path,
    env: impl Fn(&str) -> Option<String>,
) -> Result<ServerEntry, String> {
    let fill = |text: &mut String| -> Result<(), String> {
        *text = expand(text, folder, &env)?;
        Ok(())
    };
    entry.command.iter_mut().try_for_each(fill)?;
    entry.url.iter_mut().try_for_each(fill)?;
    entry.args.iter_mut().try_for_each(fill)?;
    entry.env.values_mut().try_for_each(fill)?;
    entry.headers.values_mut().try_for_each(fill)?;
    if let Some(cwd) = &entry.cwd {
        let cwd = expand(&cwd.to_string_lossy(), folder, &env)?;
        entry.cwd = Some(folder.join(cwd));
    }
    Ok(entry)
}

fn expand(
    text: &str,
    folder: &Path,
    env: &impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    let mut out = String::new();
    let mut rest = text;
    loop {
        let (start, open) = match (rest.find("${"), rest.find("{env:")) {
            (Some(a), Some(b)) if b < a => (b, 1),
            (Some(a), _) => (a, 2),
            (None, Some(b)) => (b, 1),
            (None, None) => return Ok(out + rest),
        };
        let Some(length) = rest[start..].find('}') else {
            return Ok(out + rest);
        };
        let name = &rest[start + open..start + length];
        out += &rest[..start];
        out += &value(name, folder, env)?;
        rest = &rest[start + length + 1..];
    }
}

fn value(
    name: &str,
    folder: &Path,
    env: &impl Fn(&str) -> Option<String>,
) -> Result<String, String> {
    if name.starts_with("secret:") {
        return Ok(format!("${{{name}}}"));
    }
    if name.starts_with("input:") {
        return Err(format!(
            "it prompts for ${{{name}}}; write the value into the file"
        ));
    }
    let name = name.strip_prefix("env:").unwrap_or(name);
    let (name, default) = match name.split_once(":-") {
        Some((name, default)) => (name, Some(default)),
        None => (name, None),
    };
    let known = match name {
        "userHome" => env("HOME").or_else(|| env("USERPROFILE")),
        "workspaceFolder" => Some(project(folder).to_string_lossy().into_owned()),
        "pathSeparator" | "/" => Some(std::path::MAIN_SEPARATOR.to_string()),
        _ => env(name),
    };
    let known = known.filter(|value| !value.is_empty() || default.is_none());
    let known = known.or_else(|| default.map(str::to_owned));
    known.ok_or_else(|| format!("the environment variable {name} is not set"))
}

/// The project folder that a config folder belongs to.
fn project(folder: &Path) -> &Path {
    let hidden = folder
        .file_name()
        .is_some_and(|name| name.to_string_lossy().starts_with('.'));
    match folder.parent() {
        Some(parent) if hidden => parent,
        _ => folder,
    }
}
