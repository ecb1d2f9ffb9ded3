//! As many agents as there may be, and no more.

use reqwest::Method;
use serde_json::{Value, json};

use super::{
    TestAgent, Yard, answered, create_request, model::Model, server::Config, tmux_sessions,
};

fn most(agents: usize, of_one_key: usize) -> impl FnOnce(&mut Config) {
    move |config| {
        config.remote_agents.max_agents = agents;
        config.remote_agents.max_agents_per_key = of_one_key;
        // Twenty at once on a machine that is busy with other tests.
        config.remote_agents.creation_timeout_seconds = 60;
    }
}

fn assert_full(error: &Value) {
    let wanted = json!({
        "status": 503,
        "error_code": "service_unavailable",
        "message": error["message"],
        "error": error["message"],
        "retryable": true,
        "retry_after_seconds": 10,
    });
    assert_eq!(*error, wanted);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_two_hundred_at_once_as_many_are_made_as_there_may_be() {
    let remote = Yard::with(Model::says(&["Hi."]), most(20, 1000)).await;
    let asked = (0..200).map(|_| remote.create(create_request("Hi.")));
    let answers = futures_util::future::join_all(asked).await;
    let (made, refused): (Vec<_>, Vec<_>) =
        answers.into_iter().partition(|(status, _)| *status == 201);
    assert_eq!((made.len(), refused.len()), (20, 180));
    for (_, error) in &refused {
        assert_full(error);
    }
    assert_eq!(tmux_sessions(remote.data()).len(), 20);
    let (_, list) = answered(remote.request(Method::GET, "")).await;
    assert_eq!(
        (list["agents"].as_array().unwrap().len(), &list["limit"]),
        (20, &json!(20))
    );
    // Once one ends there is room for another, and for one alone.
    let first = TestAgent::of(&made[0].1);
    remote.post(&first, "shutdown", json!({})).await;
    let mut stream = remote.stream(&first, Some("0")).await;
    stream.until("agent.ended").await;
    assert_eq!(remote.create(create_request("Hi.")).await.0, 201);
    assert_full(&remote.create(create_request("Hi.")).await.1);
}

#[tokio::test]
async fn one_key_has_a_share_of_the_places_and_takes_none_of_the_others() {
    let remote = Yard::with(Model::says(&["Hi."]), most(5, 2)).await;
    let mut keys = Vec::new();
    for _ in 0..2 {
        keys.push(remote.server.key("agents").await.key);
    }
    let create = async |key: &str| {
        let request = remote
            .request(Method::POST, "/create")
            .json(&create_request("Hi."));
        // A name means nothing to another key.
        let request = request.header(
            "idempotency-key",
            format!("n{}", remote.model.asked().len()),
        );
        answered(request.bearer_auth(key)).await
    };
    for key in &keys {
        for _ in 0..2 {
            let request = remote
                .request(Method::POST, "/create")
                .json(&create_request("Hi."));
            let (status, made) = answered(request.bearer_auth(key)).await;
            assert_eq!(status, 201, "{made}");
        }
        let (status, error) = create(key).await;
        assert_eq!(status, 503);
        assert_full(&error);
        let message = error["message"].as_str().unwrap();
        assert!(
            message.starts_with("this key has reached the limit of 2 remote agents"),
            "{error}"
        );
    }
    // The fifth place is for callers without a key; then the server is full.
    assert_eq!(remote.create(create_request("Hi.")).await.0, 201);
    let (_, error) = remote.create(create_request("Hi.")).await;
    assert_full(&error);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with("the limit of 5 remote agents is reached"),
        "{error}"
    );
}

#[tokio::test]
async fn the_owner_is_not_reported_of_a_key_that_does_not_exist() {
    let remote = Yard::with(Model::says(&["Hi."]), most(5, 1)).await;
    remote.agent("Hi.").await;
    let (_, error) = remote.create(create_request("Hi.")).await;
    assert_full(&error);
    let message = error["message"].as_str().unwrap();
    assert!(
        message.starts_with("the owner has reached the limit of 1"),
        "{error}"
    );
}

#[tokio::test]
async fn attempts_that_fail_give_their_places_back() {
    let soon = |config: &mut Config| {
        most(2, 2)(config);
        config.remote_agents.creation_timeout_seconds = 1;
    };
    let remote = Yard::with_program("sleep 60", soon).await;
    for _ in 0..2 {
        let asked = (0..4).map(|_| remote.create(create_request("Hi.")));
        let answers = futures_util::future::join_all(asked).await;
        let count = |wanted| {
            answers
                .iter()
                .filter(|(status, _)| *status == wanted)
                .count()
        };
        assert_eq!((count(408), count(503)), (2, 2), "{answers:?}");
    }
}
