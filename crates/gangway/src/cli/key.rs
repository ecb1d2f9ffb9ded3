//! `gangway key`: make, list and revoke API keys, through the running server or on the folder itself.

use clap::{Args, Subcommand};
use gangway_core::Store;

use super::{Common, block_on, print_json, say::say, through::Place};
use crate::auth::{CreateKey, CreatedKey, KeyId, KeyList, KeyName, Keys, ToolPattern};

/// API keys.
#[derive(Args)]
pub struct KeyArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Make a key and print it, once
    Create {
        /// What it is for
        #[arg(long)]
        name: KeyName,
        /// Only for these tools, and for nothing else: server/tool, server/* (gangway/* is Gangway's own)
        #[arg(long, value_name = "TOOLS", value_delimiter = ',')]
        tools: Option<Vec<ToolPattern>>,
        #[command(flatten)]
        output: Output,
    },
    /// List the keys, without their secrets
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Revoke a key; it stops working at once
    Revoke {
        /// Its id, from `gangway key list`
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
                tools,
                output,
            } => create(name, tools, output).await,
            Action::List { output } => list(output).await,
            Action::Revoke { id, output } => revoke(&id, output).await,
        }
    })
}

async fn create(
    name: KeyName,
    tools: Option<Vec<ToolPattern>>,
    output: Output,
) -> anyhow::Result<()> {
    let key: CreatedKey = match Place::find(&output.common.data()?)? {
        Place::Server(server) => {
            let name = name.to_string();
            server.post("/api/keys", &CreateKey { name, tools }).await?
        }
        Place::Folder(folder) => keys(&folder).await?.create(&name, tools).await?,
    };
    if output.json {
        return print_json(&key);
    }
    say!(
        "Key {} for {}, shown only now: {}",
        key.id,
        key.name,
        key.key
    );
    Ok(())
}

async fn list(output: Output) -> anyhow::Result<()> {
    let list: KeyList = match Place::find(&output.common.data()?)? {
        Place::Server(server) => server.get("/api/keys").await?,
        Place::Folder(folder) => KeyList {
            keys: keys(&folder).await?.list(),
        },
    };
    if output.json {
        return print_json(&list);
    }
    if list.keys.is_empty() {
        say!("There are no keys. Make one: gangway key create --name NAME");
    }
    for key in list.keys {
        say!(
            "{}  {}  {}",
            key.id,
            key.created_at.strftime("%F %R"),
            key.name
        );
    }
    Ok(())
}

async fn revoke(id: &KeyId, output: Output) -> anyhow::Result<()> {
    match Place::find(&output.common.data()?)? {
        Place::Server(server) => server.delete(&format!("/api/keys/{id}")).await?,
        Place::Folder(folder) => {
            let revoked = keys(&folder).await?.revoke(id).await?;
            anyhow::ensure!(
                revoked,
                "there is no key with the id {id}; `gangway key list` shows them"
            );
        }
    }
    if output.json {
        return print_json(&serde_json::json!({ "revoked": id }));
    }
    say!("Key {id} is revoked");
    Ok(())
}

async fn keys(folder: &crate::data::DataFolder) -> anyhow::Result<Keys> {
    Ok(Keys::load(Store::open(folder.path())?).await?)
}
