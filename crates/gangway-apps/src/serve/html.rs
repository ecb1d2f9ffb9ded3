//! Inserts our script into a page: before every other, leaving the rest unchanged.

use std::{cell::RefCell, ops::Range, rc::Rc};

use lol_html::{HtmlRewriter, Settings, element, html_content::Element};

use super::csp::Csp;
use gangway_http::html::escape;

/// Bytes that are parsed at a time.
const STEP: usize = 512;

/// Elements that can be in a head; the first other one ends it.
const HEAD: [&str; 10] = [
    "html", "head", "title", "meta", "link", "style", "script", "base", "noscript", "template",
];

/// The changes to a page, computed once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct InjectionPlan {
    at: usize,
    /// Policies in meta elements: the tag and its content.
    policies: Vec<(Range<usize>, String)>,
    /// Whether its head has its own import map.
    pub(super) has_import_map: bool,
}

#[derive(Default)]
struct HtmlScan {
    at: Option<usize>,
    policies: Vec<(Range<usize>, String)>,
    has_import_map: bool,
    done: bool,
}

impl InjectionPlan {
    /// Parses the head of a page.
    pub(super) fn of(page: &[u8]) -> Self {
        let seen = Rc::new(RefCell::new(HtmlScan::default()));
        let look = |element: &mut Element<'_, '_>| {
            seen.borrow_mut().element(element);
            Ok(())
        };
        let settings = Settings::new()
            .with_strict(false)
            .append_element_content_handler(element!("*", look));
        let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
        for piece in page.chunks(STEP) {
            // If the parser gives up, what it has seen so far counts.
            if rewriter.write(piece).is_err() || seen.borrow().done {
                break;
            }
        }
        drop(rewriter);
        let seen = seen.take();
        Self {
            at: seen.at.unwrap_or(page.len()),
            policies: seen.policies,
            has_import_map: seen.has_import_map,
        }
    }

    /// Inserts a tag before all others.
    pub(super) fn insert(&self, page: &[u8], tag: &str) -> Vec<u8> {
        [&page[..self.at], tag.as_bytes(), &page[self.at..]].concat()
    }

    /// Inserts a script, and allows these origins in the page's policies.
    pub(super) fn apply(&self, page: &[u8], script: &str, origins: &[String]) -> Vec<u8> {
        let mut whole = Vec::with_capacity(page.len() + script.len() + 256);
        whole.extend_from_slice(&page[..self.at]);
        whole.extend_from_slice(script.as_bytes());
        let mut from = self.at;
        for (tag, policy) in &self.policies {
            let mut csp = Csp::parse(policy);
            csp.admit_connections(origins);
            let tag_now = format!(
                "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">",
                escape(&csp.to_string())
            );
            whole.extend_from_slice(&page[from..tag.start]);
            whole.extend_from_slice(tag_now.as_bytes());
            from = tag.end;
        }
        whole.extend_from_slice(&page[from..]);
        whole
    }
}

impl HtmlScan {
    fn element(&mut self, element: &mut Element<'_, '_>) {
        if self.done {
            return;
        }
        let tag = element.tag_name();
        let place = element.source_location().bytes();
        match (self.at, tag.as_str()) {
            (None, "html") => {}
            (None, "head") => self.at = Some(place.end),
            (None, _) => self.at = Some(place.start),
            _ => {}
        }
        let is_policy = element
            .get_attribute("http-equiv")
            .is_some_and(|kind| kind.trim().eq_ignore_ascii_case("content-security-policy"));
        if tag == "meta"
            && is_policy
            && let Some(policy) = element.get_attribute("content")
            && let Some(policy) = decoded(&policy)
        {
            self.policies.push((place, policy));
        }
        let kind = element.get_attribute("type");
        self.has_import_map |= tag == "script"
            && kind.is_some_and(|kind| kind.trim().eq_ignore_ascii_case("importmap"));
        self.done = !HEAD.contains(&tag.as_str());
    }
}

