//! Chat completions, complete or streamed.

use std::{convert::Infallible, sync::Arc};

use axum::{
    Json,
    body::Body,
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use futures_util::{StreamExt, TryStreamExt, stream};
use gangway_http::{error::ApiResult, extract};
use gangway_models::{ChatChunk, ChatStream, ModelError, Provider, registry::Registry};

use super::{
    decode,
    encode::Encoder,
    error::from_model,
    wire::{ChatCompletion, Completion, ErrorBody},
};

/// Create a chat completion
#[utoipa::path(post, path = "/v1/chat/completions", tag = "openai", request_body = ChatCompletion, responses(
    (status = 200, description = "The completion; server-sent events of chunks if `stream` is true", body = Completion),
    (status = 400, description = "Invalid request", body = ErrorBody),
    (status = 404, description = "Model not found", body = ErrorBody),
    (status = 429, description = "Rate limit of the provider", body = ErrorBody),
    (status = 502, description = "The model failed", body = ErrorBody),
    (status = 503, description = "The provider is unavailable", body = ErrorBody),
    (status = 504, description = "Timeout of the provider", body = ErrorBody),
))]
pub async fn complete(
    State(registry): State<Arc<Registry>>,
    extract::Json(params): extract::Json<ChatCompletion>,
) -> ApiResult<Response> {
    let streams = params.stream.unwrap_or_default();
    let with_usage = params
        .stream_options
        .as_ref()
        .is_some_and(|o| o.include_usage);
    let one_call = params.parallel_tool_calls == Some(false);
    let request = decode::request(params)?;
    let encoder = Encoder::new(request.model.clone(), with_usage);
    let mut chunks = registry.chat(request).await.map_err(from_model)?;
    if one_call {
        chunks = only_first_call(chunks);
    }
    if !streams {
        let chunks = chunks.try_collect().await.map_err(from_model)?;
        return Ok(Json(encoder.whole(chunks)).into_response());
    }
    // An error before the first token still gets its own status.
    let mut chunks = chunks.fuse();
    let first = chunks.next().await.transpose().map_err(from_model)?;
    let rest = stream::iter(first.map(Ok)).chain(chunks);
    let state = (rest.boxed(), encoder, false);
    let body = stream::unfold(state, |(mut rest, mut encoder, over)| async move {
        if over {
            return None;
        }
        loop {
            let (bytes, over) = match rest.next().await {
                Some(chunk) => {
                    let failed = chunk.is_err();
                    (encoder.encode(chunk), failed)
                }
                None => (encoder.end(), true),
            };
            if !bytes.is_empty() {
                return Some((Ok::<_, Infallible>(bytes), (rest, encoder, over)));
            }
        }
    });
    let kind = [
        (header::CONTENT_TYPE, "text/event-stream; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
    ];
    Ok((kind, Body::from_stream(body)).into_response())
}

/// Not every provider supports limiting the calls; a client that accepts only one gets the first.
fn only_first_call(chunks: ChatStream<'static>) -> ChatStream<'static> {
    let mut called = false;
    let first = move |chunk: &Result<ChatChunk, ModelError>| {
        let another = called && matches!(chunk, Ok(ChatChunk::ToolCall(_)));
        called |= matches!(chunk, Ok(ChatChunk::ToolCall(_)));
        std::future::ready(!another)
    };
    chunks.filter(first).boxed()
}
