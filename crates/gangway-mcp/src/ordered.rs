//! Delivers the progress of calls in order, and before their results.

use std::sync::Arc;

use rmcp::{
    RoleClient,
    model::{JsonRpcMessage, ServerNotification},
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::Transport,
};

use crate::handler::Handler;

/// A transport that passes progress reports directly to the handler. Other notifications are each handled in their own
/// task, where one may overtake another or the result that it precedes.
pub(crate) struct Ordered<T> {
    inner: T,
    handler: Arc<Handler>,
}

impl<T> Ordered<T> {
    pub(crate) fn new(inner: T, handler: Arc<Handler>) -> Self {
        Self { inner, handler }
    }
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for Ordered<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), T::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.inner.receive().await? {
                JsonRpcMessage::Notification(received) => match received.notification {
                    ServerNotification::ProgressNotification(one) => {
                        self.handler.on_progress(one.params)
                    }
                    _ => return Some(JsonRpcMessage::Notification(received)),
                },
                other => return Some(other),
            }
        }
    }

    async fn close(&mut self) -> Result<(), T::Error> {
        self.inner.close().await
    }
}
