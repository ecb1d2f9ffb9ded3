//! The built-in and configured agents, by name.

use std::{collections::BTreeMap, sync::Arc};

use gangway_agents::{Builtin, ConfiguredAgent, Scripted, TurnSettingsSource};
use gangway_core::{Agent, Agents, Toolbox};
use gangway_providers::Models;
use gangway_relay::RelayAgent;
use gangway_remote::{LiveAgents, RunnerAgent, SessionPages};
use gangway_webagent::Sites;

use super::ServerError;
use crate::config::Config;

pub(super) fn agents(
    config: &Config,
    models: &Models,
    toolbox: Arc<dyn Toolbox>,
    pages: Arc<dyn SessionPages>,
    sites: &Arc<Sites>,
    live: &Arc<LiveAgents>,
) -> Result<Agents, ServerError> {
    let mut by_name: BTreeMap<String, Arc<dyn Agent>> = BTreeMap::new();
    let calls = config.tools.calls_per_turn;
    let builtin = Builtin::new(Arc::clone(&models.registry), Arc::clone(&toolbox), calls);
    by_name.insert("builtin".into(), Arc::new(builtin));
    let briefing: Arc<dyn TurnSettingsSource> = Arc::clone(sites) as _;
    let briefed = ConfiguredAgent::new(Arc::clone(&models.registry), briefing);
    by_name.insert(gangway_webagent::AGENT.into(), Arc::new(briefed));
    let remote = RunnerAgent {
        live: Arc::clone(live),
        pages,
    };
    by_name.insert(gangway_remote::AGENT.into(), Arc::new(remote));
    by_name.insert(gangway_relay::AGENT.into(), Arc::new(RelayAgent));
    let demo = Scripted::demo()?.with_tools(Arc::clone(&toolbox));
    by_name.insert("demo".into(), Arc::new(demo));
    for (name, agent) in &config.agents {
        let scripted = Scripted::load(&agent.script)?.with_tools(Arc::clone(&toolbox));
        by_name.insert(name.clone(), Arc::new(scripted));
    }
    Ok(Agents::new(by_name, &config.default_agent)?)
}