/// Decodes an attribute; `None` if it has unknown character references.
fn decoded(text: &str) -> Option<String> {
    let mut parts = text.split('&');
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let Some((name, rest)) = part.split_once(';') else {
            plain.push('&');
            plain.push_str(part);
            continue;
        };
        let number = |digits: &str, radix| char::from_u32(u32::from_str_radix(digits, radix).ok()?);
        let letter = match name {
            "amp" | "AMP" => '&',
            "apos" => '\'',
            "quot" | "QUOT" => '"',
            "lt" => '<',
            "gt" => '>',
            "nbsp" => ' ',
            name => match name.strip_prefix('#')? {
                hex if hex.starts_with(['x', 'X']) => number(&hex[1..], 16)?,
                digits => number(digits, 10)?,
            },
        };
        plain.push(letter);
        plain.push_str(rest);
    }
    Some(plain)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MARK: &str = "<script>OURS</script>";

    fn injected(page: &str) -> String {
        let origins = ["ws://a.localhost:1".to_owned()];
        let whole = InjectionPlan::of(page.as_bytes()).apply(page.as_bytes(), MARK, &origins);
        String::from_utf8(whole).unwrap()
    }

    #[test]
    fn the_script_comes_before_every_other() {
        for (before, after) in [
            (
                "<!doctype html><html><head><title>x</title>",
                "<!doctype html><html><head>§<title>x</title>",
            ),
            (
                "<HEAD lang=en>\n<script>1</script>",
                "<HEAD lang=en>§\n<script>1</script>",
            ),
            (
                "<!doctype html><title>x</title>",
                "<!doctype html>§<title>x</title>",
            ),
            ("<html lang=en><body>x", "<html lang=en>§<body>x"),
            ("<html><!-- <head> --><p>x", "<html><!-- <head> -->§<p>x"),
            (
                "<!-- <script> --><script>1</script>",
                "<!-- <script> -->§<script>1</script>",
            ),
            (
                "\u{feff}<!doctype html><p>x",
                "\u{feff}<!doctype html>§<p>x",
            ),
            (
                "text first<script>1</script>",
                "text first§<script>1</script>",
            ),
            (
                "<title><head></title>x<head>",
                "§<title><head></title>x<head>",
            ),
            ("<body><head><p>", "§<body><head><p>"),
            ("no tags at all", "no tags at all§"),
            ("", "§"),
            ("<", "<§"),
            ("<scr", "<scr§"),
            ("<!doctype html>", "<!doctype html>§"),
        ] {
            assert_eq!(injected(before), after.replace('§', MARK), "{before}");
        }
    }

    #[test]
    fn policies_of_the_page_let_its_channel_through_and_change_in_nothing_else() {
        let page = "<head><meta charset=utf-8><META HTTP-EQUIV=content-security-policy content=\"default-src &#39;self&#39;; img-src *\"><link rel=icon>\
                    </head><meta http-equiv='Content-Security-Policy' content=\"script-src 'self'\"><body><meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">";
        let wanted = "<head>§<meta charset=utf-8><meta http-equiv=\"Content-Security-Policy\" content=\"default-src &#39;self&#39;; img-src *; \
                      connect-src &#39;self&#39; ws://a.localhost:1\"><link rel=icon></head>\
                      <meta http-equiv=\"Content-Security-Policy\" content=\"script-src &#39;self&#39;\"><body>\
                      <meta http-equiv=Content-Security-Policy content=\"default-src 'none'\">";
        assert_eq!(injected(page), wanted.replace('§', MARK));
        // A policy with unknown character references is not changed.
        let odd = "<meta http-equiv=Content-Security-Policy content=\"default-src &lpar;&semi;\">";
        assert_eq!(injected(odd), format!("{MARK}{odd}"));
    }

    #[test]
    fn everything_else_stays_byte_by_byte_wherever_the_page_is_cut() {
        let head = "<!doctype html>\n<html lang=\"en\"><!-- é --><head data-x='>'><title>ä</title><style>a>b{}</style></head><body>";
        let page = format!("{head}{}<p>end\0\r\n", "<div>日本 & é</div>".repeat(80));
        for cut in 0..page.len() {
            let bytes = &page.as_bytes()[..cut];
            let whole = InjectionPlan::of(bytes).apply(bytes, MARK, &[]);
            let at = whole
                .windows(MARK.len())
                .position(|part| part == MARK.as_bytes());
            let at = at.unwrap();
            assert_eq!(
                [&whole[..at], &whole[at + MARK.len()..]].concat(),
                bytes,
                "{cut}"
            );
        }
        // The same page at different offsets of the parsing steps.
        for before in 0..600 {
            let page = format!("<!--{}-->{head}<script>1</script>", "x".repeat(before));
            assert_eq!(
                injected(&page),
                page.replacen("'>'>", &format!("'>'>{MARK}"), 1),
                "{before}"
            );
        }
    }
}
