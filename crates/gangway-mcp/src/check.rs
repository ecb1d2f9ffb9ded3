//! Validates arguments against the schema of a tool, with a timeout.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use serde_json::Value;
use tokio::sync::oneshot;

use crate::{listing::Listed, schema};

/// A thousand times what normal arguments take.
const LIMIT: Duration = Duration::from_secs(2);

/// Whether a validation of this server's schemas ever timed out. A thread cannot be killed, so there is at most one
/// such thread per server.
#[derive(Debug, Default)]
pub(crate) struct Clock(AtomicBool);

#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Unchecked {
    /// They do not match the schema.
    Wrong(String),
    /// They could not be checked.
    Unknown(String),
}

impl Clock {
    /// Returns the arguments as the tool takes them.
    pub(crate) async fn check(
        &self,
        tool: &Arc<Listed>,
        arguments: Value,
    ) -> Result<Value, Unchecked> {
        let Some(checker) = &tool.checker else {
            let reason = tool.entry.unusable.clone().unwrap_or_default();
            return Err(Unchecked::Unknown(reason));
        };
        if !tool.refers {
            return schema::fitting(checker, arguments).map_err(Unchecked::Wrong);
        }
        let too_long = || {
            let seconds = LIMIT.as_secs();
            let words = format!(
                "validating arguments against its server's schemas took more than {seconds} seconds"
            );
            Unchecked::Unknown(words)
        };
        if self.0.load(Ordering::Relaxed) {
            return Err(too_long());
        }
        let (answer, checked) = oneshot::channel();
        let tool = Arc::clone(tool);
        // A recursive schema can make ten bytes of arguments the work of years, and nothing else may wait for that.
        std::thread::spawn(move || {
            let fitting = tool
                .checker
                .as_ref()
                .map(|checker| schema::fitting(checker, arguments));
            let _ = fitting.map(|fitting| answer.send(fitting));
        });
        match tokio::time::timeout(LIMIT, checked).await {
            Ok(Ok(fitting)) => fitting.map_err(Unchecked::Wrong),
            Ok(Err(_)) | Err(_) => {
                self.0.store(true, Ordering::Relaxed);
                Err(too_long())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{journal::Journal, listing::Listing};

    fn listed(input: Value) -> Arc<Listed> {
        let tools = vec![json!({ "name": "t", "inputSchema": input })];
        let server = "s".parse().unwrap();
        let listing = Listing::read(&server, tools, 1, &Listing::default(), &Journal::new(10));
        Arc::clone(listing.get("t").unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_takes_too_long_is_given_up_and_not_tried_again() {
        // Each level of the arguments is checked three hundred times as often as the one above.
        let again = json!({ "properties": { "a": { "$ref": "#" } } });
        let heavy = listed(json!({ "type": "object", "allOf": vec![again; 300] }));
        let clock = Clock::default();
        let nested = json!({ "a": { "a": { "a": { "a": {} } } } });
        let given_up = clock.check(&heavy, nested).await.unwrap_err();
        assert!(matches!(given_up, Unchecked::Unknown(_)));
        assert_eq!(clock.check(&heavy, json!({})).await, Err(given_up));
        // Schemas without references need no timeout.
        let plain = listed(json!({ "type": "object", "required": ["x"] }));
        assert!(clock.check(&plain, json!({ "x": 1 })).await.is_ok());
        let wrong = clock.check(&plain, json!({})).await;
        assert!(matches!(wrong, Err(Unchecked::Wrong(_))));
    }

    #[tokio::test]
    async fn an_honest_schema_of_a_tree_is_checked() {
        let tree = listed(json!({ "type": "object", "properties": {
            "next": { "$ref": "#" }, "n": { "type": "integer" } } }));
        let clock = Clock::default();
        let good = json!({ "next": { "n": 1 } });
        assert_eq!(clock.check(&tree, good.clone()).await, Ok(good));
        let wrong = clock.check(&tree, json!({ "next": { "n": "x" } })).await;
        assert!(matches!(wrong, Err(Unchecked::Wrong(why)) if why.contains("/next/n")));
    }
}
