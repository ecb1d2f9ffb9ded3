//! `gangway secrets`: keys of model providers, taken from standard input or a prompt and never shown again. Written by the
//! command itself, so that it works where wrong settings or a missing key keep the server from starting.

use std::{
    ffi::OsString,
    io::{IsTerminal, Read},
    path::PathBuf,
};

use clap::{Args, Subcommand};
use secrecy::SecretString;
use zeroize::Zeroizing;

use super::{Common, print_json, say::say};
use crate::{
    config::Config,
    secrets::{SecretName, Secrets, parse_value},
};

/// Keys of model providers.
#[derive(Args)]
pub struct SecretsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Keep a secret, read from standard input or a prompt
    Set {
        /// What it is called, for example OPENAI_API_KEY
        name: SecretName,
        #[arg(hide = true)]
        value: Vec<OsString>,
        #[command(flatten)]
        settings: Settings,
    },
    /// List the names of the secrets there are
    List {
        #[command(flatten)]
        settings: Settings,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Forget a secret
    Remove {
        /// What it is called
        name: SecretName,
        #[command(flatten)]
        settings: Settings,
    },
}

#[derive(Args)]
struct Settings {
    #[command(flatten)]
    common: Common,
    /// The config file, which says where secrets are kept [default: config.yaml in the data folder]
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

impl Settings {
    fn secrets(&self) -> anyhow::Result<Secrets> {
        let data = self.common.data()?;
        let usual = data.join("config.yaml");
        let file = self.config.clone();
        let file = file.or_else(|| usual.exists().then_some(usual));
        let config = file.map_or_else(|| Ok(Config::default()), |file| Config::read(&file))?;
        let config = config.with_environment(|name| std::env::var(name).ok())?;
        Ok(Secrets::open(&data, config.secrets))
    }
}

pub(super) fn run(args: SecretsArgs) -> anyhow::Result<()> {
    match args.action {
        Action::Set {
            name,
            value,
            settings,
        } => {
            anyhow::ensure!(
                value.is_empty(),
                "a secret is never taken from the command line, where the history of the shell and the list of processes show it; leave it out and type it when asked, or pipe it in: gangway secrets set {name} < FILE"
            );
            set(&name, &settings.secrets()?)
        }
        Action::List { settings, json } => list(&settings.secrets()?, json),
        Action::Remove { name, settings } => {
            let removed = settings.secrets()?.remove(&name)?;
            anyhow::ensure!(
                removed,
                "there is no secret named {name}; `gangway secrets list` shows them"
            );
            say!("{name} is forgotten");
            Ok(())
        }
    }
}

fn set(name: &SecretName, secrets: &Secrets) -> anyhow::Result<()> {
    let typed = if std::io::stdin().is_terminal() {
        let prompt = format!("{name} (what you type is not shown): ");
        SecretString::from(rpassword::prompt_password(prompt)?)
    } else {
        // A secret ends long before this; what is endless is not one.
        let mut text = Zeroizing::new(String::with_capacity(64 << 10));
        let read = std::io::stdin().take(60 << 10).read_to_string(&mut text);
        anyhow::ensure!(read.is_ok(), "what came in is not text");
        SecretString::from(text.as_str())
    };
    secrets.set(name, &parse_value(&typed)?)?;
    say!("{name} is kept");
    Ok(())
}

fn list(secrets: &Secrets, json: bool) -> anyhow::Result<()> {
    let list = secrets.list()?;
    if json {
        return print_json(&serde_json::json!({ "secrets": list }));
    }
    if list.is_empty() {
        say!("There are no secrets. Keep one: gangway secrets set NAME");
    }
    for secret in list {
        say!("{}  {}", secret.set_at.strftime("%F %R"), secret.name);
    }
    Ok(())
}
