//! A package index with files on a real socket, behaving well or badly.

use std::{
    collections::VecDeque,
    net::SocketAddr,
    sync::{Arc, Mutex},
};

use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};

use super::made::WHEEL;

/// The response to a request for a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileAnswer {
    /// Standard HTTP.
    Well,
    /// Announces the full size, but sends only this many bytes.
    Cut(usize),
    /// The full file, ignoring ranges.
    Whole,
    /// The full file without a content length.
    Unsized,
    /// 503.
    Busy,
    /// A redirect to the file's URL.
    Elsewhere,
    /// The requested range, once the test releases it.
    Held,
}

/// A request for a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileRequest {
    pub range: Option<String>,
    pub if_range: Option<String>,
    pub sent: usize,
}

struct Inner {
    file: Mutex<Vec<u8>>,
    etag: &'static str,
    answers: Mutex<VecDeque<FileAnswer>>,
    asked: Mutex<Vec<FileRequest>>,
    arrived: Semaphore,
    released: Semaphore,
}

/// The index with one file.
pub struct Mirror {
    address: SocketAddr,
    inner: Arc<Inner>,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Mirror {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Mirror {
    /// Serves a file; the first requests for it get these responses, later ones standard HTTP.
    pub async fn serve(file: &[u8], answers: &[FileAnswer]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let inner = Arc::new(Inner {
            file: Mutex::new(file.to_vec()),
            etag: "\"one\"",
            answers: Mutex::new(answers.iter().copied().collect()),
            asked: Mutex::default(),
            arrived: Semaphore::new(0),
            released: Semaphore::new(0),
        });
        let shared = Arc::clone(&inner);
        let task = tokio::spawn(async move {
            loop {
                let (socket, _) = listener.accept().await.unwrap();
                tokio::spawn(answer(Arc::clone(&shared), socket));
            }
        });
        Self {
            address,
            inner,
            task,
        }
    }

    pub fn index(&self) -> String {
        format!("http://{}/simple", self.address)
    }

    /// The file's URL.
    pub fn file(&self, name: &str) -> String {
        format!("http://{}/files/{name}", self.address)
    }

    /// The requests for the file so far.
    pub fn asked(&self) -> Vec<FileRequest> {
        self.inner.asked.lock().unwrap().clone()
    }

    /// Serves another file from now on.
    pub fn replace(&self, file: &[u8]) {
        *self.inner.file.lock().unwrap() = file.to_vec();
    }

    /// Waits for a request that is held.
    pub async fn arrived(&self) {
        self.inner.arrived.acquire().await.unwrap().forget();
    }

    /// Releases a held request.
    pub fn release(&self) {
        self.inner.released.add_permits(1);
    }
}

async fn answer(inner: Arc<Inner>, socket: TcpStream) {
    let (read, mut write) = socket.into_split();
    let mut lines = BufReader::new(read).lines();
    let first = lines.next_line().await.unwrap().unwrap_or_default();
    let (mut range, mut if_range) = (None, None);
    while let Ok(Some(line)) = lines.next_line().await {
        if line.is_empty() {
            break;
        }
        let (name, value) = line.split_once(": ").unwrap();
        match name.to_ascii_lowercase().as_str() {
            "range" => range = Some(value.to_owned()),
            "if-range" => if_range = Some(value.to_owned()),
            _ => {}
        }
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    if path == "/simple/tiny-model/" {
        let page = format!("<a href=\"../../files/{WHEEL}#sha256=0\">{WHEEL}</a>");
        let head = format!(
            "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{page}",
            page.len()
        );
        let _ = write.write_all(head.as_bytes()).await;
        return;
    }
    if !path.starts_with("/files/") {
        let head = "HTTP/1.1 404 Not Found\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
        let _ = write.write_all(head.as_bytes()).await;
        return;
    }
    let way = inner.answers.lock().unwrap().pop_front();
    let way = way.unwrap_or(FileAnswer::Well);
    if way == FileAnswer::Held {
        inner.arrived.add_permits(1);
        inner.released.acquire().await.unwrap().forget();
    }
    let file = inner.file.lock().unwrap().clone();
    let (head, body) = respond(&inner, way, &file, range.as_deref(), if_range.as_deref());
    let sent = body.len();
    inner.asked.lock().unwrap().push(FileRequest {
        range,
        if_range,
        sent,
    });
    let _ = write.write_all(head.as_bytes()).await;
    let _ = write.write_all(&body).await;
    let _ = write.shutdown().await;
}

fn respond(
    inner: &Inner,
    way: FileAnswer,
    file: &[u8],
    range: Option<&str>,
    if_range: Option<&str>,
) -> (String, Vec<u8>) {
    let etag = inner.etag;
    let common = format!("etag: {etag}\r\nconnection: close\r\n");
    match way {
        FileAnswer::Busy => {
            let status = "HTTP/1.1 503 Service Unavailable";
            return (
                format!("{status}\r\ncontent-length: 0\r\n{common}\r\n"),
                Vec::new(),
            );
        }
        FileAnswer::Elsewhere => {
            let place = "location: /files/elsewhere.gguf";
            return (
                format!("HTTP/1.1 302 Found\r\n{place}\r\ncontent-length: 0\r\n{common}\r\n"),
                Vec::new(),
            );
        }
        FileAnswer::Unsized => return (format!("HTTP/1.1 200 OK\r\n{common}\r\n"), file.to_vec()),
        _ => {}
    }
    let start = range
        .filter(|_| way != FileAnswer::Whole && if_range.is_none_or(|tag| tag == etag))
        .and_then(|range| {
            range
                .strip_prefix("bytes=")?
                .strip_suffix('-')?
                .parse()
                .ok()
        });
    let (status, start) = match start {
        Some(start) if start >= file.len() => {
            let range = format!("content-range: bytes */{}", file.len());
            (format!("416 Range Not Satisfiable\r\n{range}"), file.len())
        }
        Some(start) => {
            let (last, all) = (file.len() - 1, file.len());
            let range = format!("content-range: bytes {start}-{last}/{all}");
            (format!("206 Partial Content\r\n{range}"), start)
        }
        None => ("200 OK".to_owned(), 0),
    };
    let mut body = file[start..].to_vec();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\n{common}\r\n",
        body.len()
    );
    if let FileAnswer::Cut(sent) = way {
        body.truncate(sent);
    }
    (head, body)
}
