//! `gangway models`: local model files and the default model. Works on files, which a running server reloads by
//! itself, so no server is needed.

use std::{
    collections::BTreeSet,
    path::{Path, PathBuf},
};

use anyhow::Context;
use clap::{Args, Subcommand};
use gangway_models::{
    Choice,
    registry::Kind,
    weights::{ModelName, Weights, WeightsStore, readable},
};

use super::{Common, block_on, print_json, pull, say::say, server::running};
use crate::config::Config;

#[derive(Args)]
pub struct ModelsArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Download a model
    Pull(pull::PullArgs),
    /// List local models
    List {
        #[command(flatten)]
        common: Common,
        /// Print JSON
        #[arg(long)]
        json: bool,
    },
    /// Add a GGUF file from disk
    Add {
        /// The GGUF file
        file: PathBuf,
        /// A name for the model [default: the file name]
        #[arg(long)]
        name: Option<ModelName>,
        /// Copy the file instead of linking to it
        #[arg(long)]
        copy: bool,
        #[command(flatten)]
        common: Common,
    },
    /// Remove a model; files that were added without --copy are kept
    Remove {
        /// The model's name, from `gangway models list`
        name: String,
        #[command(flatten)]
        common: Common,
    },
    /// Set the default model
    Use {
        /// A model from `gangway models list`, or PROVIDER/MODEL
        #[arg(required_unless_present = "none")]
        model: Option<String>,
        /// Clear the default
        #[arg(long, conflicts_with = "model")]
        none: bool,
        #[command(flatten)]
        common: Common,
    },
}

pub(super) fn store(common: &Common) -> anyhow::Result<WeightsStore> {
    Ok(WeightsStore::new(&common.data()?.join("models")))
}

pub(super) fn run(args: ModelsArgs) -> anyhow::Result<()> {
    match args.action {
        Action::Pull(args) => pull::run(args),
        Action::List { common, json } => {
            let elsewhere = block_on(elsewhere(&common))?;
            list(&store(&common)?, &elsewhere, json)
        }
        Action::Add {
            file,
            name,
            copy,
            common,
        } => {
            let weights = store(&common)?.add(&file, name, copy)?;
            say!("Added {}: {}", weights.name, weights.path.display());
            say!("Set it as the default: gangway models use {}", weights.name);
            Ok(())
        }
        Action::Remove { name, common } => remove(&store(&common)?, &name),
        Action::Use { model, common, .. } => {
            let file = common.data()?.join("config.yaml");
            let config = if file.exists() {
                Config::read(&file)?
            } else {
                Config::default()
            };
            choose(
                &store(&common)?,
                model,
                &config.providers.into_keys().collect(),
            )
        }
    }
}

fn choice(folder: &Path) -> anyhow::Result<Option<Choice>> {
    Choice::read(folder).with_context(|| {
        let file = folder.join("default.json");
        format!(
            "reading {} (`gangway models use` overwrites it)",
            file.display()
        )
    })
}

/// A local model's name with its provider prefix.
fn full_name(name: &str) -> String {
    format!("embedded/{name}")
}

/// Models of other providers, which only a running server knows.
async fn elsewhere(common: &Common) -> anyhow::Result<Vec<String>> {
    let Some(server) = running(common)? else {
        return Ok(Vec::new());
    };
    let list: serde_json::Value = server.get("/api/models").await?;
    let models = list["models"].as_array().cloned().unwrap_or_default();
    let others = models
        .iter()
        .filter(|model| model["provider"] != "embedded");
    let ids = others.filter_map(|model| model["id"].as_str());
    Ok(ids.map(str::to_owned).collect())
}

fn list(store: &WeightsStore, elsewhere: &[String], json: bool) -> anyhow::Result<()> {
    let folder = store.folder();
    let models = store
        .list()
        .with_context(|| format!("reading {}", folder.display()))?;
    let chosen = choice(folder)?;
    let is_default = |weights: &Weights| {
        let name = full_name(&weights.name);
        chosen.as_ref().is_some_and(|choice| choice.model == name)
    };
    if json {
        let row = |weights: &Weights| {
            let note = weights.note.as_ref();
            serde_json::json!({
                "name": weights.name,
                "bytes": weights.bytes,
                "path": weights.path,
                "source": note.map(|note| &note.source),
                "sha256": note.and_then(|note| note.sha256.as_ref()),
                "addedAt": note.map(|note| note.added_at),
                "default": is_default(weights),
            })
        };
        let rows: Vec<_> = models.iter().map(row).collect();
        let default = chosen.as_ref().map(|choice| &choice.model);
        return print_json(
            &serde_json::json!({ "models": rows, "elsewhere": elsewhere, "default": default }),
        );
    }
    if models.is_empty() {
        say!("There are no local models. Download one: gangway models pull");
    }
    for weights in &models {
        let source = weights
            .note
            .as_ref()
            .map_or("added manually", |n| &n.source);
        let default = if is_default(weights) {
            "  (default)"
        } else {
            ""
        };
        let size = readable(weights.bytes);
        say!("{}  {size}  {source}{default}", weights.name);
    }
    if !elsewhere.is_empty() {
        say!("Models of other providers: {}", elsewhere.join(", "));
    }
    match chosen {
        Some(choice) if !models.iter().any(is_default) => {
            say!("The default is {}", choice.model);
        }
        _ => {}
    }
    Ok(())
}

fn remove(store: &WeightsStore, name: &str) -> anyhow::Result<()> {
    store.remove(name)?;
    say!("Removed {name}");
    let folder = store.folder();
    // A removed default would fail every turn.
    if choice(folder)?.is_some_and(|choice| choice.model == full_name(name)) {
        Choice::remove(folder)?;
        say!("It was the default; choose another: gangway models use NAME");
    }
    Ok(())
}

fn choose(
    store: &WeightsStore,
    model: Option<String>,
    providers: &BTreeSet<String>,
) -> anyhow::Result<()> {
    let folder = store.folder();
    let writing = || format!("writing to {}", folder.display());
    let Some(request) = model else {
        Choice::remove(folder).with_context(writing)?;
        say!("The default is cleared");
        return Ok(());
    };
    let model = match request.strip_prefix("embedded/") {
        None if request.contains('/') => {
            let (provider, name) = request.split_once('/').unwrap_or_default();
            let readable = request.len() <= 200 && !request.contains(|c: char| c.is_control());
            anyhow::ensure!(
                readable && !provider.is_empty() && !name.is_empty(),
                "{request:?} is not a model name; use PROVIDER/MODEL, for example ollama/llama3.2"
            );
            let known = Kind::from_name(provider).is_some() || providers.contains(provider);
            anyhow::ensure!(
                known,
                "unknown provider {provider:?}; known are {}, and those under `providers` in config.yaml",
                Kind::ALL.map(Kind::name).join(", ")
            );
            request
        }
        None if Kind::from_name(&request).is_some() || providers.contains(&request) => request,
        own => {
            let name = own.unwrap_or(&request);
            let there = store.find(name)?.is_some();
            anyhow::ensure!(
                there,
                "local model {name} not found; `gangway models list` shows all, `gangway models pull` downloads one"
            );
            full_name(name)
        }
    };
    let choice = Choice { model };
    choice.write(folder).with_context(writing)?;
    say!("The default is now {}", choice.model);
    Ok(())
}
