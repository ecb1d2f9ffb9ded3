//! Media types.

/// By file extension, never by content.
#[must_use]
pub fn media_type(path: &str) -> &'static str {
    let end = path.rsplit('.').next().unwrap_or_default();
    match end.to_ascii_lowercase().as_str() {
        "html" | "htm" => "text/html; charset=utf-8",
        "js" | "mjs" | "cjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "xml" => "application/xml",
        "svg" => "image/svg+xml",
        "png" => "image/png",
        "apng" => "image/apng",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "bmp" => "image/bmp",
        "ico" => "image/x-icon",
        "woff" => "font/woff",
        "woff2" => "font/woff2",
        "ttf" => "font/ttf",
        "otf" => "font/otf",
        "mp3" => "audio/mpeg",
        "m4a" => "audio/mp4",
        "ogg" | "oga" => "audio/ogg",
        "opus" => "audio/ogg; codecs=opus",
        "wav" => "audio/wav",
        "flac" => "audio/flac",
        "mp4" | "m4v" => "video/mp4",
        "webm" => "video/webm",
        "ogv" => "video/ogg",
        "mov" => "video/quicktime",
        "vtt" => "text/vtt; charset=utf-8",
        "pdf" => "application/pdf",
        "wasm" => "application/wasm",
        "md" => "text/markdown; charset=utf-8",
        "csv" => "text/csv; charset=utf-8",
        "txt" | "yaml" | "yml" | "toml" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::media_type;

    #[test]
    fn a_file_has_the_media_type_that_browsers_expect_for_its_ending() {
        for (endings, expected) in [
            ("html htm", "text/html; charset=utf-8"),
            ("js mjs cjs", "text/javascript; charset=utf-8"),
            ("css", "text/css; charset=utf-8"),
            ("json map", "application/json"),
            ("webmanifest", "application/manifest+json"),
            ("xml", "application/xml"),
            ("svg", "image/svg+xml"),
            ("png", "image/png"),
            ("apng", "image/apng"),
            ("jpg jpeg", "image/jpeg"),
            ("gif", "image/gif"),
            ("webp", "image/webp"),
            ("avif", "image/avif"),
            ("bmp", "image/bmp"),
            ("ico", "image/x-icon"),
            ("woff", "font/woff"),
            ("woff2", "font/woff2"),
            ("ttf", "font/ttf"),
            ("otf", "font/otf"),
            ("mp3", "audio/mpeg"),
            ("m4a", "audio/mp4"),
            ("ogg oga", "audio/ogg"),
            ("opus", "audio/ogg; codecs=opus"),
            ("wav", "audio/wav"),
            ("flac", "audio/flac"),
            ("mp4 m4v", "video/mp4"),
            ("webm", "video/webm"),
            ("ogv", "video/ogg"),
            ("mov", "video/quicktime"),
            ("vtt", "text/vtt; charset=utf-8"),
            ("pdf", "application/pdf"),
            ("wasm", "application/wasm"),
            ("md", "text/markdown; charset=utf-8"),
            ("csv", "text/csv; charset=utf-8"),
            ("txt yaml yml toml", "text/plain; charset=utf-8"),
            ("exe gz", "application/octet-stream"),
        ] {
            for ending in endings.split(' ') {
                assert_eq!(media_type(&format!("a/b.c.{ending}")), expected);
                let upper = ending.to_uppercase();
                assert_eq!(media_type(&format!("B.{upper}")), expected);
            }
        }
        assert_eq!(media_type("Makefile"), "application/octet-stream");
    }
}
