//! Elicitation: requests of MCP servers to the user during a call.

use std::sync::Arc;

use futures_util::future::BoxFuture;
use gangway_core::{
    AskBody, AskDecision, AskError, Asker as Who, Asks, Lane, NewAsk, Reply, sanitize::escape_text,
};
use gangway_mcp::{Asker, ElicitationAnswer, ElicitationRequest};
use gangway_schema::fits;
use serde_json::Value;

/// Maximum number of open requests of all servers.
const LIMIT: usize = 32;

/// Maximum length of a message, and size of its form.
const MESSAGE: usize = 4000;
const FORM: usize = 64 << 10;

/// Passes elicitation requests of MCP servers to the user.
pub struct Elicitation(pub Arc<Asks>);

impl Elicitation {
    async fn elicit(&self, question: ElicitationRequest) -> ElicitationAnswer {
        let ElicitationRequest {
            server,
            message,
            schema,
            url,
            caller,
        } = question;
        let web = |url: &str| url.starts_with("https://") || url.starts_with("http://");
        let bad_url = |url: &String| !web(url) || url.len() > MESSAGE;
        let form = schema.as_ref().map_or(0, |form| form.to_string().len());
        if form > FORM || url.as_ref().is_some_and(bad_url) {
            return ElicitationAnswer::Decline;
        }
        let check = {
            let schema = schema.clone();
            move |reply: &Reply| match (&schema, reply.decision) {
                (Some(schema), AskDecision::Once | AskDecision::Always) => {
                    let content = Value::Object(reply.content.clone().unwrap_or_default());
                    let checked = fits(schema, &content);
                    checked.map_err(|why| AskError::invalid(format!("`content`: {why}")))
                }
                _ => Ok(()),
            }
        };
        let has_form = schema.is_some();
        let new = NewAsk {
            asker: Who::Server(server.to_string()),
            body: AskBody::Elicitation {
                message: escape_text(&message).chars().take(MESSAGE).collect(),
                schema,
                url,
            },
            lane: Lane {
                name: "elicitation".to_owned(),
                limit: LIMIT,
                one_at_a_time: false,
            },
            timeout: None,
            hidden: false,
            // Other callers are clients of `/mcp` and sites.
            session: caller.and_then(|caller| caller.parse().ok()),
        };
        let Ok(reply) = self.0.ask(new, check).await else {
            return ElicitationAnswer::Decline;
        };
        match reply.decision {
            AskDecision::Once | AskDecision::Always if has_form => {
                ElicitationAnswer::Accept(Value::Object(reply.content.unwrap_or_default()))
            }
            AskDecision::Once | AskDecision::Always => ElicitationAnswer::Accept(Value::Null),
            AskDecision::Deny => ElicitationAnswer::Decline,
            AskDecision::Dismiss => ElicitationAnswer::Cancel,
        }
    }
}

impl Asker for Elicitation {
    fn ask(&self, question: ElicitationRequest) -> BoxFuture<'_, ElicitationAnswer> {
        Box::pin(self.elicit(question))
    }
}
