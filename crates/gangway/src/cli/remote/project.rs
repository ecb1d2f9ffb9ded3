//! `gangway project`: manages the folders that remote agents work in.

use std::path::PathBuf;

use clap::{Args, Subcommand};
use gangway_client::encode::in_url;
use gangway_remote::{
    StoredIn,
    config::ProjectConfig,
    wire::{EmptyBody, ProjectList},
};

use super::{Output, absolute};
use crate::cli::{Common, block_on, print_json, say::say, server::ask};

#[derive(Args)]
pub struct ProjectArgs {
    #[command(subcommand)]
    action: Action,
}

const LIST: &str = "/api/projects";

fn path(name: &str) -> String {
    format!("{LIST}/{}", in_url(name))
}

#[derive(Subcommand)]
enum Action {
    /// Add a project: a name and a folder
    Add {
        /// The project's name
        name: String,
        /// The project's folder
        folder: PathBuf,
        /// The agent that runs in it: builtin, or one of remote_agents.backends in config.yaml
        #[arg(long, alias = "brain")]
        backend: Option<String>,
        /// The model of the built-in agent
        #[arg(long)]
        model: Option<String>,
        /// The MCP servers of its agents, by name [default: none]
        #[arg(long = "mcp-servers", value_name = "NAMES", value_delimiter = ',')]
        mcp_servers: Option<Vec<String>>,
        #[command(flatten)]
        common: Common,
    },
    /// List the projects
    List {
        #[command(flatten)]
        output: Output,
    },
    /// Remove a project; its folder is kept
    Remove {
        /// The project's name
        name: String,
        #[command(flatten)]
        common: Common,
    },
}

pub(in crate::cli) fn run(args: ProjectArgs) -> anyhow::Result<()> {
    block_on(async {
        match args.action {
            Action::Add {
                name,
                folder,
                backend,
                model,
                mcp_servers,
                common,
            } => {
                let project = ProjectConfig {
                    folder: absolute(&folder)?,
                    backend,
                    model,
                    mcp_servers,
                };
                let path = path(&name);
                ask(&common, async |server| {
                    server.put::<EmptyBody>(&path, &project).await
                })
                .await?;
                say!("Added project {name}: {}", project.folder.display());
                Ok(())
            }
            Action::List { output } => list(&output).await,
            Action::Remove { name, common } => {
                let path = path(&name);
                ask(&common, async |server| server.delete(&path).await).await?;
                say!("Removed project {name}; its folder is kept");
                Ok(())
            }
        }
    })
}

async fn list(output: &Output) -> anyhow::Result<()> {
    let list: ProjectList = ask(&output.common, async |server| server.get(LIST).await).await?;
    if output.json {
        return print_json(&list);
    }
    if list.projects.is_empty() {
        say!("There are no projects. Add one: gangway project add NAME FOLDER");
    }
    for one in list.projects {
        let backend = one.project.backend.as_deref().unwrap_or("builtin");
        let from = match one.from {
            StoredIn::Config => "  (config.yaml)",
            StoredIn::Added => "",
        };
        let missing = if one.missing { "  (missing)" } else { "" };
        let folder = one.project.folder.display();
        say!("{}  {folder}  {backend}{from}{missing}", one.name);
    }
    Ok(())
}
