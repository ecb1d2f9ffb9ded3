//! Reading a page and waiting for its events.

use std::{sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use gangway_core::{SessionId, ToolError};
use gangway_pages::{PageEvents, PageReader, PageView};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::World;

/// A page that answers when it is let.
struct Slow {
    /// Reads that have begun, and reads that may end.
    begun: Arc<Semaphore>,
    may_end: Arc<Semaphore>,
}

impl Slow {
    async fn wait(&self) {
        self.begun.add_permits(1);
        self.may_end.acquire().await.unwrap().forget();
    }
}

impl PageView for Slow {
    fn state(&self) -> BoxFuture<'_, Result<Value, ToolError>> {
        Box::pin(async {
            self.wait().await;
            Ok(json!("private"))
        })
    }

    fn events(&self, _: Option<u64>, _: Duration) -> BoxFuture<'_, Result<PageEvents, ToolError>> {
        Box::pin(async {
            self.wait().await;
            let events = vec![(1, json!("private"))];
            Ok(PageEvents {
                events,
                last: 1,
                gap: false,
            })
        })
    }
}

#[tokio::test]
async fn a_page_that_moved_to_another_session_is_not_read_for_the_one_that_waited() {
    let world = World::open();
    let (begun, may_end) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
    let view = || {
        let (begun, may_end) = (Arc::clone(&begun), Arc::clone(&may_end));
        Box::new(Slow { begun, may_end }) as Box<dyn PageView>
    };
    let connected = world.sockets.connect(None, world.page("shop"), view);
    let _connected = connected.unwrap();
    let page = world.pages.of_session(world.session).remove(0);
    let reader = PageReader::new(Arc::clone(&world.pages));
    for name in ["gangway/read_page", "gangway/next_page_event"] {
        for other in [None, Some(SessionId::new())] {
            world.pages.connect(&page, Some(world.session));
            let tool = name.parse().unwrap();
            let read = reader.call_in(world.session, &tool, json!({}));
            let connect = async {
                begun.acquire().await.unwrap().forget();
                world.pages.connect(&page, other);
                may_end.add_permits(1);
            };
            let (read, ()) = tokio::join!(read, connect);
            let error = read.unwrap_err().to_string();
            assert!(error.contains("page not found"), "{name}: {error}");
        }
    }
}
