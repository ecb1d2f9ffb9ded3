//! Streams files that are too large to cache.

use axum::{
    body::Body,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use futures_util::stream;

use super::answer::{is_current, plain, range, ranged, unsatisfied};
use crate::folder::AppFolder;
use gangway_files::{FileError, FilePath, Folder, media_type};

/// The chunk size.
const PIECE: usize = 256 << 10;

/// A file on disk, or the requested range of it.
pub(super) async fn answer(folder: &AppFolder, path: &FilePath, asked: &HeaderMap) -> Response {
    match read(folder, path, asked).await {
        Ok(answer) => answer,
        Err(_) => plain(StatusCode::NOT_FOUND, "File not found.".to_owned()),
    }
}

async fn read(
    folder: &AppFolder,
    path: &FilePath,
    asked: &HeaderMap,
) -> Result<Response, FileError> {
    let Some(place) = folder.path() else {
        return Err(FileError::NotFound { path: path.clone() });
    };
    let folder = Folder::open(place).await?;
    let stat = folder.stat(path).await?;
    let size = stat.size;
    // A hash of the content would cost more than the ETag saves.
    let tag = format!("\"{size:x}-{:x}\"", stat.modified.as_nanosecond());
    let mut answer = match range(asked, &tag, size) {
        _ if is_current(asked, &tag) => StatusCode::NOT_MODIFIED.into_response(),
        Err(()) => unsatisfied(size),
        Ok(part) => {
            let (from, length) = part.unwrap_or((0, size));
            let read = folder.read(path, from, Some(length)).await?;
            let pieces = stream::try_unfold(read, |mut read| async move {
                let piece = read.next(PIECE).await.map_err(std::io::Error::other)?;
                Ok::<_, std::io::Error>(piece.map(|piece| (piece, read)))
            });
            let body = Body::from_stream(pieces);
            match part {
                Some(_) => ranged(body, from, length, size),
                None => ([(header::CONTENT_LENGTH, size.to_string())], body).into_response(),
            }
        }
    };
    let headers = answer.headers_mut();
    headers.insert(header::ACCEPT_RANGES, HeaderValue::from_static("bytes"));
    headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
    let kind = HeaderValue::from_static(media_type(path.as_str()));
    headers.insert(header::CONTENT_TYPE, kind);
    if let Ok(tag) = HeaderValue::from_str(&tag) {
        headers.insert(header::ETAG, tag);
    }
    Ok(answer)
}
