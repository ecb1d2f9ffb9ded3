//! `gangway mcp install`: prompts for missing inputs, starts the installation and shows its progress.

use std::{
    collections::BTreeMap,
    io::{IsTerminal, Read, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::Args;
use gangway_tools::catalog::wire::{
    CatalogInput, CatalogOption, CatalogServer, Install, InstallServer, InstallState, PackageKind,
    PackageName, StepState,
};
use indicatif::{ProgressBar, ProgressDrawTarget};

use gangway_client::ServerClient;

use super::{CommandServer, Common, LOOK, ask as ask_server, pairs, say, search};

/// Lines of output shown when an installation fails.
const LAST_LINES: usize = 15;

/// More than any secret needs; bounds endless input.
const SECRET_BYTES: u64 = 60 << 10;

#[derive(Args)]
pub(super) struct InstallArgs {
    /// A name from the catalog, npm:PACKAGE[@VERSION] or pypi:PACKAGE[@VERSION]
    name: String,
    /// An id for the server [default: derived from its name]
    #[arg(long)]
    id: Option<String>,
    /// The installation method, if there are several [default: the first one available]
    #[arg(long, value_name = "KEY")]
    option: Option<String>,
    /// An input, or an environment variable of a package
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// A secret input or environment variable, read from a file; `-` reads from stdin
    #[arg(long, value_name = "NAME=FILE")]
    secret: Vec<String>,
    /// Run install scripts of npm packages, which are skipped by default
    #[arg(long)]
    allow_scripts: bool,
    /// Additional arguments for the server
    #[arg(last = true)]
    args: Vec<String>,
    #[command(flatten)]
    common: Common,
}

pub(super) async fn run(args: InstallArgs) -> anyhow::Result<()> {
    let common = args.common.clone();
    let install = async |server: &CommandServer| install(server, args).await;
    let install = ask_server(&common, install).await?;
    say!("Installed {}", install.id);
    say!("List its tools: gangway mcp tools");
    Ok(())
}

async fn install(server: &CommandServer, args: InstallArgs) -> anyhow::Result<Install> {
    let plain = pairs(&args.set)?;
    let mut secrets = BTreeMap::new();
    for (name, file) in pairs(&args.secret)? {
        secrets.insert(name, read_secret(Path::new(&file))?);
    }
    let request = match package(&args.name) {
        Some(package) => InstallServer {
            id: args.id.unwrap_or_else(|| id_of(&package.name)),
            package: Some(package),
            args: args.args,
            env: plain,
            secrets,
            allow_scripts: args.allow_scripts,
            ..InstallServer::default()
        },
        None => {
            let found = find(server, &args.name).await?;
            let option = choose(&found, args.option.as_deref())?;
            InstallServer {
                id: args.id.unwrap_or_else(|| id_of(&found.name)),
                inputs: inputs(option, plain, secrets)?,
                option: Some(option.key.clone()),
                server: Some(found.name.clone()),
                args: args.args,
                allow_scripts: args.allow_scripts,
                ..InstallServer::default()
            }
        }
    };
    let begun = server.post("/api/mcp/installs", &request).await?;
    follow(server, begun).await
}

/// Parses `npm:NAME@VERSION` and `pypi:NAME@VERSION`.
fn package(text: &str) -> Option<PackageName> {
    let (kind, rest) = match text.split_once(':')? {
        ("npm", rest) => (PackageKind::Npm, rest),
        ("pypi", rest) => (PackageKind::Pypi, rest.trim()),
        _ => return None,
    };
    let rest = rest.replace("==", "@");
    // An `@` at the beginning belongs to the package name (a scope).
    let at = rest.rfind('@').filter(|at| *at > 0);
    let (name, version) = match at {
        Some(at) => (rest[..at].to_owned(), Some(rest[at + 1..].to_owned())),
        None => (rest, None),
    };
    Some(PackageName {
        kind,
        name,
        version,
    })
}

/// A server id derived from the distinctive part of the package name.
fn id_of(name: &str) -> String {
    let last = name.rsplit('/').next().unwrap_or_default().to_lowercase();
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_.".contains(c);
    let id: String = last.chars().filter(|c| fits(*c)).take(64).collect();
    let short = ["mcp-server-", "server-", "mcp-"]
        .iter()
        .find_map(|start| id.strip_prefix(start));
    let short = short.unwrap_or(&id);
    let short = ["-mcp-server", "-mcp", "-server"]
        .iter()
        .find_map(|end| short.strip_suffix(end))
        .unwrap_or(short);
    match short.is_empty() {
        true => id.clone(),
        false => short.to_owned(),
    }
}

async fn find(server: &CommandServer, name: &str) -> anyhow::Result<CatalogServer> {
    let page = search::find(server, name, 100).await?;
    let mut found = page.servers;
    if let Some(at) = found.iter().position(|server| server.name == name) {
        return Ok(found.swap_remove(at));
    }
    let is_last = |server: &&CatalogServer| server.name.rsplit('/').next() == Some(name);
    let alike: Vec<_> = found
        .iter()
        .filter(is_last)
        .map(|s| s.name.clone())
        .collect();
    if let [only] = alike.as_slice()
        && let Some(at) = found.iter().position(|server| server.name == *only)
    {
        return Ok(found.swap_remove(at));
    }
    let names: Vec<_> = found.iter().take(5).map(|s| s.name.as_str()).collect();
    match names.is_empty() {
        true => {
            anyhow::bail!("no server {name:?} in the catalog; search for it: gangway mcp search")
        }
        false => anyhow::bail!(
            "no server {name:?} in the catalog; did you mean {}?",
            names.join(", ")
        ),
    }
}

fn choose<'a>(server: &'a CatalogServer, key: Option<&str>) -> anyhow::Result<&'a CatalogOption> {
    let mut options = server.options.iter();
    let found = match key {
        Some(key) => options.find(|option| option.key == key),
        None => options.find(|option| option.available),
    };
    let keys = server.options.iter().map(|option| match &option.problem {
        Some(problem) => format!("\n  {}: {problem}", option.key),
        None => format!("\n  {}", option.key),
    });
    found.with_context(|| {
        let (name, keys) = (&server.name, keys.collect::<String>());
        format!("{name} has no such installation method; available:{keys}")
    })
}

