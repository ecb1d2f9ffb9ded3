//! An app in a folder, and requests for its files.

use std::path::Path;

use axum::{
    body::to_bytes,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode},
};
use gangway_apps::{
    App, Pages,
    serve::{AppFileRequest, Injection},
};

/// Writes files into a folder; creates it if necessary.
pub fn write(folder: &Path, files: &[(&str, &str)]) {
    for (name, content) in files {
        let path = folder.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    }
}

/// A minimal manifest.
pub fn plain(name: &str) -> String {
    format!("---\nname: {name}\ndescription: An app for tests.\n---\n")
}

/// An app in a temporary folder, and clients for its files.
pub struct AppSite {
    pub folder: tempfile::TempDir,
    pages: Pages,
}

/// A response.
pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub body: Vec<u8>,
}

impl Answer {
    pub fn header(&self, name: &str) -> &str {
        self.headers
            .get(name)
            .map_or("", |value| value.to_str().unwrap())
    }

    pub fn text(&self) -> &str {
        std::str::from_utf8(&self.body).unwrap()
    }
}

impl AppSite {
    /// An app called `site` with these files.
    pub fn new(files: &[(&str, &str)]) -> Self {
        Self::with("", files)
    }

    /// The same with additional lines in its manifest.
    pub fn with(lines: &str, files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let manifest = format!("---\nname: site\ndescription: An app for tests.\n{lines}\n---\n");
        let site = Self {
            folder,
            pages: Pages::default(),
        };
        site.write(&[
            ("APP.md", &manifest),
            ("index.html", "<!doctype html><title>Start</title>"),
        ]);
        site.write(files);
        site
    }

    pub fn path(&self) -> std::path::PathBuf {
        self.folder.path().join("site")
    }

    pub fn write(&self, files: &[(&str, &str)]) {
        write(&self.path(), files);
    }

    pub async fn ask(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        injection: Option<&Injection>,
    ) -> Answer {
        let app = App::in_folder(&self.path()).unwrap();
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| {
                (
                    name.parse::<HeaderName>().unwrap(),
                    HeaderValue::from_str(value).unwrap(),
                )
            })
            .collect();
        let (path, query) = path
            .split_once('?')
            .map_or((path, None), |(path, query)| (path, Some(query)));
        let asked = AppFileRequest {
            method: &method,
            path,
            query,
            headers: &headers,
            opaque: false,
        };
        let answer = self.pages.serve(&app, asked, injection).await;
        let (parts, body) = answer.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: to_bytes(body, usize::MAX).await.unwrap().to_vec(),
        }
    }

    pub async fn get(&self, path: &str) -> Answer {
        self.ask(Method::GET, path, &[], None).await
    }

    /// Like a browser that navigates to a page.
    pub async fn visit(&self, path: &str) -> Answer {
        let accept = [("accept", "text/html,application/xhtml+xml,*/*;q=0.8")];
        self.ask(Method::GET, path, &accept, None).await
    }
}
