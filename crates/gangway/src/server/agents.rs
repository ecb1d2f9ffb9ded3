//! The built-in and configured agents, by name.

use std::{collections::BTreeMap, sync::Arc};

use gangway_agents::{Builtin, ConfiguredAgent, Scripted, TurnSettingsSource};
use gangway_core::{Agent, Agents, Toolbox};
use gangway_providers::Models;
use gangway_remote::{LiveAgents, RunnerAgent};
use gangway_webagent::Sites;

use super::ServerError;
use crate::config::Config;

pub(super) fn agents(
    config: &Config,
    models: &Models,
    toolbox: Arc<dyn Toolbox>,
    sites: &Arc<Sites>,
    live: &Arc<LiveAgents>,
) -> Result<Agents, ServerError> {
    let mut by_name: BTreeMap<String, Arc<dyn Agent>> = BTreeMap::new();
    let calls = config.tools.calls_per_turn;
    let builtin = Builtin::new(Arc::clone(&models.registry), toolbox, calls);
    by_name.insert("builtin".into(), Arc::new(builtin));
    let briefing: Arc<dyn TurnSettingsSource> = Arc::clone(sites) as _;
    let briefed = ConfiguredAgent::new(Arc::clone(&models.registry), briefing);
    by_name.insert(gangway_webagent::AGENT.into(), Arc::new(briefed));
    let remote = RunnerAgent(Arc::clone(live));
    by_name.insert(gangway_remote::AGENT.into(), Arc::new(remote));
    by_name.insert("demo".into(), Arc::new(Scripted::demo()?));
    for (name, agent) in &config.agents {
        by_name.insert(name.clone(), Arc::new(Scripted::load(&agent.script)?));
    }
    Ok(Agents::new(by_name, &config.default_agent)?)
}
