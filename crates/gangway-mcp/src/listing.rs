//! The tools of one server, parsed leniently: an invalid one does not affect the others.

use std::{collections::HashMap, sync::Arc};

use gangway_core::{Tool, ToolName};
use gangway_schema::{InputSchema, normal, required_defaults};
use rmcp::{
    Peer, RoleClient,
    model::{
        ClientRequest, ListToolsRequest, PaginatedRequestParams, RequestOptionalParam, ServerResult,
    },
    service::ServiceError,
};
use serde_json::{Map, Value};

use crate::{
    journal::{Journal, cut},
    spec::ServerId,
};

/// Bytes of a description: models pay for each of them.
const MAX_DESCRIPTION: usize = 16 * 1024;

/// Bytes of all tools of a server, many times the largest one seen in the wild.
const MAX_BYTES: usize = 8 << 20;

/// Pages of a list that are requested.
const MAX_PAGES: usize = 100;

/// A tool as its server lists it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedTool {
    pub tool: Arc<Tool>,
    /// The display name.
    pub title: Option<String>,
    /// `readOnlyHint`, `destructiveHint` and others: claims of the server.
    pub annotations: Value,
    pub output_schema: Option<Value>,
    /// Why it cannot be called.
    pub unusable: Option<String>,
    /// Whether it is for models, and not only for a page of its server.
    pub for_models: bool,
}

/// A tool that names no audience is for models, too.
fn is_for_models(raw: &Value) -> bool {
    let visibility = raw["_meta"]["ui"]["visibility"].as_array();
    visibility.is_none_or(|who| who.iter().any(|one| one == "model"))
}

/// A tool with its validator.
pub(crate) struct ValidatedTool {
    pub(crate) entry: ListedTool,
    pub(crate) raw: Value,
    /// `None` if the schema is invalid.
    pub(crate) checker: Option<Arc<InputSchema>>,
    /// Defaults of required parameters; filled in when a caller omits them.
    pub(crate) defaults: Map<String, Value>,
}

/// All tools of one server, in its order.
#[derive(Default)]
pub(crate) struct Listing {
    pub(crate) tools: Vec<Arc<ValidatedTool>>,
    by_name: HashMap<String, usize>,
}

impl Listing {
    pub(crate) async fn fetch(
        peer: &Peer<RoleClient>,
        most: usize,
    ) -> Result<Vec<Value>, ServiceError> {
        let mut tools = Vec::new();
        let (mut cursor, mut bytes, mut weighed) = (None, 0, 0);
        for _ in 0..MAX_PAGES {
            let params = PaginatedRequestParams::default().with_cursor(cursor);
            let request: ListToolsRequest = RequestOptionalParam::with_param(params);
            let request = ClientRequest::ListToolsRequest(request);
            cursor = match peer.send_request(request).await? {
                ServerResult::ListToolsResult(page) => {
                    tools.extend(
                        page.tools
                            .iter()
                            .map(|t| serde_json::to_value(t).unwrap_or_default()),
                    );
                    page.next_cursor
                }
                // One invalid tool makes the whole list an unknown result.
                ServerResult::CustomResult(page) => {
                    let Some(Value::Array(more)) = page.0.get("tools") else {
                        return Err(ServiceError::UnexpectedResponse);
                    };
                    tools.extend(more.iter().cloned());
                    page.0["nextCursor"].as_str().map(str::to_owned)
                }
                _ => return Err(ServiceError::UnexpectedResponse),
            };
            bytes += tools[weighed..].iter().map(size).sum::<usize>();
            weighed = tools.len();
            if cursor.is_none() || tools.len() > most || bytes > MAX_BYTES {
                break;
            }
        }
        Ok(tools)
    }

    /// Parses the tools; unchanged ones are reused.
    pub(crate) fn read(
        server: &ServerId,
        tools: Vec<Value>,
        most: usize,
        before: &Self,
        journal: &Journal,
    ) -> Self {
        let mut listing = Self::default();
        if tools.len() > most {
            journal.host(format!("only the first {most} of its tools are listed"));
        }
        let mut bytes = 0;
        for mut raw in tools.into_iter().take(most) {
            if let Some(Value::String(text)) = raw.get_mut("description") {
                *text = cut(text, MAX_DESCRIPTION);
            }
            bytes += size(&raw);
            if bytes > MAX_BYTES {
                let listed = listing.tools.len();
                journal.host(format!(
                    "only {listed} of its tools are listed: together they have more than {MAX_BYTES} bytes"
                ));
                break;
            }
            let own = raw["name"].as_str().unwrap_or_default();
            let name = match ToolName::new(server.as_str(), own) {
                Ok(name) => name,
                Err(error) => {
                    journal.host(format!("ignored a tool: {error}"));
                    continue;
                }
            };
            if listing.by_name.contains_key(own) {
                journal.host(format!("ignored a second tool named {own:?}"));
                continue;
            }
            let listed = match before.get(own).filter(|old| old.raw == raw) {
                Some(old) => old.clone(),
                None => Arc::new(ValidatedTool::new(name, raw.clone(), journal)),
            };
            listing.by_name.insert(own.to_owned(), listing.tools.len());
            listing.tools.push(listed);
        }
        listing
    }

