//! What stands in for models that this process cannot run.

use futures_util::{FutureExt, future::BoxFuture};

use crate::{ChatRequest, Failure, ModelError, Pieces, Provider};

/// Stands for the embedded provider in a build without it.
pub(super) struct NotBuilt;

impl NotBuilt {
    fn error() -> ModelError {
        ModelError::new(
            Failure::Unavailable,
            "Embedded models cannot run here: this build has no engine for them, or the processor lacks what it needs.",
        )
    }
}

impl Provider for NotBuilt {
    fn models(&self) -> BoxFuture<'_, Result<Vec<String>, ModelError>> {
        async { Err(Self::error()) }.boxed()
    }

    fn chat(&self, _: ChatRequest) -> BoxFuture<'_, Result<Pieces<'static>, ModelError>> {
        async { Err(Self::error()) }.boxed()
    }
}
