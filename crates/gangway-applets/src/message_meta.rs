//! `message-meta.json`: which applet sent which message, in a format for other programs.

use std::path::PathBuf;

use gangway_core::{SessionId, Slug, atomic_file};
use gangway_files::make_private_folder;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::AppletRegistry;

/// Maximum number of entries; the log has all.
const MOST: usize = 1000;

#[derive(Default, Serialize, Deserialize)]
struct MessageMetaWriter {
    messages: Vec<MessageMeta>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct MessageMeta {
    timestamp: String,
    source: String,
    applet_slug: String,
    prompt: String,
}

impl AppletRegistry {
    /// The folder of a session's files beside the log.
    #[must_use]
    pub fn beside(&self, session: SessionId) -> PathBuf {
        self.data.join("sessions").join(session.to_string())
    }

    /// Records a message of an applet. It is already in the log, so failing here is only a warning.
    pub async fn note_message(&self, session: SessionId, applet: &Slug, prompt: &str) {
        let _alone = self.noting.lock().await;
        let folder = self.beside(session);
        let note = MessageMeta {
            timestamp: Timestamp::now().to_string(),
            source: "applet".to_owned(),
            applet_slug: applet.to_string(),
            prompt: prompt.to_owned(),
        };
        let write = move || -> std::io::Result<()> {
            make_private_folder(&folder)?;
            let file = folder.join("message-meta.json");
            let before = std::fs::read(&file).unwrap_or_default();
            let mut notes: MessageMetaWriter = serde_json::from_slice(&before).unwrap_or_default();
            notes.messages.push(note);
            let over = notes.messages.len().saturating_sub(MOST);
            notes.messages.drain(..over);
            atomic_file::write(&file, &serde_json::to_vec_pretty(&notes)?)
        };
        match tokio::task::spawn_blocking(write).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => tracing::warn!(%error, "cannot write message-meta.json"),
            Err(_) => tracing::warn!("cannot write message-meta.json"),
        }
    }
}