    pub(crate) fn get(&self, own: &str) -> Option<&Arc<ValidatedTool>> {
        self.by_name.get(own).map(|&at| &self.tools[at])
    }
}

fn size(tool: &Value) -> usize {
    tool.to_string().len()
}

impl ValidatedTool {
    fn new(name: ToolName, raw: Value, journal: &Journal) -> Self {
        let text = |key: &str| raw[key].as_str();
        let checker = InputSchema::new(&raw["inputSchema"]);
        let unusable = checker.as_ref().err().cloned();
        if let Some(reason) = &unusable {
            journal.host(format!("{name} cannot be called: {reason}"));
        }
        let title = text("title").or_else(|| raw["annotations"]["title"].as_str());
        let entry = ListedTool {
            title: title.map(str::to_owned),
            annotations: raw["annotations"].clone(),
            output_schema: raw.get("outputSchema").cloned(),
            unusable,
            for_models: is_for_models(&raw),
            tool: Arc::new(Tool {
                name,
                description: text("description").unwrap_or_default().to_owned(),
                input_schema: match &checker {
                    Ok(checker) => checker.schema().clone(),
                    // What is only invalid can still be shown.
                    Err(_) => normal(&raw["inputSchema"])
                        .unwrap_or_else(|_| serde_json::json!({"type": "object"})),
                },
            }),
        };
        Self {
            defaults: required_defaults(&raw["inputSchema"]),
            entry,
            raw,
            checker: checker.ok().map(Arc::new),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_broken_tool_or_a_second_one_of_a_name_does_not_harm_the_others() {
        let journal = Journal::new(100);
        let server: ServerId = "s".parse().unwrap();
        let object = json!({"type": "object"});
        let tools = vec![
            json!({"name": "a/b", "description": "first", "inputSchema": object}),
            json!({"name": "a/b", "description": "second", "inputSchema": object}),
            json!({"name": "broken", "inputSchema": {"type": "object", "properties": 7}}),
            json!({"name": "none", "inputSchema": true}),
            json!({"name": 7}),
            json!("tool"),
            json!({"name": "last", "inputSchema": {}}),
        ];
        let listing = Listing::read(&server, tools.clone(), 10, &Listing::default(), &journal);
        let names: Vec<(String, bool)> = listing
            .tools
            .iter()
            .map(|t| (t.entry.tool.name.to_string(), t.entry.unusable.is_none()))
            .collect();
        let expected = [
            ("s/a/b", true),
            ("s/broken", false),
            ("s/none", false),
            ("s/last", true),
        ];
        assert_eq!(
            names,
            expected.map(|(name, usable)| (name.to_owned(), usable))
        );
        assert_eq!(listing.get("a/b").unwrap().entry.tool.description, "first");
        let texts = journal.after(0);
        assert!(
            texts
                .iter()
                .any(|l| l.text.contains("a second tool named \"a/b\""))
        );
        let again = Listing::read(&server, tools, 2, &listing, &journal);
        assert!(Arc::ptr_eq(
            again.get("a/b").unwrap(),
            listing.get("a/b").unwrap()
        ));
        assert!(again.get("last").is_none());
    }

    #[test]
    fn tools_without_measure_are_left_out_and_a_long_description_is_cut_for_everyone() {
        let journal = Journal::new(100);
        let server: ServerId = "s".parse().unwrap();
        let object = json!({"type": "object"});
        let fat = json!({"type": "object", "x": "y".repeat(5 << 20)});
        let tools = vec![
            json!({"name": "wordy", "description": "w".repeat(1 << 20), "inputSchema": object}),
            json!({"name": "first", "inputSchema": object, "outputSchema": fat}),
            json!({"name": "second", "inputSchema": object, "outputSchema": fat}),
        ];
        let listing = Listing::read(&server, tools, 10, &Listing::default(), &journal);
        assert!(listing.get("first").is_some() && listing.get("second").is_none());
        let wordy = listing.get("wordy").unwrap();
        assert!(size(&wordy.raw) < 2 * MAX_DESCRIPTION);
        assert_eq!(wordy.raw["description"], wordy.entry.tool.description);
        let texts = journal.after(0);
        assert!(
            texts
                .iter()
                .any(|l| l.text.starts_with("only 2 of its tools"))
        );
    }
}
