//! `gangway persona`: manages the personas of remote agents.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use gangway_client::encode::in_url;
use gangway_remote::{
    StoredIn,
    config::PersonaConfig,
    wire::{EmptyBody, PersonaList},
};

use super::{Output, absolute};
use crate::cli::{Common, block_on, print_json, say::say, server::ask};

#[derive(Args)]
pub struct PersonaArgs {
    #[command(subcommand)]
    action: Action,
}

const LIST: &str = "/api/personas";

fn path(slug: &str) -> String {
    format!("{LIST}/{}", in_url(slug))
}

#[derive(Subcommand)]
enum Action {
    /// Add a persona: a slug and a folder with skill.md and, optionally, experience.md
    Add {
        /// The persona's slug: lowercase letters, digits and -
        slug: String,
        /// The persona's folder
        folder: PathBuf,
        /// Add it disabled
        #[arg(long)]
        off: bool,
        #[command(flatten)]
        common: Common,
    },
    /// List the personas
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Enable a persona for new agents
    On {
        /// The persona's slug
        slug: String,
        #[command(flatten)]
        common: Common,
    },
    /// Disable a persona for new agents
    Off {
        /// The persona's slug
        slug: String,
        #[command(flatten)]
        common: Common,
    },
    /// Remove a persona; its folder is kept
    Remove {
        /// The persona's slug
        slug: String,
        #[command(flatten)]
        common: Common,
    },
}

pub(in crate::cli) fn run(args: PersonaArgs) -> anyhow::Result<()> {
    block_on(async {
        match args.action {
            Action::Add {
                slug,
                folder,
                off,
                common,
            } => {
                let persona = PersonaConfig {
                    folder: absolute(&folder)?,
                    active: !off,
                };
                let path = path(&slug);
                ask(&common, async |server| {
                    server.put::<EmptyBody>(&path, &persona).await
                })
                .await?;
                say!("Added persona {slug}: {}", persona.folder.display());
                Ok(())
            }
            Action::List { output } => list(&output).await,
            Action::On { slug, common } => switch(&slug, true, &common).await,
            Action::Off { slug, common } => switch(&slug, false, &common).await,
            Action::Remove { slug, common } => {
                let path = path(&slug);
                ask(&common, async |server| server.delete(&path).await).await?;
                say!("Removed persona {slug}; its folder is kept");
                Ok(())
            }
        }
    })
}

async fn switch(slug: &str, active: bool, common: &Common) -> anyhow::Result<()> {
    ask(common, async |server| {
        let known: PersonaList = server.get(LIST).await?;
        let mut known = known.personas.into_iter();
        let Some(mut one) = known.find(|one| one.slug == slug) else {
            anyhow::bail!("persona {slug:?} not found; `gangway persona list` shows all personas");
        };
        one.persona.active = active;
        server.put::<EmptyBody>(&path(slug), &one.persona).await
    })
    .await?;
    let word = if active { "enabled" } else { "disabled" };
    say!("Persona {slug} is {word}");
    Ok(())
}

async fn list(output: &Output) -> anyhow::Result<()> {
    let list: PersonaList = ask(&output.common, async |server| server.get(LIST).await).await?;
    if output.json {
        return print_json(&list);
    }
    if list.personas.is_empty() {
        say!(
            "There are no personas. Add one: gangway persona add SLUG FOLDER (with skill.md in it)"
        );
    }
    for one in list.personas {
        let from = match one.from {
            StoredIn::Config => "  (config.yaml)",
            StoredIn::Added => "",
        };
        let off = if one.persona.active {
            ""
        } else {
            "  (disabled)"
        };
        let missing = if one.missing { "  (unreadable)" } else { "" };
        let folder = one.persona.folder.display();
        say!("{}  {folder}{off}{from}{missing}", one.slug);
    }
    Ok(())
}
