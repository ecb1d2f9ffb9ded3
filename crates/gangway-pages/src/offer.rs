//! Tools as pages offer them: untrusted names, texts and schemas become tools within limits, or are refused.

use std::sync::Arc;

use gangway_core::{Tool, ToolError, ToolName, sanitize::escape_text};
use gangway_schema::{Clock, InputSchema, Unchecked};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use ts_rs::TS;
use utoipa::ToSchema;

use crate::page::ListedTool;

/// Maximum number of tools of a page.
pub const TOOLS: usize = 64;

/// Limits of one tool: characters of its name and description, bytes and nesting of its schema.
pub const NAME: usize = 128;
const DESCRIPTION: usize = 4096;
const SCHEMA: usize = 64 << 10;
const SCHEMA_DEPTH: usize = 32;

/// Bytes of all schemas of a page: they are compiled when they are offered.
const SCHEMAS: usize = 256 << 10;

/// Characters of the error message of a tool.
const REASON: usize = 2000;

/// Nesting of arguments and results: what is deeper could be logged, but not read again.
pub const DEEPEST: usize = 64;

/// A tool as its page describes it.
#[derive(Debug, Clone, PartialEq, Deserialize, ToSchema, TS)]
#[serde(rename_all = "camelCase")]
#[ts(rename = "PageTool")]
pub struct OfferedTool {
    /// Letters, digits, `_`, `-` and `.`.
    pub name: String,
    #[serde(default)]
    #[ts(as = "Option<String>", optional)]
    pub description: String,
    /// The JSON Schema of its arguments, of type object.
    #[serde(default)]
    #[ts(optional, type = "JsonValue")]
    pub input_schema: Option<Value>,
    /// Whether calls change nothing; the user is not asked about those.
    #[serde(default)]
    #[ts(as = "Option<bool>", optional)]
    pub read_only: bool,
}

/// A tool that was not accepted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema, TS)]
#[ts(rename = "RefusedPageTool")]
pub struct RefusedTool {
    pub name: String,
    /// What is wrong with it.
    pub message: String,
}

/// Why a tool of a page failed.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, ToSchema, TS)]
pub struct ToolProblem {
    #[serde(default)]
    pub message: String,
}

impl From<ToolProblem> for ToolError {
    fn from(problem: ToolProblem) -> Self {
        let message: String = problem.message.chars().take(REASON).collect();
        Self::Failed(match message.is_empty() {
            true => "the page gave no reason".to_owned(),
            false => message,
        })
    }
}

/// An accepted tool of a page.
#[derive(Debug)]
pub struct PageTool {
    pub name: String,
    pub description: String,
    pub read_only: bool,
    schema: Arc<InputSchema>,
    /// As it was offered, to see whether it changes.
    offered: OfferedTool,
}

impl PageTool {
    /// Checks a tool and makes its texts safe to show.
    pub fn new(offered: OfferedTool) -> Result<Self, String> {
        check_name(&offered.name)?;
        let mut schema = match &offered.input_schema {
            None | Some(Value::Null) => json!({ "type": "object" }),
            Some(schema) => schema.clone(),
        };
        let size = schema.to_string().len();
        if size > SCHEMA {
            return Err(format!(
                "its schema must be at most {SCHEMA} bytes, but has {size}"
            ));
        }
        if is_deeper(&schema, SCHEMA_DEPTH) {
            return Err(format!(
                "its schema must be nested at most {SCHEMA_DEPTH} levels deep"
            ));
        }
        sanitize(&mut schema);
        let schema = InputSchema::new(&schema)?;
        let description: String = offered.description.chars().take(DESCRIPTION).collect();
        Ok(Self {
            name: offered.name.clone(),
            description: escape_text(&description),
            read_only: offered.read_only,
            schema: Arc::new(schema),
            offered,
        })
    }

