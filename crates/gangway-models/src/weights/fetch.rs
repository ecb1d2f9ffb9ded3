//! Downloads a file over HTTP, resuming a partial download.

use std::time::Duration;

use futures_util::StreamExt;
use reqwest::{Client, Response, StatusCode, Url, header};
use tokio::{
    fs::OpenOptions,
    io::{AsyncSeekExt, AsyncWriteExt},
    sync::watch,
};

use super::{
    Progress, Step, WeightsError,
    address::{describe, shown},
    part::{Claim, Origin, ensure_room},
};

/// Consecutive attempts without any data.
const FRUITLESS: u32 = 4;

/// Attempts of one download; a connection that breaks this often will not get better.
const ATTEMPTS: u32 = 100;

pub(super) struct Fetch<'a> {
    pub(super) client: &'a Client,
    pub(super) url: &'a Url,
    /// The name in errors.
    pub(super) what: &'a str,
    /// Identifies what a partial download belongs to.
    pub(super) source: &'a str,
    pub(super) bytes: Option<u64>,
    /// Whether a hash will detect parts that do not belong together.
    pub(super) hashed: bool,
    /// Additional disk space that is needed.
    pub(super) room: u64,
    /// The first pause between attempts.
    pub(super) pause: Duration,
    pub(super) claim: &'a Claim,
    pub(super) progress: &'a watch::Sender<Progress>,
}

enum FetchEnd {
    /// Retry.
    Broke { reason: String, got: u64 },
    /// Do not retry.
    Failed(WeightsError),
}

impl From<WeightsError> for FetchEnd {
    fn from(error: WeightsError) -> Self {
        Self::Failed(error)
    }
}

