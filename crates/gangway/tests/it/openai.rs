//! OpenAI's own Python client on a real model.

use gangway_testing::openai_client::steps;
use serde_json::json;

use crate::support::{TestServer, test_weights};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn openais_python_client_can_do_everything_on_a_model_of_this_machine() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("models");
    std::fs::create_dir_all(&store).unwrap();
    std::os::unix::fs::symlink(test_weights(), store.join("small.gguf")).unwrap();
    let server = TestServer::in_folder(folder, |_| {}).await;
    let request = json!({ "name": "script", "scopes": ["models"] });
    let (_, key) = server.post("/api/keys", request).await;
    let key = key["key"].as_str().unwrap();
    steps(&server, key, "embedded/small", "real", 11).await;
}
