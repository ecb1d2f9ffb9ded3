//! `gangway secrets`: API keys of model providers, read from standard input or a prompt and never shown. Written
//! without the server, so that it works when invalid settings or a missing key keep the server from starting.

use std::{
    ffi::OsString,
    io::{IsTerminal, Read},
    path::PathBuf,
};

use clap::{Args, Subcommand};
use gangway_secrets::{SecretName, Secrets, parse_value};
use secrecy::SecretString;
use zeroize::Zeroizing;

use super::{Common, print_json, say::say};
use crate::config::Config;

#[derive(Args)]
pub struct SecretsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Store a secret, read from standard input or a prompt
    Set {
        /// The secret's name, for example OPENAI_API_KEY
        name: SecretName,
        #[arg(hide = true)]
        value: Vec<OsString>,
        #[command(flatten)]
        settings: Settings,
    },
    /// List the names of stored secrets
    List {
        #[command(flatten)]
        settings: Settings,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Delete a secret
    Remove {
        /// The secret's name
        name: SecretName,
        #[command(flatten)]
        settings: Settings,
    },
}

#[derive(Args)]
struct Settings {
    #[command(flatten)]
    common: Common,
    /// The config file, which sets where secrets are stored [default: config.yaml in the data folder]
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
                "secrets are not accepted as arguments, where shell history and process lists would show them; omit the value and type it at the prompt, or pipe it in: gangway secrets set {name} < FILE"
            );
            set(&name, &settings.secrets()?)
        }
        Action::List { settings, json } => list(&settings.secrets()?, json),
        Action::Remove { name, settings } => {
            let removed = settings.secrets()?.remove(&name)?;
            anyhow::ensure!(
                removed,
                "secret {name} not found; `gangway secrets list` shows all names"
            );
            say!("Deleted {name}");
            Ok(())
        }
    }
}

fn set(name: &SecretName, secrets: &Secrets) -> anyhow::Result<()> {
    let typed = if std::io::stdin().is_terminal() {
        let prompt = format!("{name} (input is hidden): ");
        SecretString::from(rpassword::prompt_password(prompt)?)
    } else {
        // More than any secret needs; bounds endless input.
        let mut text = Zeroizing::new(String::with_capacity(64 << 10));
        let read = std::io::stdin().take(60 << 10).read_to_string(&mut text);
        anyhow::ensure!(read.is_ok(), "standard input is not UTF-8 text");
        SecretString::from(text.as_str())
    };
    secrets.set(name, &parse_value(&typed)?)?;
    say!("Stored {name}");
    Ok(())
}

fn list(secrets: &Secrets, json: bool) -> anyhow::Result<()> {
    let list = secrets.list()?;
    if json {
        return print_json(&serde_json::json!({ "secrets": list }));
    }
    if list.is_empty() {
        say!("There are no secrets. Store one: gangway secrets set NAME");
    }
    for secret in list {
        say!("{}  {}", secret.set_at.strftime("%F %R"), secret.name);
    }
    Ok(())
}