/// Inputs from flags, and prompts for the rest.
fn inputs(
    option: &CatalogOption,
    plain: BTreeMap<String, String>,
    secrets: BTreeMap<String, String>,
) -> anyhow::Result<BTreeMap<String, String>> {
    for input in option.inputs.iter().filter(|input| input.secret) {
        anyhow::ensure!(
            !plain.contains_key(&input.name),
            "{0} is a secret, which shell history and process lists would show; omit it and type it at the prompt, or read it from a file: --secret {0}=FILE",
            input.name
        );
    }
    let mut given = plain;
    given.extend(secrets);
    let is_missing = |input: &&CatalogInput| {
        input.required && input.default.is_none() && !given.contains_key(&input.name)
    };
    let missing: Vec<CatalogInput> = option.inputs.iter().filter(is_missing).cloned().collect();
    if missing.is_empty() {
        return Ok(given);
    }
    if !std::io::stdin().is_terminal() {
        let flags: Vec<_> = missing.iter().map(flag).collect();
        anyhow::bail!("missing inputs: {}", flags.join(" "));
    }
    for input in missing {
        let value = ask(&input)?;
        given.insert(input.name, value);
    }
    Ok(given)
}

fn flag(input: &CatalogInput) -> String {
    match input.secret {
        true => format!("--secret {}=FILE", input.name),
        false => format!("--set {}=VALUE", input.name),
    }
}

