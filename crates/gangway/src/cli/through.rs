//! Where a command does its work: through the server of a data folder, or on the folder itself when none runs.

use std::path::Path;

use anyhow::Context;
use serde::{Serialize, de::DeserializeOwned};

use crate::{
    data::{DataError, DataFolder, ServerNote},
    error::ApiError,
};

/// Where to work.
pub(super) enum Place {
    /// A server has the folder.
    Server(Through),
    /// The folder is ours.
    Folder(DataFolder),
}

/// A running server.
pub(super) struct Through {
    note: ServerNote,
    client: reqwest::Client,
}

impl Place {
    /// Takes the folder, or finds the server that has it.
    pub(super) fn find(data: &Path) -> anyhow::Result<Self> {
        match DataFolder::take(data) {
            Ok(folder) => Ok(Self::Folder(folder)),
            Err(DataError::InUse {
                server: Some(note), ..
            }) => {
                let client = gangway_models::http_client();
                Ok(Self::Server(Through { note, client }))
            }
            Err(error) => Err(error.into()),
        }
    }
}

impl Through {
    pub(super) async fn get<T: DeserializeOwned>(&self, path: &str) -> anyhow::Result<T> {
        let response = self.send(self.client.get(self.url(path))).await?;
        Ok(response.json().await?)
    }

    pub(super) async fn post<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
    ) -> anyhow::Result<T> {
        let response = self
            .send(self.client.post(self.url(path)).json(body))
            .await?;
        Ok(response.json().await?)
    }

    pub(super) async fn delete(&self, path: &str) -> anyhow::Result<()> {
        self.send(self.client.delete(self.url(path)))
            .await
            .map(|_| ())
    }

    fn url(&self, path: &str) -> String {
        format!("{}{path}", self.note.url)
    }

    async fn send(&self, request: reqwest::RequestBuilder) -> anyhow::Result<reqwest::Response> {
        let at = || format!("asking the server at {}", self.note.url);
        let response = request
            .bearer_auth(&self.note.token)
            .send()
            .await
            .with_context(at)?;
        if response.status().is_success() {
            return Ok(response);
        }
        let error: ApiError = response.json().await.with_context(at)?;
        anyhow::bail!("{}", error.message)
    }
}
