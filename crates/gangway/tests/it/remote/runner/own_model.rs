//! The embedded model of the server, used by an agent: loaded once, there, and found again after a restart.

use gangway_runner::wire::{Backend, TurnEvent};
use gangway_testing::runner::{Server, text_of};

use super::{Runner, settings, setup};
use crate::support::{Gangway, test_weights};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_agent_asks_the_servers_own_model_also_after_it_moved() {
    let server = Server::start();
    let data = server.data();
    let store = data.join("models");
    std::fs::create_dir_all(&store).unwrap();
    std::os::unix::fs::symlink(test_weights(), store.join("small.gguf")).unwrap();
    std::fs::write(
        data.join("config.yaml"),
        "models: { detect: false }\ntools: { catalog_url: 'off' }\n",
    )
    .unwrap();
    let gangway = Gangway::serve(&data, &[]);
    let _runner = Runner::start(&server);
    let setup = setup(&server, Backend::Builtin, &settings(None, &data));
    let mut connection = server.ready_as(setup).await;
    connection.prompt(1, "What is the capital of France?").await;
    let all = connection.turn(1).await;
    // What it says is the model's business; that it says something is ours.
    assert!(!text_of(&all).trim().is_empty(), "{all:?}");
    let window = all.iter().find_map(|what| match what {
        TurnEvent::Context { used, window } => Some((*used, *window)),
        _ => None,
    });
    let (used, window) = window.unwrap();
    assert!(used > 10 && window == Some(8192), "{used} of {window:?}");

    let old = gangway.url.clone();
    gangway.kill();
    let moved = Gangway::serve(&data, &[]);
    assert_ne!(old, moved.url);
    connection.prompt(2, "And of Italy?").await;
    let all = connection.turn(2).await;
    assert!(
        matches!(all.last(), Some(TurnEvent::Done { .. })),
        "{all:?}"
    );
    assert!(!text_of(&all).is_empty());
}
