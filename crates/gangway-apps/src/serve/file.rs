//! Files of apps: read once, converted for browsers, and cached until they change.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use tokio::{sync::Semaphore, time::Instant};

use super::{
    super::folder::{AppFolder, SourceStamp},
    html::InjectionPlan,
    imports::{Site, variant},
    script::{self, Language, Script},
};
use crate::cache::Cache;
use gangway_files::{FileError, FilePath, media_type};

/// Files up to this size are read whole; larger ones are streamed.
pub(super) const WHOLE: u64 = 8 << 20;

/// How long a file is assumed to be unchanged: shorter than saving and reloading takes, and a busy page causes no disk
/// access.
const TRUSTED: Duration = Duration::from_millis(50);

const FILES: usize = 2_000;

/// Bytes of cached files, and of converted scripts.
const BYTES: usize = 64 << 20;

/// A file as it is sent.
#[derive(Debug)]
pub(super) struct ServedFile {
    mark: SourceStamp,
    file: FilePath,
    pub(super) body: Bytes,
    /// A strong ETag: it changes only with the body.
    pub(super) tag: String,
    pub(super) kind: &'static str,
    /// Where our script is inserted, if it is a page.
    pub(super) plan: Option<InjectionPlan>,
    /// Whether it is a temporary error message.
    pub(super) fault: bool,
    script: Option<(Arc<Script>, Vec<Option<String>>)>,
}

/// The app, the folder, the file, and whether it is requested as a page.
type FileKey = (AppFolder, AppFolder, FilePath, bool);

pub(super) struct Files {
    sent: Cache<FileKey, (Instant, Arc<ServedFile>)>,
    scripts: Cache<blake3::Hash, Arc<Script>>,
    /// Concurrent operations; others wait.
    permits: Semaphore,
}

impl Files {
    pub(super) fn new() -> Self {
        Self {
            sent: Cache::new(FILES, BYTES),
            scripts: Cache::new(FILES, BYTES),
            permits: Semaphore::new(8),
        }
    }

    /// A file of an app, or of a folder beside it.
    pub(super) async fn get(
        self: &Arc<Self>,
        app: &AppFolder,
        folder: &AppFolder,
        path: &FilePath,
        page: bool,
    ) -> Result<Arc<ServedFile>, FileError> {
        let key = (app.clone(), folder.clone(), path.clone(), page);
        let before = self.sent.get(&key);
        if let Some((at, sent)) = &before
            && at.elapsed() < TRUSTED
        {
            return Ok(Arc::clone(sent));
        }
        let _permit = self.permits.acquire().await;
        let files = Arc::clone(self);
        let now = Instant::now();
        let work = move || {
            let (app, folder, path, _) = &key;
            let made = files.load(app, folder, path, page, before.map(|(_, sent)| sent))?;
            let size = made.body.len() + 1024;
            files.sent.put(key, (now, Arc::clone(&made)), size);
            Ok(made)
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.unwrap_or_else(|_| Err(FileError::Io("the server is stopping".to_owned())))
    }

    fn load(
        &self,
        app: &AppFolder,
        folder: &AppFolder,
        path: &FilePath,
        page: bool,
        before: Option<Arc<ServedFile>>,
    ) -> Result<Arc<ServedFile>, FileError> {
        let (file, mark) = match folder.mark(path) {
            Ok(mark) => (path.clone(), mark),
            // A request for a page never means a script.
            Err(error) if page => return Err(error),
            Err(error) => {
                let file = variant(folder, path).ok_or(error)?;
                let mark = folder.mark(&file)?;
                (file, mark)
            }
        };
        let site = Site {
            app,
            folder,
            file: &file,
        };
        let names = |script: &Script| -> Vec<Option<String>> {
            let imports = script.imports.iter();
            imports.map(|import| site.resolve(&import.name)).collect()
        };
        if let Some(before) = before
            && before.file == file
            && before.mark == mark
            && !before.fault
            && mark.is_settled()
        {
            // The script is unchanged, but its imports may have moved.
            let moved = |(script, resolved): &(Arc<Script>, Vec<_>)| names(script) != *resolved;
            if !before.script.as_ref().is_some_and(moved) {
                return Ok(before);
            }
        }
        if let SourceStamp::Disk(mark) = &mark
            && mark.size > WHOLE
        {
            return Err(FileError::TooLarge { limit: WHOLE });
        }
        let (mark, body) = folder.read(&file, WHOLE)?;
        let mut sent = ServedFile {
            mark,
            tag: String::new(),
            kind: media_type(file.as_str()),
            plan: None,
            fault: false,
            script: None,
            file: file.clone(),
            body,
        };
        if let Some(language) = Language::of(file.as_str()) {
            sent.kind = media_type("a.js");
            match self.script(&site, &sent.body, language) {
                Ok(Some(script)) => {
                    let names = names(&script);
                    sent.body = script.with(&names).into();
                    sent.script = Some((script, names));
                }
                Ok(None) => {}
                Err(thrown) => {
                    sent.body = thrown.into();
                    sent.fault = true;
                }
            }
        } else if sent.kind.starts_with("text/html") {
            if let Some(text) = wide(&sent.body) {
                sent.body = text.into();
            }
            // The encoding that a page declares itself is used.
            if std::str::from_utf8(&sent.body).is_err() {
                sent.kind = "text/html";
            }
            sent.plan = Some(InjectionPlan::of(&sent.body));
        }
        sent.tag = format!("\"{}\"", &blake3::hash(&sent.body).to_hex()[..32]);
        Ok(Arc::new(sent))
    }

    /// A script converted for browsers; `None` if it can be sent as it is.
    fn script(
        &self,
        site: &Site<'_>,
        body: &Bytes,
        language: Language,
    ) -> Result<Option<Arc<Script>>, String> {
        let Ok(source) = std::str::from_utf8(body) else {
            return Ok(None);
        };
        let jsx = match language {
            Language::Jsx | Language::Tsx => match site.resolve("preact/jsx-runtime") {
                Some(_) => "preact",
                None => "react",
            },
            _ => "react",
        };
        let mut hash = blake3::Hasher::new();
        for part in [site.file.as_str(), jsx, source] {
            hash.update(&(part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let key = hash.finalize();
        if let Some(known) = self.scripts.get(&key) {
            return Ok(Some(known));
        }
        let made = script::prepare(source, site.file, language, jsx).map(Arc::new);
        // Errors are not cached, since they may be temporary.
        if let Ok(script) = &made {
            let size = script.code.len() + 1024;
            self.scripts.put(key, Arc::clone(script), size);
        }
        made.map(Some)
    }
}

/// Decodes a UTF-16 page, which nothing else can be inserted into.
fn wide(page: &[u8]) -> Option<String> {
    let (bytes, little) = match page {
        [0xff, 0xfe, rest @ ..] => (rest, true),
        [0xfe, 0xff, rest @ ..] => (rest, false),
        _ => return None,
    };
    let unit = |pair: &[u8]| match little {
        true => u16::from_le_bytes([pair[0], pair[1]]),
        false => u16::from_be_bytes([pair[0], pair[1]]),
    };
    let units: Vec<u16> = bytes.chunks_exact(2).map(unit).collect();
    Some(String::from_utf16_lossy(&units))
}
