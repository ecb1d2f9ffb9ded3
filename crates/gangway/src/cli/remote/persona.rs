//! `gangway persona`: who agents can be.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::{
    Output,
    desk::{Desk, whole},
};
use crate::{
    cli::{Common, block_on, print_json, say::say},
    config::PersonaConfig,
    remote::KeptIn,
};

/// Personas of remote agents.
#[derive(Args)]
pub struct PersonaArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Keep a persona: a slug and a folder with skill.md, and experience.md if there is one
    Add {
        /// What it is called: small letters, digits and -
        slug: String,
        /// Its folder
        folder: PathBuf,
        /// Keep it switched off
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
    /// Switch a persona on: agents can be made of it
    On {
        /// What it is called
        slug: String,
        #[command(flatten)]
        common: Common,
    },
    /// Switch a persona off: no agent can be made of it
    Off {
        /// What it is called
        slug: String,
        #[command(flatten)]
        common: Common,
    },
    /// Forget a persona; its folder stays
    Remove {
        /// What it is called
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
                    folder: whole(&folder)?,
                    active: !off,
                };
                Desk::open(&common)?.add_persona(&slug, &persona).await?;
                say!("Persona {slug} is kept: {}", persona.folder.display());
                Ok(())
            }
            Action::List { output } => list(&output).await,
            Action::On { slug, common } => switch(&slug, true, &common).await,
            Action::Off { slug, common } => switch(&slug, false, &common).await,
            Action::Remove { slug, common } => {
                Desk::open(&common)?.remove_persona(&slug).await?;
                say!("Persona {slug} is forgotten; its folder stays");
                Ok(())
            }
        }
    })
}

async fn switch(slug: &str, active: bool, common: &Common) -> anyhow::Result<()> {
    let desk = Desk::open(common)?;
    let known = desk.personas().await?.personas;
    let Some(mut one) = known.into_iter().find(|one| one.slug == slug) else {
        anyhow::bail!("there is no persona {slug:?}; `gangway persona list` shows what there is");
    };
    one.persona.active = active;
    desk.add_persona(slug, &one.persona).await?;
    let word = if active { "on" } else { "off" };
    say!("Persona {slug} is switched {word}");
    Ok(())
}

async fn list(output: &Output) -> anyhow::Result<()> {
    let list = Desk::open(&output.common)?.personas().await?;
    if output.json {
        return print_json(&list);
    }
    if list.personas.is_empty() {
        say!(
            "There are no personas. Keep one: gangway persona add SLUG FOLDER (with skill.md in it)"
        );
    }
    for one in list.personas {
        let from = match one.from {
            KeptIn::Config => "  (config.yaml)",
            KeptIn::Added => "",
        };
        let off = if one.persona.active { "" } else { "  (off)" };
        let missing = if one.missing {
            "  (cannot be read)"
        } else {
            ""
        };
        let folder = one.persona.folder.display();
        say!("{}  {folder}{off}{from}{missing}", one.slug);
    }
    Ok(())
}
