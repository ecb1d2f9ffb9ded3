//! Metrics for Prometheus.

use std::sync::Arc;

use prometheus_client::{
    encoding::EncodeLabelSet,
    metrics::{counter::Counter, family::Family, gauge::Gauge},
    registry::Registry,
};

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ResponseLabels {
    /// `other` for nonstandard methods.
    pub method: &'static str,
    /// The route pattern, never the URL itself.
    pub route: String,
    pub status: u16,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Reason {
    pub reason: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct ChatLabels {
    pub provider: String,
    /// `done`, `cancelled`, or the error code.
    pub outcome: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct Tokens {
    pub provider: String,
    /// `read` or `written`.
    pub direction: &'static str,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, EncodeLabelSet)]
pub struct AgentLabels {
    /// `creating`, `ended`, or the state of a live agent.
    pub state: &'static str,
}

pub struct Metrics {
    registry: Registry,
    pub requests: Family<ResponseLabels, Counter>,
    pub connections: Gauge,
    /// Requests and connections refused before they reached a protocol.
    pub refused: Family<Reason, Counter>,
    /// Open feed readers.
    pub readers: Gauge,
    /// Readers closed by the server.
    pub readers_ended: Family<Reason, Counter>,
    pub sessions_awake: Gauge,
    /// Damaged places found in stored data since the start.
    pub damaged_places: Gauge,
    pub chats: Family<ChatLabels, Counter>,
    /// As reported by models.
    pub tokens: Family<Tokens, Counter>,
    pub agents: Family<AgentLabels, Gauge>,
}

impl Metrics {
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
            "Open connections",
            metrics.connections.clone(),
        );
        registry.register(
            "refused",
            "Requests and connections refused",
            metrics.refused.clone(),
        );
        registry.register("feed_readers", "Open feed readers", metrics.readers.clone());
        registry.register(
            "feed_readers_ended",
            "Readers closed by the server",
            metrics.readers_ended.clone(),
        );
        registry.register(
            "sessions_awake",
            "Sessions in memory",
            metrics.sessions_awake.clone(),
        );
        registry.register(
            "damaged_places",
            "Damaged places found in stored data since the start",
            metrics.damaged_places.clone(),
        );
        registry.register(
            "model_chats",
            "Finished model requests",
            metrics.chats.clone(),
        );
        registry.register(
            "model_tokens",
            "Input and output tokens of models",
            metrics.tokens.clone(),
        );
        registry.register(
            "remote_agents",
            "Remote agents by state",
            metrics.agents.clone(),
        );
        Arc::new(metrics)
    }

    pub fn refuse(&self, reason: &'static str) {
        self.refused.get_or_create(&Reason { reason }).inc();
    }

    /// The Prometheus text format.
    #[must_use]
    pub fn text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = prometheus_client::encoding::text::encode(&mut text, &self.registry);
        text
    }
}

/// Counts in a gauge until it is dropped.
pub struct Counted(Gauge);

impl Counted {
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
