//! Constrains answers: tool calls by their input schemas, or answers by a schema.

use gangway_models::{ChatRequest, ModelError, ToolChoice, ToolSpec};
use llguidance::{
    Matcher, ParserFactory,
    api::{GrammarInit, ParserLimits, TopLevelGrammar},
};
use serde_json::{Value, json};

use crate::conversation::{CALL, CALL_END, callable};

/// Maximum length of a schema. Schemas are untrusted, and each has to be compiled.
const SCHEMA: usize = 64 * 1024;
/// Maximum total length of a request's schemas.
const SCHEMAS: usize = 256 * 1024;
/// Maximum nesting of a schema; the compiler is recursive.
const DEPTH: usize = 40;
/// Maximum number of calls in an answer.
const CALLS: usize = 8;

/// Limits the cost of schemas: about 20 ms to compile the texts, and about 10 ms for each token.
pub(crate) fn limit(limits: &mut ParserLimits) {
    limits.initial_lexer_fuel = 1_000_000;
    limits.step_lexer_fuel = 150_000;
    limits.step_max_items = 50_000;
    limits.max_items_in_row = 1_000;
    limits.max_lexer_states = 50_000;
    limits.max_grammar_size = 100_000;
    // They would contain message contents.
    limits.verbose_errors = false;
}

/// The constraint of this request, if any.
pub(crate) fn matcher<'a>(
    request: &ChatRequest,
    guide: impl FnOnce() -> Result<&'a ParserFactory, ModelError>,
) -> Result<Option<Matcher>, ModelError> {
    let Some(grammar) = grammar(request)? else {
        return Ok(None);
    };
    let init = GrammarInit::Serialized(TopLevelGrammar::from_lark(grammar));
    let matcher = Matcher::new(guide()?.create_parser_from_init_default(init));
    match matcher.get_error() {
        None => Ok(Some(matcher)),
        Some(error) => Err(blame(request, &error)),
    }
}

/// Names the schema that the built-in model cannot follow.
fn blame(request: &ChatRequest, error: &str) -> ModelError {
    let what = match (&request.format, callable(request).as_slice()) {
        (Some(_), []) => "the answer's schema".to_owned(),
        (None, [tool]) => format!("the schema of the tool {}", tool.name),
        _ => "one of the tools' schemas".to_owned(),
    };
    let reason = first_line(error);
    ModelError {
        details: Some(reason.clone()),
        ..ModelError::bad_request(format!("The built-in model cannot follow {what}: {reason}"))
    }
}

/// The first line of llguidance's error; after a panic, the others are places in its source.
pub(crate) fn first_line(error: &str) -> String {
    let line = error.lines().next().unwrap_or_default();
    line.trim().chars().take(300).collect()
}

/// The grammar of the answer in llguidance's dialect of Lark.
fn grammar(request: &ChatRequest) -> Result<Option<String>, ModelError> {
    let tools = callable(request);
    match &request.tool_choice {
        ToolChoice::Named(name) if tools.is_empty() => {
            return Err(ModelError::bad_request(format!(
                "`tool_choice` names {name}, which is not among the tools."
            )));
        }
        ToolChoice::Required if tools.is_empty() => {
            return Err(ModelError::bad_request(
                "`tool_choice` requires a tool, but there are none.",
            ));
        }
        _ => {}
    }
    let mut size = 0;
    let answer = match &request.format {
        Some(schema) => Some(form("The answer's schema", schema, false, &mut size)?),
        None => None,
    };
    if tools.is_empty() {
        return Ok(answer.map(|answer| format!("start: %json {answer}\n")));
    }
    let mut lines = vec![match (&request.tool_choice, answer) {
        (ToolChoice::Named(_), _) => format!("start: {} call", quoted(CALL)),
        (ToolChoice::Required, _) => format!("start: {} calls", quoted(CALL)),
        (_, Some(answer)) => format!(
            "start: answer | {} calls\nanswer: %json {answer}",
            quoted(CALL)
        ),
        // A lazy rule ends at the first marker, so that text and calls cannot be confused.
        (_, None) => format!(
            "start: TEXT | before calls\nbefore[lazy]: TEXT {}\nTEXT: /(\\n|.)*/",
            quoted(CALL)
        ),
    }];
    lines.push(format!("calls: call more{{0,{}}}", CALLS - 1));
    lines.push(format!("more: \"\\n\"? {} call", quoted(CALL)));
    let each: Vec<String> = (0..tools.len())
        .map(|number| format!("call_{number}"))
        .collect();
    lines.push(format!("call: ({}) {}", each.join(" | "), quoted(CALL_END)));
    for (number, tool) in tools.iter().enumerate() {
        let schema = parameters(tool, &mut size)?;
        let start = format!(
            "{{\"name\": {}, \"arguments\": ",
            Value::from(tool.name.as_str())
        );
        lines.push(format!(
            "call_{number}: {} args_{number} \"}}\"",
            quoted(&start)
        ));
        lines.push(format!("args_{number}: %json {schema}"));
    }
    Ok(Some(lines.join("\n")))
}

fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// A tool's schema, always of type object.
fn parameters(tool: &ToolSpec, size: &mut usize) -> Result<Value, ModelError> {
    let what = format!("The schema of the tool {}", tool.name);
    let schema = match &tool.parameters {
        Value::Null | Value::Bool(true) => json!({}),
        schema => schema.clone(),
    };
    form(&what, &schema, true, size)
}

/// A schema within the limits, with our JSON formatting.
fn form(what: &str, schema: &Value, object: bool, size: &mut usize) -> Result<Value, ModelError> {
    let refused = |why: &str| Err(ModelError::bad_request(format!("{what} {why}.")));
    let Value::Object(fields) = schema else {
        return refused("is not an object");
    };
    if depth(schema) > DEPTH {
        return refused("is nested too deeply");
    }
    let length = schema.to_string().len();
    *size += length;
    if length > SCHEMA || *size > SCHEMAS {
        return refused("is too long for the built-in model");
    }
    let mut fields = fields.clone();
    if object {
        let kind = fields.entry("type").or_insert_with(|| json!("object"));
        if kind != "object" {
            return refused("is not of type object");
        }
    }
    // Overrides the schema's own setting: one format, since small models get lost in free white space.
    let spelling = json!({
        "whitespace_flexible": false,
        "key_separator": ": ",
        "item_separator": ", ",
    });
    fields.insert("x-guidance".to_owned(), spelling);
    Ok(Value::Object(fields))
}

