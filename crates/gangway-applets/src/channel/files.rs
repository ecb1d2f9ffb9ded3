//! Files of the session's folder over the channel.

use std::sync::Arc;

use axum::extract::ws::Message;
use base64::{Engine, prelude::BASE64_STANDARD};
use bytes::Bytes;
use gangway_files::{FileError, FilePath, Stat, Utf8Pieces};
use serde_json::Value;
use tokio_util::task::AbortOnDropHandle;

use super::{
    Channel, RequestError,
    outbox::{Outbox, message},
};
use crate::wire::channel::{AppletClientMessage, AppletFile, AppletServerMessage, Encoding};

/// Chunk size: large enough to be fast, small enough to interleave with other messages.
const PIECE: usize = 128 << 10;

/// Maximum number of listed entries.
const LISTED: usize = 5000;

impl From<FileError> for RequestError {
    fn from(error: FileError) -> Self {
        Self::new(error.code(), error.to_string())
    }
}

impl Channel {
    pub(super) async fn use_files(
        &self,
        id: &Option<Value>,
        ask: AppletClientMessage,
    ) -> Result<(), RequestError> {
        let (folder, out) = (self.folder().await?, &*self.out);
        let answers = id.clone().unwrap_or_default();
        match ask {
            AppletClientMessage::ReadFile {
                path,
                binary,
                offset,
                length,
            } => {
                let path: FilePath = path.parse()?;
                let read = folder.read(&path, offset.unwrap_or(0), length).await?;
                match binary {
                    true => send_bytes(out, answers, &path, read).await,
                    false => send_text(out, answers, &path, read).await,
                }
            }
            AppletClientMessage::WriteFile {
                path,
                content,
                encoding,
            } => {
                let path: FilePath = path.parse()?;
                let content = match encoding {
                    Encoding::Utf8 => Bytes::from(content),
                    Encoding::Base64 => {
                        let bytes = BASE64_STANDARD.decode(content.as_bytes());
                        let message = "`content` is not valid base64";
                        bytes
                            .map_err(|_| RequestError::new("invalid_message", message))?
                            .into()
                    }
                };
                let stat = folder.write(&path, content).await?;
                let file = described(&path, &stat);
                out.send(&AppletServerMessage::FileWritten { id: answers, file })
                    .await;
                Ok(())
            }
            AppletClientMessage::ListFiles { path } => {
                let path: FilePath = path.unwrap_or_default().parse()?;
                let listing = folder.list(&path, LISTED).await?;
                let entries = listing.entries.iter().filter_map(|entry| {
                    let at = path.join(&entry.name).ok()?;
                    Some(described(&at, &entry.stat))
                });
                let outgoing = AppletServerMessage::Files {
                    id: answers,
                    path: path.as_str().to_owned(),
                    entries: entries.collect(),
                    more: listing.more,
                };
                out.send(&outgoing).await;
                Ok(())
            }
            AppletClientMessage::Stat { path } => {
                let path: FilePath = path.parse()?;
                let stat = folder.stat(&path).await?;
                let file = described(&path, &stat);
                out.send(&AppletServerMessage::FileStat { id: answers, file })
                    .await;
                Ok(())
            }
            AppletClientMessage::Subscribe { path } => {
                let path: FilePath = path.parse()?;
                self.subscribe(&path).await?;
                let outgoing = AppletServerMessage::Subscribed {
                    id: answers,
                    path: path.as_str().to_owned(),
                };
                out.send(&outgoing).await;
                Ok(())
            }
            AppletClientMessage::Unsubscribe { path } => {
                let path: FilePath = path.parse()?;
                self.unsubscribe(&path);
                let outgoing = AppletServerMessage::Unsubscribed {
                    id: answers,
                    path: path.as_str().to_owned(),
                };
                out.send(&outgoing).await;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn unsubscribe(&self, path: &FilePath) {
        self.watches.lock().remove(path);
    }

    async fn subscribe(&self, path: &FilePath) -> Result<(), RequestError> {
        if self.watches.lock().contains_key(path) {
            return Ok(());
        }
        let mut watch = self.folder().await?.watch(path.clone()).await?;
        let out = Arc::clone(&self.out);
        let task = tokio::spawn(async move {
            while let Some(change) = watch.next().await {
                let message = AppletServerMessage::FileChanged {
                    path: change.path.as_str().to_owned(),
                    event: change.event.into(),
                };
                out.send(&message).await;
            }
        });
        let mut watches = self.watches.lock();
        watches.insert(path.clone(), AbortOnDropHandle::new(task));
        Ok(())
    }
}

async fn send_text(
    out: &Outbox,
    id: Value,
    path: &FilePath,
    mut read: gangway_files::FileRead,
) -> Result<(), RequestError> {
    let size = read.size;
    let mut pieces = Utf8Pieces::new();
    let message = |chunk: String, done: bool| AppletServerMessage::FileContent {
        id: id.clone(),
        path: path.as_str().to_owned(),
        chunk: Some(chunk),
        bytes: None,
        size,
        done,
    };
    while let Some(bytes) = read.next(PIECE).await? {
        let text = pieces.push(&bytes)?;
        if !text.is_empty() {
            out.send(&message(text, false)).await;
        }
    }
    pieces.end()?;
    out.send(&message(String::new(), true)).await;
    Ok(())
}

async fn send_bytes(
    out: &Outbox,
    id: Value,
    path: &FilePath,
    mut read: gangway_files::FileRead,
) -> Result<(), RequestError> {
    let size = read.size;
    let outgoing = |bytes: usize, done: bool| AppletServerMessage::FileContent {
        id: id.clone(),
        path: path.as_str().to_owned(),
        chunk: None,
        bytes: Some(bytes),
        size,
        done,
    };
    while let Some(bytes) = read.next(PIECE).await? {
        let announced = message(&outgoing(bytes.len(), false));
        // Nothing comes between a chunk and its announcement.
        out.all([announced, Message::Binary(bytes)]).await;
    }
    out.send(&outgoing(0, true)).await;
    Ok(())
}

fn described(path: &FilePath, stat: &Stat) -> AppletFile {
    AppletFile {
        path: path.as_str().to_owned(),
        name: path.name().unwrap_or_default().to_owned(),
        kind: stat.kind.into(),
        size: stat.size,
        modified: Some(stat.modified.to_string()),
    }
}
