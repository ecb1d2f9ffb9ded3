//! Constrained answers.

use gangway_models::{Failure, ToolChoice, ToolSpec};
use serde_json::{Value, json};

use super::*;

fn weather() -> ToolSpec {
    ToolSpec {
        name: "get_weather".to_owned(),
        description: "Tells the weather in a city".to_owned(),
        parameters: json!({
            "type": "object",
            "properties": {
                "city": {"type": "string", "maxLength": 20},
                "unit": {"enum": ["celsius", "fahrenheit"]},
                "days": {"type": "integer", "minimum": 1, "maximum": 7},
            },
            "required": ["city", "unit", "days"],
            "additionalProperties": false,
        }),
    }
}

fn time() -> ToolSpec {
    ToolSpec {
        name: "get_time".to_owned(),
        description: "Tells the time".to_owned(),
        parameters: json!({"type": "object", "properties": {}, "additionalProperties": false}),
    }
}

fn with_tools(choice: ToolChoice) -> ChatRequest {
    ChatRequest {
        tools: vec![weather(), time()],
        tool_choice: choice,
        max_tokens: Some(70),
        ..question("What is the weather in Paris?")
    }
}

fn assert_fits(call: &ToolCall) {
    match call.name.as_str() {
        "get_time" => assert_eq!(call.arguments, json!({})),
        "get_weather" => {
            let fields = call.arguments.as_object().unwrap();
            assert_eq!(fields.len(), 3, "{call:?}");
            assert!(
                fields["city"]
                    .as_str()
                    .is_some_and(|city| city.chars().count() <= 20)
            );
            assert!(["celsius", "fahrenheit"].contains(&fields["unit"].as_str().unwrap()));
            assert!((1..=7).contains(&fields["days"].as_i64().unwrap()));
        }
        other => panic!("there is no tool {other}"),
    }
}

#[tokio::test]
async fn a_call_always_fits_the_schema_of_its_tool() {
    let bench = Bench::new(Settings::default());
    let named = ToolChoice::Named("get_weather".to_owned());
    let answer = bench.ask(with_tools(named)).await;
    assert_eq!(
        (answer.text.as_str(), answer.calls.len()),
        ("", 1),
        "{answer:?}"
    );
    assert_eq!(answer.calls[0].name, "get_weather");
    assert_fits(&answer.calls[0]);

    // Even at a high temperature the output is a call.
    let mut ids = vec![answer.calls[0].id.clone()];
    for seed in 0..2 {
        let request = ChatRequest {
            temperature: Some(2.0),
            top_p: Some(1.0),
            seed: Some(seed),
            ..with_tools(ToolChoice::Required)
        };
        let answer = bench.ask(request).await;
        assert_eq!(answer.text, "");
        assert!(!answer.calls.is_empty() || answer.truncated, "{answer:?}");
        for call in answer.calls {
            assert_fits(&call);
            assert!(!ids.contains(&call.id));
            ids.push(call.id);
        }
    }

    // It may write text too, and must if tools are disabled.
    for choice in [ToolChoice::Auto, ToolChoice::Never] {
        let request = ChatRequest {
            messages: vec![Message::User("What is the capital of France?".to_owned())],
            ..with_tools(choice.clone())
        };
        let answer = bench.ask(request).await;
        answer.calls.iter().for_each(assert_fits);
        assert!(choice == ToolChoice::Auto || answer.calls.is_empty());
        assert!(!answer.text.contains("<tool_call>"), "{answer:?}");
        assert!(
            !answer.calls.is_empty() || answer.text.contains("Paris"),
            "{answer:?}"
        );
    }

    // Its calls and their results are read again in the next turn.
    let call = answer.calls[0].clone();
    let mut request = with_tools(ToolChoice::Auto);
    request.messages.push(Message::Assistant {
        text: String::new(),
        calls: vec![call.clone()],
        fields: Default::default(),
    });
    request.messages.push(Message::Tool {
        call: call.id,
        name: call.name,
        content: "18 degrees and sunny".to_owned(),
        failed: false,
    });
    let answer = bench.ask(request).await;
    assert!(!answer.text.is_empty() || !answer.calls.is_empty());
}

#[tokio::test]
async fn an_answer_fits_the_schema_it_is_asked_for() {
    let bench = Bench::new(Settings::default());
    let request = ChatRequest {
        format: Some(json!({
            "type": "object",
            "properties": {"capital": {"type": "string", "maxLength": 30}, "large": {"type": "boolean"}},
            "required": ["capital", "large"],
            "additionalProperties": false,
        })),
        max_tokens: Some(100),
        ..question("What is the capital of France? Answer in JSON.")
    };
    let answer = bench.ask(request).await;
    let value: Value = serde_json::from_str(&answer.text).unwrap();
    assert!(
        value["capital"].is_string() && value["large"].is_boolean(),
        "{value}"
    );
    assert_eq!(value.as_object().unwrap().len(), 2);
}

#[tokio::test]
async fn a_schema_that_cannot_be_followed_is_an_error_and_nothing_else() {
    let bench = Bench::new(Settings::default());
    let many: Vec<Value> = (0..4000).map(|n| json!(format!("value {n}"))).collect();
    let strange = [
        json!({"type": "object", "if": {"type": "string"}}),
        json!({"type": "object", "$ref": "https://example.com/schema.json"}),
        json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "(("}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^((a{1,900}){1,900}){1,900}$"}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"$ref": "#/properties/a"}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": 5, "maximum": 1}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"enum": many}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "array", "minItems": 100_000_000, "items": {}}}, "required": ["a"]}),
        json!({"type": "object", "properties": {"a": {"type": "string", "minLength": 2_000_000_000_u32}}, "required": ["a"]}),
        // llguidance panics on this schema.
        json!({"type": "object", "properties": {"a": {"type": "integer", "minimum": -1_000_000_000_000_000_000_i64, "maximum": 1_000_000_000_000_000_007_i64, "multipleOf": 999_999_937}}, "required": ["a"]}),
    ];
    let mut refused = 0;
    for parameters in strange {
        let tool = ToolSpec {
            parameters: parameters.clone(),
            ..time()
        };
        let request = ChatRequest {
            tools: vec![tool],
            tool_choice: ToolChoice::Required,
            max_tokens: Some(8),
            ..question("Do something.")
        };
        let outcome = match bench.model.chat(request).await {
            Ok(chunks) => Answer::of(chunks).await.map(|_| ()),
            Err(error) => Err(error),
        };
        if let Err(error) = outcome {
            let askers = [Failure::BadRequest, Failure::TooLong];
            assert!(askers.contains(&error.failure), "{error}");
            assert!(error.message.contains("built-in model"), "{error}");
            assert!(
                !error.message.contains('\n') && !error.message.contains(".rs"),
                "{error}"
            );
            refused += 1;
        }
    }
    assert!(refused >= 5, "{refused}");
    let answer = bench.ask(question("What is the capital of France?")).await;
    assert!(answer.text.contains("Paris"));
}
