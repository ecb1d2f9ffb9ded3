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

use crate::{Validator, checker, fitting, normal, refers};

/// A thousand times what normal arguments take.
const LIMIT: Duration = Duration::from_secs(2);

/// The schema of a tool's arguments, ready to validate.
#[derive(Debug)]
pub struct InputSchema {
    schema: Value,
    validator: Validator,
    /// Whether the schema has references, so that the work of a validation has no bound.
    refers: bool,
}

impl InputSchema {
    /// Reads a schema as an MCP server or a page wrote it; an error says why arguments cannot be validated against it.
    pub fn new(raw: &Value) -> Result<Self, String> {
        let schema = normal(raw)?;
        let validator = checker(&schema)?;
        let refers = refers(&schema);
        Ok(Self {
            schema,
            validator,
            refers,
        })
    }

    /// The schema as models want it.
    #[must_use]
    pub fn schema(&self) -> &Value {
        &self.schema
    }
}

/// Whether a validation of this server's or page's schemas ever timed out. A thread cannot be killed, so there is at
/// most one such thread for each of them.
#[derive(Debug, Default)]
pub struct Clock(AtomicBool);

/// Why arguments are not passed on.
#[derive(Debug, PartialEq, Eq)]
pub enum Unchecked {
    /// They do not match the schema.
    Wrong(String),
    /// They could not be checked.
    Unknown(String),
}

impl Clock {
    /// Returns the arguments as the tool takes them.
    pub async fn check(
        &self,
        schema: &Arc<InputSchema>,
        arguments: Value,
    ) -> Result<Value, Unchecked> {
        if !schema.refers {
            return fitting(&schema.validator, arguments).map_err(Unchecked::Wrong);
        }
        let too_long = || {
            let seconds = LIMIT.as_secs();
            let message = format!(
                "validating arguments against its server's schemas took more than {seconds} seconds"
            );
            Unchecked::Unknown(message)
        };
        if self.0.load(Ordering::Relaxed) {
            return Err(too_long());
        }
        let (answer, checked) = oneshot::channel();
        let schema = Arc::clone(schema);
        // A recursive schema can make ten bytes of arguments the work of years, and nothing else may wait for that.
        std::thread::spawn(move || {
            let _ = answer.send(fitting(&schema.validator, arguments));
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

    fn listed(input: Value) -> Arc<InputSchema> {
        Arc::new(InputSchema::new(&input).unwrap())
    }

    #[tokio::test(start_paused = true)]
    async fn a_check_that_takes_too_long_times_out_and_is_not_retried() {
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