fn depth(value: &Value) -> usize {
    let mut deepest = 0;
    let mut left = vec![(value, 1)];
    while let Some((value, depth)) = left.pop() {
        deepest = deepest.max(depth);
        match value {
            Value::Array(items) => left.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(fields) => left.extend(fields.values().map(|field| (field, depth + 1))),
            _ => {}
        }
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn request(parameters: Value, choice: ToolChoice) -> ChatRequest {
        ChatRequest {
            tools: vec![ToolSpec {
                name: "weather".to_owned(),
                description: String::new(),
                parameters,
            }],
            tool_choice: choice,
            ..ChatRequest::default()
        }
    }

    fn refusal(request: &ChatRequest) -> String {
        grammar(request).map_or_else(|error| error.message, |_| String::new())
    }

    #[test]
    fn without_tools_and_schema_there_is_no_form() {
        assert_eq!(grammar(&ChatRequest::default()), Ok(None));
        assert_eq!(grammar(&request(json!({}), ToolChoice::Never)), Ok(None));
    }

    #[test]
    fn a_tool_that_must_be_called_has_to_be_there() {
        let named = request(json!({}), ToolChoice::Named("tides".to_owned()));
        assert!(refusal(&named).contains("tides"));
        let none = ChatRequest {
            tool_choice: ToolChoice::Required,
            ..ChatRequest::default()
        };
        assert!(refusal(&none).contains("none"));
    }

    #[test]
    fn schemas_that_are_too_much_are_refused() {
        let refused = |schema: Value| refusal(&request(schema, ToolChoice::Auto));
        assert!(refused(json!([])).contains("not an object"));
        assert!(refused(json!({"type": "string"})).contains("not of type object"));
        assert!(refused(json!({"title": "x".repeat(SCHEMA)})).contains("too long"));
        let deep = (0..DEPTH).fold(json!({}), |inner, _| json!({"not": inner}));
        assert!(refused(deep).contains("too deep"));
    }

    /// Whether a vocabulary of single bytes can produce this answer, and whether it may end there.
    fn takes(request: &ChatRequest, answer: &str) -> (bool, bool) {
        let vocabulary = llguidance::toktrie::ApproximateTokEnv::single_byte_env();
        let mut guide = ParserFactory::new_simple(&vocabulary).unwrap();
        limit(guide.quiet().limits_mut());
        let mut matcher = matcher(request, || Ok(&guide)).unwrap().unwrap();
        let tokens: Vec<u32> = answer.bytes().map(u32::from).collect();
        let taken = matcher.try_consume_tokens(&tokens).unwrap();
        let ends = matcher.is_stopped() || matcher.is_accepting().unwrap();
        (taken == tokens.len(), ends)
    }

    #[test]
    fn an_answer_is_text_or_calls_that_fit_and_text_may_come_before_them() {
        let city = json!({
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": false,
        });
        let call = r#"<tool_call>{"name": "weather", "arguments": {"city": "Kiel"}}</tool_call>"#;
        let auto = request(city.clone(), ToolChoice::Auto);
        let must = request(city.clone(), ToolChoice::Required);
        let named = request(city, ToolChoice::Named("weather".to_owned()));
        for text in ["It rains.\n<b>1 < 2</b> é", "", "<tool_cal"] {
            assert_eq!(takes(&auto, text), (true, true), "{text}");
        }
        assert!(!takes(&must, "It rains").0 && !takes(&must, "").1);
        for tools in [&auto, &must, &named] {
            assert_eq!(takes(tools, call), (true, true));
            assert!(!takes(tools, &call.replace("weather", "tides")).0);
            assert!(!takes(tools, &call.replace("city", "town")).0);
            assert!(!takes(tools, &call.replace("\"Kiel\"", "7")).0);
            assert!(
                !takes(tools, &call[..call.len() - 1]).1,
                "it ends with its mark"
            );
        }
        assert_eq!(takes(&auto, &format!("Let me look. {call}")), (true, true));
        assert_eq!(takes(&must, &format!("{call}\n{call}")), (true, true));
        assert!(
            !takes(&named, &format!("{call}\n{call}")).0,
            "one was asked for"
        );
        assert!(!takes(&must, &format!("{call} Well.")).0);
    }

    #[test]
    fn with_a_schema_the_answer_fits_it_or_is_a_call() {
        let mut asked = request(json!({}), ToolChoice::Auto);
        asked.format = Some(json!({"type": "array", "items": {"type": "integer"}}));
        assert_eq!(takes(&asked, "[1, 2]"), (true, true));
        assert!(!takes(&asked, "One").0);
        let call = r#"<tool_call>{"name": "weather", "arguments": {}}</tool_call>"#;
        assert_eq!(takes(&asked, call), (true, true));
        asked.tools.clear();
        assert_eq!(takes(&asked, "[]"), (true, true));
        assert!(!takes(&asked, call).0);
    }

    #[test]
    fn a_stranger_cannot_set_how_the_form_is_kept() {
        let schema = json!({"x-guidance": {"lenient": true}});
        let grammar = grammar(&request(schema, ToolChoice::Required));
        assert!(grammar.is_ok_and(|grammar| grammar.is_some_and(|g| !g.contains("lenient"))));
    }
}
