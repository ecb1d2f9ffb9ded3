//! Counters and gauges for Prometheus.

use std::sync::Arc;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

/// A request that was answered.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Answered {
    /// The method, or `other`.
    pub method: &'static str,
    /// The route it matched, never the address itself.
    pub route: String,
    /// The status.
    pub status: u16,
}

/// Something that was refused or cut off.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Reason {
    /// Why.
    pub reason: &'static str,
}

/// A chat with a model that ended.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Chatted {
    /// The provider, by the name it was set up with.
    pub provider: String,
    /// `done`, `cancelled`, or the code of its failure.
    pub outcome: &'static str,
}

/// Tokens that a model read or wrote.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Tokens {
    /// The provider, by the name it was set up with.
    pub provider: String,
    /// `read` or `written`.
    pub direction: &'static str,
}

/// What remote agents are doing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Doing {
    /// `creating`, what it is doing while it lives, or `ended`.
    pub state: &'static str,
}

/// Everything this server counts.
pub struct Metrics {
    registry: Registry,
    /// Requests answered.
    pub requests: Family<Answered, Counter>,
    /// Connections that are open.
    pub connections: Gauge,
    /// Requests and connections refused before they reached a door.
    pub refused: Family<Reason, Counter>,
    /// Readers of a feed that are open.
    pub readers: Gauge,
    /// Readers that were ended by the server.
    pub readers_ended: Family<Reason, Counter>,
    /// Sessions that are in memory.
    pub sessions_awake: Gauge,
    /// Places of stored data that were found damaged since the start.
    pub damaged_places: Gauge,
    /// Chats with models.
    pub chats: Family<Chatted, Counter>,
    /// Tokens that models told of.
    pub tokens: Family<Tokens, Counter>,
    /// Remote agents by what they are doing.
    pub agents: Family<Doing, Gauge>,
}

impl Metrics {
    /// All at zero.
    #[must_use]
    pub fn new() -> Arc<Self> {
        let mut metrics = Self {
            registry: Registry::with_prefix("gangway"),
            requests: Family::default(),
            connections: Gauge::default(),
            refused: Family::default(),
            readers: Gauge::default(),
            readers_ended: Family::default(),
            sessions_awake: Gauge::default(),
            damaged_places: Gauge::default(),
            chats: Family::default(),
            tokens: Family::default(),
            agents: Family::default(),
        };
        let registry = &mut metrics.registry;
        registry.register(
            "http_requests",
            "Requests answered",
            metrics.requests.clone(),
        );
        registry.register(
            "connections",
            "Connections that are open",
            metrics.connections.clone(),
        );
        registry.register(
            "refused",
            "Requests and connections refused",
            metrics.refused.clone(),
        );
        registry.register(
            "feed_readers",
            "Readers of a feed that are open",
            metrics.readers.clone(),
        );
        registry.register(
            "feed_readers_ended",
            "Readers that the server ended",
            metrics.readers_ended.clone(),
        );
        registry.register(
            "sessions_awake",
            "Sessions in memory",
            metrics.sessions_awake.clone(),
        );
        registry.register(
            "damaged_places",
            "Places of stored data found damaged since the start",
            metrics.damaged_places.clone(),
        );
        registry.register(
            "model_chats",
            "Chats with models that ended",
            metrics.chats.clone(),
        );
        registry.register(
            "model_tokens",
            "Tokens that models read and wrote",
            metrics.tokens.clone(),
        );
        registry.register(
            "remote_agents",
            "Remote agents by what they are doing",
            metrics.agents.clone(),
        );
        Arc::new(metrics)
    }

    /// Counts a refusal.
    pub fn refuse(&self, reason: &'static str) {
        self.refused.get_or_create(&Reason { reason }).inc();
    }

    /// The text that Prometheus reads.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}

/// Counts one thing for as long as it lives.
pub struct Counted(Gauge);

impl Counted {
    /// One more.
    #[must_use]
    pub fn new(gauge: &Gauge) -> Self {
        gauge.inc();
        Self(gauge.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dec();
    }
}