fn ask(input: &CatalogInput) -> anyhow::Result<String> {
    if let Some(description) = &input.description {
        crate::cli::say::complain!("{description}");
    }
    if input.secret {
        let name = gangway_core::text::for_terminal(&input.name);
        let prompt = format!("{name} (input is hidden): ");
        return Ok(rpassword::prompt_password(prompt)?);
    }
    let choices = input.choices.as_ref();
    let choices = choices.map_or(String::new(), |all| format!(" ({})", all.join(", ")));
    eprint!(
        "{}: ",
        gangway_core::text::for_terminal(&format!("{}{choices}", input.name))
    );
    std::io::stderr().flush()?;
    let mut line = String::new();
    std::io::stdin().read_line(&mut line)?;
    Ok(line.trim().to_owned())
}

fn read_secret(file: &Path) -> anyhow::Result<String> {
    let mut text = String::new();
    if file == Path::new("-") {
        std::io::stdin()
            .take(SECRET_BYTES)
            .read_to_string(&mut text)?;
    } else {
        let open = || format!("reading {}", PathBuf::from(file).display());
        let opened = std::fs::File::open(file).with_context(open)?;
        opened
            .take(SECRET_BYTES)
            .read_to_string(&mut text)
            .with_context(open)?;
    }
    Ok(text.trim().to_owned())
}

/// Shows progress until the end; Ctrl-C cancels the installation.
async fn follow(server: &ServerClient, begun: Install) -> anyhow::Result<Install> {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(5));
    let path = format!("/api/mcp/installs/{}", begun.install);
    let (mut message, mut now) = (0, begun);
    let mut interrupted = false;
    loop {
        for step in now.steps.iter().skip(message) {
            if step.state != StepState::Done {
                break;
            }
            let detail = step.detail.as_deref().unwrap_or_default();
            bar.suspend(|| crate::cli::say::complain!("{:?}: {detail}", step.name));
            message += 1;
        }
        match now.state {
            InstallState::Fetching | InstallState::Starting => {}
            InstallState::Done => {
                bar.finish_and_clear();
                return Ok(now);
            }
            InstallState::Cancelled => {
                bar.finish_and_clear();
                anyhow::bail!("the installation of {} was cancelled and undone", now.id);
            }
            InstallState::Failed => {
                bar.finish_and_clear();
                let from = now.lines.len().saturating_sub(LAST_LINES);
                for line in &now.lines[from..] {
                    crate::cli::say::complain!("  {line}");
                }
                anyhow::bail!(
                    "installing {} failed: {}",
                    now.id,
                    now.problem.unwrap_or_default()
                );
            }
        }
        let last = now.lines.last().cloned().unwrap_or_default();
        bar.set_message(last.chars().take(100).collect::<String>());
        bar.tick();
        tokio::select! {
            () = tokio::time::sleep(LOOK) => {}
            _ = tokio::signal::ctrl_c(), if !interrupted => {
                interrupted = true;
                server.delete(&path).await?;
            }
        }
        now = server.get(&path).await?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_distinguished_from_names() {
        let read = |text: &str| package(text).map(|p| (p.kind, p.name, p.version));
        let npm = |name: &str, version: Option<&str>| {
            Some((
                PackageKind::Npm,
                name.to_owned(),
                version.map(str::to_owned),
            ))
        };
        assert_eq!(read("npm:@s/p@1.2.3"), npm("@s/p", Some("1.2.3")));
        assert_eq!(read("npm:@s/p"), npm("@s/p", None));
        assert_eq!(read("npm:p@1.0.0"), npm("p", Some("1.0.0")));
        let pypi = Some((PackageKind::Pypi, "p".to_owned(), Some("1.0".to_owned())));
        assert_eq!(read("pypi:p==1.0"), pypi);
        assert_eq!(read("io.github.x/y"), None);
    }

    #[test]
    fn a_server_is_called_by_what_is_its_own() {
        for (name, id) in [
            ("@modelcontextprotocol/server-everything", "everything"),
            ("mcp-server-time", "time"),
            ("io.github.x/Weather-MCP", "weather"),
            ("io.x/mcp", "mcp"),
            ("io.x/server-", "server-"),
        ] {
            assert_eq!(id_of(name), id);
        }
    }
}
