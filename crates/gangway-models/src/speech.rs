//! Speech to text, over OpenAI's transcriptions API.

use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use crate::{
    Failure, ModelError,
    http::{http_client_with, read_at_most},
    redact::{Redactor, shown_url},
};

/// Long recordings on small machines are slow.
const WITHIN: Duration = Duration::from_secs(120);

/// The longest transcription.
const TEXT_BYTES: usize = 256 << 10;

pub struct Speech {
    base: String,
    at: String,
    key: Option<String>,
    model: String,
    client: reqwest::Client,
    redactor: Redactor,
}

impl Speech {
    /// A server at a base URL such as `http://localhost:8000/v1`.
    #[must_use]
    pub fn new(base: &str, key: Option<String>, model: &str) -> Self {
        let base = base.trim_end_matches('/');
        Self {
            base: base.to_owned(),
            at: shown_url(base),
            redactor: Redactor::new(key.as_deref()),
            key: key.filter(|key| !key.is_empty()),
            model: model.to_owned(),
            client: http_client_with(WITHIN),
        }
    }

    /// Transcribes a recording of this media type.
    pub async fn transcribe(&self, audio: Bytes, media_type: &str) -> Result<String, ModelError> {
        let slow = || {
            let message = format!("The speech server at {} timed out.", self.at);
            ModelError::new(Failure::Timeout, message)
        };
        let asked = tokio::time::timeout(WITHIN, self.ask(audio, media_type)).await;
        let answer = asked.unwrap_or_else(|_| Err(slow()));
        answer.map_err(|error| self.redactor.error(error))
    }

    async fn ask(&self, audio: Bytes, media_type: &str) -> Result<String, ModelError> {
        let boundary = boundary(&audio);
        let form = form(&boundary, &self.model, media_type, &audio);
        let mut request = self
            .client
            .post(format!("{}/audio/transcriptions", self.base))
            .header(
                "content-type",
                format!("multipart/form-data; boundary={boundary}"),
            )
            .body(form);
        if let Some(key) = &self.key {
            request = request.bearer_auth(key);
        }
        let response = request.send().await;
        let response = response.map_err(|error| ModelError::from_transport(&self.at, &error))?;
        let status = response.status();
        let body = read_at_most(response).await?;
        if !status.is_success() {
            let body = String::from_utf8_lossy(&body);
            return Err(ModelError::from_status(
                &self.at,
                status.as_u16(),
                None,
                &body,
            ));
        }
        let answer: Value =
            serde_json::from_slice(&body).map_err(|_| ModelError::garbled(&self.at))?;
        let text = answer["text"]
            .as_str()
            .ok_or_else(|| ModelError::garbled(&self.at))?;
        if text.len() > TEXT_BYTES {
            return Err(ModelError::failed("The transcription is too long."));
        }
        Ok(text.trim().to_owned())
    }
}

/// A multipart boundary that does not occur in the recording.
fn boundary(audio: &[u8]) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, audio);
    let hex: String = digest.as_ref()[..16]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    format!("gangway-{hex}")
}

fn form(boundary: &str, model: &str, media_type: &str, audio: &[u8]) -> Vec<u8> {
    // Both come from settings and a browser; neither may contain a line break.
    let clean = |text: &str| -> String { text.chars().filter(|c| !c.is_control()).collect() };
    let (model, media_type) = (clean(model), clean(media_type));
    let head = format!(
        "--{boundary}\r\nContent-Disposition: form-data; name=\"model\"\r\n\r\n{model}\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"response_format\"\r\n\r\njson\r\n\
         --{boundary}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"speech.{}\"\r\nContent-Type: {media_type}\r\n\r\n",
        ending(&media_type)
    );
    let mut form = Vec::with_capacity(head.len() + audio.len() + boundary.len() + 8);
    form.extend_from_slice(head.as_bytes());
    form.extend_from_slice(audio);
    form.extend_from_slice(format!("\r\n--{boundary}--\r\n").as_bytes());
    form
}

/// Servers detect the format by the file extension.
fn ending(media_type: &str) -> &'static str {
    match media_type.split(';').next().unwrap_or_default().trim() {
        "audio/ogg" => "ogg",
        "audio/mp4" | "audio/x-m4a" | "audio/m4a" => "m4a",
        "audio/mpeg" | "audio/mp3" => "mp3",
        "audio/wav" | "audio/x-wav" | "audio/wave" => "wav",
        "audio/flac" => "flac",
        _ => "webm",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_is_one_part_of_a_form() {
        let form = form(
            "b",
            "whisper\r\nx: y",
            "audio/ogg; codecs=opus\r\nz",
            b"\x00\xff",
        );
        let text = String::from_utf8_lossy(&form);
        assert!(text.contains("name=\"model\"\r\n\r\nwhisperx: y\r\n--b"));
        assert!(text.contains(
            "filename=\"speech.ogg\"\r\nContent-Type: audio/ogg; codecs=opusz\r\n\r\n\u{0}"
        ));
        assert!(form.ends_with(b"\x00\xff\r\n--b--\r\n"));
    }

    #[test]
    fn the_ending_of_the_name_determines_the_format() {
        assert_eq!(ending("audio/webm;codecs=opus"), "webm");
        assert_eq!(ending("audio/mp4"), "m4a");
        assert_eq!(ending(""), "webm");
    }
}