    /// The tool under the name of its page; `None` if that is no valid name.
    #[must_use]
    pub fn listed(&self, server: &str) -> Option<ListedTool> {
        let tool = Tool {
            name: ToolName::new(server, &self.name).ok()?,
            description: self.description.clone(),
            input_schema: self.schema.schema().clone(),
        };
        Some(ListedTool {
            tool: Arc::new(tool),
            read_only: self.read_only,
        })
    }

    /// Returns the arguments as the tool takes them.
    pub async fn check(
        &self,
        clock: &Clock,
        tool: &ToolName,
        arguments: Value,
    ) -> Result<Value, ToolError> {
        let wrong = |reason: String| ToolError::BadArguments {
            tool: tool.clone(),
            reason,
        };
        let arguments = match arguments {
            Value::Null => json!({}),
            other => other,
        };
        if is_deeper(&arguments, DEEPEST) {
            return Err(wrong(format!(
                "they must be nested at most {DEEPEST} levels deep"
            )));
        }
        let checked = clock.check(&self.schema, arguments).await;
        checked.map_err(|error| match error {
            Unchecked::Wrong(reason) => wrong(reason),
            Unchecked::Unknown(reason) => {
                ToolError::Failed(format!("{tool} cannot be called: {reason}"))
            }
        })
    }
}

fn check_name(name: &str) -> Result<(), String> {
    let plain = |c: u8| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.');
    match !name.is_empty() && name.len() <= NAME && name.bytes().all(plain) {
        true => Ok(()),
        false => Err(format!(
            "`name` must be 1 to {NAME} letters, digits, `_`, `-` or `.`"
        )),
    }
}

/// Escapes hidden characters in the texts of a schema.
fn sanitize(schema: &mut Value) {
    match schema {
        Value::Object(fields) => {
            for (key, value) in fields {
                match value {
                    Value::String(text) if matches!(key.as_str(), "description" | "title") => {
                        *text = escape_text(text);
                    }
                    inner => sanitize(inner),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(sanitize),
        _ => {}
    }
}

/// Whether a value is nested more deeply than this.
#[must_use]
pub fn is_deeper(value: &Value, left: usize) -> bool {
    match value {
        Value::Array(items) => left == 0 || items.iter().any(|item| is_deeper(item, left - 1)),
        Value::Object(fields) => {
            left == 0 || fields.values().any(|field| is_deeper(field, left - 1))
        }
        _ => false,
    }
}

/// Replaces the tools of a page: those that did not change are kept as they are.
pub(crate) fn replaced(
    before: &[Arc<PageTool>],
    offered: Vec<OfferedTool>,
) -> (Vec<Arc<PageTool>>, Vec<RefusedTool>) {
    let (mut tools, mut refused) = (Vec::<Arc<PageTool>>::new(), Vec::new());
    let mut bytes = 0;
    for one in offered {
        if refused.len() >= TOOLS {
            break;
        }
        let shown: String = one.name.chars().filter(|c| !c.is_control()).collect();
        let name = shown.chars().take(NAME).collect();
        let refuse = |message: String| refused.push(RefusedTool { name, message });
        if tools.len() >= TOOLS {
            refuse(format!("a page can offer at most {TOOLS} tools"));
            // The rest is refused by this one message.
            break;
        }
        if tools.iter().any(|tool| tool.name == one.name) {
            refuse("another tool of this page has the same name".to_owned());
            continue;
        }
        bytes += one
            .input_schema
            .as_ref()
            .map_or(0, |schema| schema.to_string().len());
        if bytes > SCHEMAS {
            refuse(format!(
                "the schemas of a page must be at most {SCHEMAS} bytes in total"
            ));
            break;
        }
        if let Some(same) = before.iter().find(|tool| tool.offered == one) {
            tools.push(Arc::clone(same));
            continue;
        }
        match PageTool::new(one) {
            Ok(tool) => tools.push(Arc::new(tool)),
            Err(message) => refuse(message),
        }
    }
    (tools, refused)
}
