//! Applies the model's chat template, so that no message content can impersonate a role.
//!
//! The template is rendered with placeholders instead of contents and split at them. The text in between belongs to the
//! template and may contain control tokens; contents are tokenized separately as plain text.

use gangway_models::ModelError;
use llama_cpp_2::{
    model::{LlamaChatMessage, LlamaChatTemplate, LlamaModel},
    token::LlamaToken,
    token_type::LlamaTokenAttr,
};

use crate::model::Model;

/// A part of a rendered conversation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum PromptPart {
    /// Text of the template.
    Frame(String),
    /// The content of the message with this index.
    Content(usize),
}

/// A placeholder that no template contains.
fn mark(number: usize) -> String {
    format!("\u{2e28}content {number}\u{2e29}")
}

fn parts(
    llama: &LlamaModel,
    template: &LlamaChatTemplate,
    roles: &[&str],
) -> Result<Vec<PromptPart>, String> {
    let message = |(number, role): (usize, &&str)| {
        LlamaChatMessage::new((*role).to_owned(), mark(number)).map_err(|error| error.to_string())
    };
    let messages = roles
        .iter()
        .enumerate()
        .map(message)
        .collect::<Result<Vec<_>, _>>()?;
    let text = llama
        .apply_chat_template(template, &messages, true)
        .map_err(|error| error.to_string())?;
    Ok(cut(&text, roles.len()))
}

/// Splits a rendered template at the placeholders.
fn cut(text: &str, contents: usize) -> Vec<PromptPart> {
    let mut parts = Vec::new();
    let mut rest = text;
    for number in 0..contents {
        let mark = mark(number);
        let Some((before, after)) = rest.split_once(&mark) else {
            continue;
        };
        if !before.is_empty() {
            parts.push(PromptPart::Frame(before.to_owned()));
        }
        parts.push(PromptPart::Content(number));
        rest = after;
    }
    if !rest.is_empty() {
        parts.push(PromptPart::Frame(rest.to_owned()));
    }
    parts
}

/// Whether llama.cpp supports this template without losing contents.
pub(crate) fn works(llama: &LlamaModel, template: &LlamaChatTemplate) -> bool {
    let roles = ["system", "user", "assistant", "user"];
    parts(llama, template, &roles).is_ok_and(|parts| {
        (0..roles.len()).all(|number| parts.contains(&PromptPart::Content(number)))
    })
}

impl Model {
    /// The layout of messages with these roles, up to the answer.
    pub fn layout(&self, roles: &[&str]) -> Result<Vec<PromptPart>, ModelError> {
        parts(&self.llama, &self.template, roles).map_err(|error| {
            ModelError::failed(format!(
                "The chat template of {} is not supported: {error}",
                self.source.name
            ))
        })
    }

    /// The tokens of a layout with the tokens of its contents.
    pub fn fill(&self, layout: &[PromptPart], contents: &[Vec<LlamaToken>]) -> Vec<LlamaToken> {
        let vocab = self.llama.vocab();
        let mut tokens = Vec::new();
        for part in layout {
            match part {
                PromptPart::Frame(text) => tokens.extend(self.tokenise(text, true)),
                PromptPart::Content(number) => {
                    tokens.extend(contents.get(*number).into_iter().flatten());
                }
            }
        }
        if vocab.should_add_bos() && tokens.first() != Some(&vocab.bos()) {
            tokens.insert(0, vocab.bos());
        }
        tokens
    }

    /// The tokens of a content, never control tokens.
    pub fn plain(&self, text: &str) -> Vec<LlamaToken> {
        let vocab = self.llama.vocab();
        let tokens = self.tokenise(text, false);
        let forbidden = |token: &LlamaToken| {
            vocab.is_control(*token) || vocab.is_eog(*token) || self.reserved.contains(token)
        };
        if !tokens.iter().any(forbidden) {
            return tokens;
        }
        // A vocabulary that does not mark its control tokens: no single character is one.
        let mut letter = [0; 4];
        text.chars()
            .flat_map(|c| self.tokenise(c.encode_utf8(&mut letter), false))
            .filter(|token| !forbidden(token))
            .collect()
    }

    fn tokenise(&self, text: &str, control: bool) -> Vec<LlamaToken> {
        let vocab = self.llama.vocab();
        if self.spaces {
            let line = vocab.tokenize(b"\n", false, control);
            let both = vocab.tokenize(format!("\n{text}").as_bytes(), false, control);
            if let Some(rest) = both.strip_prefix(line.as_slice()) {
                return rest.to_vec();
            }
        }
        vocab.tokenize(text.as_bytes(), false, control)
    }

    /// The control tokens of the template.
    pub fn find_reserved(&self) -> Vec<LlamaToken> {
        let vocab = self.llama.vocab();
        let roles = ["system", "user", "assistant", "user"];
        let layout = self.layout(&roles).unwrap_or_default();
        let mut tokens = self.fill(&layout, &[]);
        tokens.retain(|token| {
            vocab.is_control(*token) || vocab.attr(*token).contains(LlamaTokenAttr::UserDefined)
        });
        tokens.sort_unstable();
        tokens.dedup();
        tokens
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filled_template_is_cut_at_the_marks() {
        let text = format!("<s>{}</s><u>{}{}", mark(0), mark(1), "</u><a>");
        let frame = |text: &str| PromptPart::Frame(text.to_owned());
        assert_eq!(
            cut(&text, 2),
            [
                frame("<s>"),
                PromptPart::Content(0),
                frame("</s><u>"),
                PromptPart::Content(1),
                frame("</u><a>")
            ]
        );
    }
}
