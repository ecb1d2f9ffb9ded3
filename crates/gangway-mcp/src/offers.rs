//! Resources and prompts of servers.

use gangway_core::ToolError;
use rmcp::{
    model::{
        ClientRequest, CompleteRequest, CompleteRequestParams, GetPromptRequest,
        GetPromptRequestParams, ListPromptsRequest, ListResourceTemplatesRequest,
        ListResourcesRequest, PaginatedRequestParams, ReadResourceRequest,
        ReadResourceRequestParams, RequestOptionalParam,
    },
    service::ServiceError,
};
use serde_json::{Map, Value, json};

use crate::{host::Host, journal::cut, spec::ServerId};

/// Pages of a list that are requested.
const MAX_PAGES: usize = 20;

/// Bytes of all pages of a list.
const MAX_BYTES: usize = 16 << 20;

impl Host {
    /// The resources and templates of a server, unchanged: `{resources, resourceTemplates}`.
    pub async fn resources(&self, server: &ServerId) -> Result<Value, ToolError> {
        let resources = self.pages(server, "resources", |page| {
            let request: ListResourcesRequest = RequestOptionalParam::with_param(page);
            ClientRequest::ListResourcesRequest(request)
        });
        let resources = resources.await?;
        let templates = self.pages(server, "resourceTemplates", |page| {
            let request: ListResourceTemplatesRequest = RequestOptionalParam::with_param(page);
            ClientRequest::ListResourceTemplatesRequest(request)
        });
        // Few servers have templates, and others may not know the method.
        let templates = templates.await.unwrap_or_default();
        Ok(json!({"resources": resources, "resourceTemplates": templates}))
    }

    /// The contents of a resource, unchanged.
    pub async fn read_resource(&self, server: &ServerId, uri: &str) -> Result<Value, ToolError> {
        let request = ReadResourceRequest::new(ReadResourceRequestParams::new(uri));
        let request = ClientRequest::ReadResourceRequest(request);
        self.ask(server, request).await
    }

    /// The prompts of a server, unchanged.
    pub async fn prompts(&self, server: &ServerId) -> Result<Vec<Value>, ToolError> {
        let prompts = self.pages(server, "prompts", |page| {
            let request: ListPromptsRequest = RequestOptionalParam::with_param(page);
            ClientRequest::ListPromptsRequest(request)
        });
        prompts.await
    }

    /// A prompt with its arguments filled in, unchanged: `{description?, messages}`.
    pub async fn get_prompt(
        &self,
        server: &ServerId,
        name: &str,
        arguments: Map<String, Value>,
    ) -> Result<Value, ToolError> {
        let params = GetPromptRequestParams::new(name).with_arguments(arguments);
        let request = ClientRequest::GetPromptRequest(GetPromptRequest::new(params));
        self.ask(server, request).await
    }

    /// Completions of an argument of a prompt or resource template, unchanged: `{completion}`.
    pub async fn complete(
        &self,
        server: &ServerId,
        params: CompleteRequestParams,
    ) -> Result<Value, ToolError> {
        let request = ClientRequest::CompleteRequest(CompleteRequest::new(params));
        self.ask(server, request).await
    }

    async fn pages(
        &self,
        server: &ServerId,
        key: &str,
        request: impl Fn(PaginatedRequestParams) -> ClientRequest,
    ) -> Result<Vec<Value>, ToolError> {
        let mut all = Vec::new();
        let (mut cursor, mut bytes) = (None, 0);
        for _ in 0..MAX_PAGES {
            let page = PaginatedRequestParams::default().with_cursor(cursor);
            let mut page = self.ask(server, request(page)).await?;
            if let Value::Array(items) = page[key].take() {
                bytes += items
                    .iter()
                    .map(|item| item.to_string().len())
                    .sum::<usize>();
                all.extend(items);
            }
            if bytes > MAX_BYTES {
                let message = format!("{server} lists more than {MAX_BYTES} bytes of {key}");
                return Err(ToolError::Failed(message));
            }
            cursor = page["nextCursor"].as_str().map(str::to_owned);
            if cursor.is_none() {
                break;
            }
        }
        Ok(all)
    }

    /// A request to a server, with the timeout of a call.
    async fn ask(&self, id: &ServerId, request: ClientRequest) -> Result<Value, ToolError> {
        let gone = |what: &str| ToolError::Unavailable(format!("{id} {what}"));
        let server = self.server(id.as_str()).ok_or_else(|| gone("not found"))?;
        let live = self.wait_for(&server).await?;
        let _working = live.handler.working(None);
        let limit = server.spec.timeout.unwrap_or(self.settings.call_timeout);
        let answer = tokio::select! {
            answer = tokio::time::timeout(limit, live.peer.send_request(request)) => answer,
            () = live.gone.cancelled() => return Err(gone("disconnected")),
        };
        match answer {
            Err(_) => Err(gone("did not answer in time")),
            Ok(Ok(result)) => Ok(serde_json::to_value(result).unwrap_or_default()),
            Ok(Err(ServiceError::McpError(error))) => {
                Err(ToolError::Failed(cut(&error.message, 4096)))
            }
            Ok(Err(_)) => Err(gone("could not be reached")),
        }
    }
}
