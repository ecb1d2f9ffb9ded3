//! All agents, by id and by session.

use std::{
    collections::{BTreeMap, HashMap},
    sync::Arc,
};

use gangway_core::{Result, SessionId, Store};
use parking_lot::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use super::{AgentId, LiveAgent, Record};

/// Created before the hub, since the agent of their sessions is one of the hub's.
pub struct LiveAgents(Mutex<Agents>);

#[derive(Default)]
pub(super) struct Agents {
    pub(super) by_id: BTreeMap<AgentId, Arc<LiveAgent>>,
    by_session: HashMap<SessionId, AgentId>,
    /// Number of agents that each caller is creating.
    pub(super) creating: BTreeMap<String, usize>,
}

impl LiveAgents {
    pub async fn load(store: &Store, stop: &CancellationToken) -> Result<Arc<Self>> {
        let mut agents = Agents::default();
        for (id, record) in Record::all(store).await? {
            agents.add(Arc::new(LiveAgent::new(id, record, stop.clone())));
        }
        Ok(Arc::new(Self(Mutex::new(agents))))
    }

    #[must_use]
    pub fn get(&self, id: &AgentId) -> Option<Arc<LiveAgent>> {
        self.lock().by_id.get(id).cloned()
    }

    #[must_use]
    pub fn of_session(&self, session: SessionId) -> Option<Arc<LiveAgent>> {
        let agents = self.lock();
        agents.by_id.get(agents.by_session.get(&session)?).cloned()
    }

    #[must_use]
    pub fn all(&self) -> Vec<Arc<LiveAgent>> {
        self.lock().by_id.values().cloned().collect()
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Agents> {
        self.0.lock()
    }
}

impl Agents {
    fn add(&mut self, agent: Arc<LiveAgent>) {
        self.by_session.insert(agent.session, agent.id.clone());
        self.by_id.insert(agent.id.clone(), agent);
    }

    /// Adds an agent, unless another one has adopted the same program.
    pub(super) fn add_unless_adopted(
        &mut self,
        agent: &Arc<LiveAgent>,
    ) -> std::result::Result<(), AgentId> {
        match self.adopter_of(agent) {
            Some(other) => Err(other),
            None => {
                self.add(Arc::clone(agent));
                Ok(())
            }
        }
    }

    /// A running agent that has adopted the same program.
    fn adopter_of(&self, agent: &LiveAgent) -> Option<AgentId> {
        let wanted = agent.record().adopted?.pane;
        let mut others = self.by_id.values().filter(|other| !other.is_over());
        let same = others.find(|other| {
            let adopted = other.record().adopted;
            adopted.is_some_and(|adopted| {
                adopted.pane.socket == wanted.socket && adopted.pane.pane == wanted.pane
            })
        });
        same.map(|other| other.id.clone())
    }

    pub(super) fn remove(&mut self, id: &AgentId) {
        if let Some(agent) = self.by_id.remove(id) {
            self.by_session.remove(&agent.session);
        }
    }
}
