//! `gangway key`: create, list and revoke API keys.

use clap::{Args, Subcommand};
use gangway_http::auth::{CreatedKey, KeyId, KeyName, KeyScope};
use jiff::SignedDuration;

use super::{Common, block_on, print_json, say::say, server::ask_stored};
use crate::keys::{CreateKey, KeyList};

#[derive(Args)]
pub struct KeyArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Create a key and print it; it is not shown again
    Create {
        /// A name for the key
        #[arg(long)]
        name: KeyName,
        /// A scope of the key: chat, models, tools[:SERVER/TOOL], agents[:PROJECT], relay[:SESSION], relay.agent[:SESSION],
        /// relay.host[:SESSION], apps, metrics, or admin for everything; may be repeated
        #[arg(
            long = "scope",
            value_name = "SCOPE",
            value_delimiter = ',',
            required = true
        )]
        scopes: Vec<KeyScope>,
        /// The key's lifetime, such as 12h or 30d [default: until it is revoked]
        #[arg(long, value_name = "TIME", value_parser = lifetime)]
        expires: Option<SignedDuration>,
        #[command(flatten)]
        output: Output,
    },
    /// List the keys; secrets are not shown
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Revoke a key, effective immediately
    Revoke {
        /// The key's id, from `gangway key list`
        id: KeyId,
        #[command(flatten)]
        output: Output,
    },
}

#[derive(Args)]
struct Output {
    #[command(flatten)]
    common: Common,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(args: KeyArgs) -> anyhow::Result<()> {
    block_on(async {
        match args.action {
            Action::Create {
                name,
                scopes,
                expires,
                output,
            } => create(name, scopes, expires, output).await,
            Action::List { output } => list(output).await,
            Action::Revoke { id, output } => revoke(&id, output).await,
        }
    })
}

async fn create(
    name: KeyName,
    scopes: Vec<KeyScope>,
    expires: Option<SignedDuration>,
    output: Output,
) -> anyhow::Result<()> {
    let request = CreateKey {
        name: name.to_string(),
        scopes,
        expires_in: expires.and_then(|time| u32::try_from(time.as_secs()).ok()),
    };
    let key: CreatedKey = ask_stored(&output.common, async |server| {
        server.post("/api/keys", &request).await
    })
    .await?;
    if output.json {
        return print_json(&key);
    }
    say!(
        "Key {} for {}, not shown again: {}",
        key.id,
        key.name,
        key.key
    );
    for warning in &key.warnings {
        say!("Warning: {warning}");
    }
    Ok(())
}

/// At most 10 years, so that no timestamp overflows.
fn lifetime(text: &str) -> Result<SignedDuration, String> {
    let (number, unit) = text.split_at(text.len().saturating_sub(1));
    let seconds = match unit {
        "m" => 60,
        "h" => 3600,
        "d" => 24 * 3600,
        _ => return Err("must be a number followed by m, h or d, such as 12h or 30d".into()),
    };
    let number: u32 = number
        .parse()
        .map_err(|_| "must be a number followed by m, h or d, such as 12h or 30d")?;
    match u64::from(number) * seconds {
        0 => Err("must be more than 0".into()),
        seconds @ 1..=315_360_000 => Ok(SignedDuration::from_secs(seconds as i64)),
        _ => Err("must be at most 3650d".into()),
    }
}

async fn list(output: Output) -> anyhow::Result<()> {
    let list: KeyList =
        ask_stored(&output.common, async |server| server.get("/api/keys").await).await?;
    if output.json {
        return print_json(&list);
    }
    if list.keys.is_empty() {
        say!("There are no keys. Create one: gangway key create --name NAME --scope SCOPE");
    }
    for key in list.keys {
        let scopes: Vec<_> = key.scopes.iter().map(ToString::to_string).collect();
        let until = key
            .expires_at
            .map(|at| at.strftime(", until %F %R").to_string());
        say!(
            "{}  {}  {} ({}{})",
            key.id,
            key.created_at.strftime("%F %R"),
            key.name,
            scopes.join(", "),
            until.unwrap_or_default()
        );
    }
    Ok(())
}

async fn revoke(id: &KeyId, output: Output) -> anyhow::Result<()> {
    let path = format!("/api/keys/{id}");
    ask_stored(&output.common, async |server| server.delete(&path).await).await?;
    if output.json {
        return print_json(&serde_json::json!({ "revoked": id }));
    }
    say!("Revoked key {id}");
    Ok(())
}