impl Fetch<'_> {
    /// Downloads the file; returns whether a partial download was resumed.
    pub(super) async fn run(&self) -> Result<bool, WeightsError> {
        let (mut fruitless, mut resumed) = (0, false);
        for _ in 0..ATTEMPTS {
            let there = self.usable()?;
            resumed |= there > 0;
            if there > 0 && self.bytes == Some(there) {
                return Ok(resumed);
            }
            match self.attempt(there).await {
                Ok(()) => return Ok(resumed),
                Err(FetchEnd::Failed(error)) => return Err(error),
                Err(FetchEnd::Broke { reason, got }) => {
                    fruitless = if got > 0 { 0 } else { fruitless + 1 };
                    if fruitless == FRUITLESS {
                        let at = shown(self.url);
                        return Err(WeightsError::Broken { at, reason });
                    }
                    tokio::time::sleep(self.pause * 2_u32.pow(fruitless)).await;
                }
            }
        }
        Err(WeightsError::Broken {
            at: shown(self.url),
            reason: "closed the connection repeatedly".into(),
        })
    }

    /// How much of the partial download can be used.
    fn usable(&self) -> Result<u64, WeightsError> {
        let (there, validator) = self.claim.so_far(self.source);
        let too_much = self.bytes.is_some_and(|bytes| there > bytes);
        // Without a hash only the server's validator tells whether the rest belongs to it.
        let doubtful = !self.hashed && validator.is_none();
        if there > 0 && (too_much || doubtful) {
            self.claim.discard()?;
            return Ok(0);
        }
        Ok(there)
    }

    async fn attempt(&self, there: u64) -> Result<(), FetchEnd> {
        let Some(response) = self.ask(there).await? else {
            return Ok(());
        };
        let from = self.place(&response, there)?;
        let total = response.content_length().map(|rest| from + rest);
        if let (Some(expected), Some(total)) = (self.bytes, total)
            && total != expected
        {
            self.claim.discard()?;
            return Err(self.wrong_size(expected, &format!("the server has {total}")));
        }
        let folder = self.claim.part.parent().unwrap_or(&self.claim.part);
        let rest = total.or(self.bytes).map_or(0, |total| total - from);
        ensure_room(folder, rest + self.room)?;
        if from == 0 {
            self.claim.begin(&Origin {
                source: self.source.to_owned(),
                validator: validator_of(&response),
            })?;
        }
        self.write(response, from, total.or(self.bytes)).await
    }

    /// Requests the missing range; `None` when the file is complete.
    async fn ask(&self, there: u64) -> Result<Option<Response>, FetchEnd> {
        let mut request = self.client.get(self.url.clone());
        if there > 0 {
            request = request.header(header::RANGE, format!("bytes={there}-"));
            if let (false, (_, Some(validator))) = (self.hashed, self.claim.so_far(self.source)) {
                request = request.header(header::IF_RANGE, validator);
            }
        }
        let response = request.send().await.map_err(|error| {
            let reason = describe(&error);
            if error.is_redirect() || error.is_builder() {
                return FetchEnd::Failed(WeightsError::refused(&shown(self.url), reason));
            }
            FetchEnd::Broke { reason, got: 0 }
        })?;
        let status = response.status();
        let reason = format!("responded with {status}");
        match status {
            StatusCode::OK | StatusCode::PARTIAL_CONTENT => Ok(Some(response)),
            StatusCode::RANGE_NOT_SATISFIABLE => {
                let all = format!("bytes */{there}");
                let range = response.headers().get(header::CONTENT_RANGE);
                if there > 0 && range.is_some_and(|range| range == all.as_str()) {
                    return Ok(None);
                }
                self.claim.discard()?;
                Err(FetchEnd::Broke { reason, got: 0 })
            }
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => {
                Err(FetchEnd::Broke { reason, got: 0 })
            }
            _ if status.is_server_error() => Err(FetchEnd::Broke { reason, got: 0 }),
            _ => Err(WeightsError::refused(&shown(self.url), reason).into()),
        }
    }

    /// The offset of the response. A server may send the whole file instead of the range.
    fn place(&self, response: &Response, there: u64) -> Result<u64, FetchEnd> {
        if response.status() == StatusCode::OK {
            return Ok(0);
        }
        let range = response.headers().get(header::CONTENT_RANGE);
        let start = range.and_then(|range| {
            let range = range.to_str().ok()?.strip_prefix("bytes ")?;
            range.split_once('-')?.0.parse::<u64>().ok()
        });
        if there > 0 && start == Some(there) {
            return Ok(there);
        }
        self.claim.discard()?;
        let reason = "sent a different range than requested".into();
        Err(FetchEnd::Broke { reason, got: 0 })
    }

    async fn write(
        &self,
        response: Response,
        from: u64,
        total: Option<u64>,
    ) -> Result<(), FetchEnd> {
        let path = &self.claim.part;
        let failed = WeightsError::io(path);
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(false);
        let mut file = options.open(path).await.map_err(&failed)?;
        file.set_len(from).await.map_err(&failed)?;
        file.seek(std::io::SeekFrom::Start(from))
            .await
            .map_err(&failed)?;
        let (mut at, mut broke) = (from, None);
        let mut chunks = response.bytes_stream();
        while let Some(chunk) = chunks.next().await {
            let chunk = match chunk {
                Ok(chunk) => chunk,
                Err(error) => {
                    broke = Some(describe(&error));
                    break;
                }
            };
            at += chunk.len() as u64;
            if let Some(expected) = self.bytes.filter(|most| at > *most) {
                drop(file);
                self.claim.discard()?;
                return Err(self.wrong_size(expected, "the server sends more"));
            }
            file.write_all(&chunk).await.map_err(&failed)?;
            self.progress.send_replace(Progress {
                step: Step::Fetching,
                done: at,
                total,
            });
        }
        file.flush().await.map_err(&failed)?;
        file.sync_all().await.map_err(&failed)?;
        if broke.is_none() && total.is_some_and(|total| at < total) {
            broke = Some("closed the connection too soon".into());
        }
        match broke {
            Some(reason) => Err(FetchEnd::Broke {
                reason,
                got: at - from,
            }),
            None => Ok(()),
        }
    }

    fn wrong_size(&self, expected: u64, found: &str) -> FetchEnd {
        FetchEnd::Failed(WeightsError::WrongSize {
            what: self.what.to_owned(),
            expected,
            found: found.to_owned(),
        })
    }
}

/// A strong ETag or similar: the same validator always means the same bytes.
fn validator_of(response: &Response) -> Option<String> {
    let text = response.headers().get(header::ETAG)?.to_str().ok()?;
    (!text.starts_with("W/")).then(|| text.to_owned())
}
