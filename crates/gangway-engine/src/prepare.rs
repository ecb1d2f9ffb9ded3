//! Prepares a request for the engine outside of its thread: tokens, constraint, limits.

use gangway_models::{ChatRequest, Failure, ModelError};
use llama_cpp_2::token::LlamaToken;

use crate::{
    conversation::{self, Turn, callable},
    frame::PromptPart,
    grammar,
    model::Model,
    parser::OutputParser,
    sampling::Chooser,
    window,
};

/// Default output limit.
const ANSWER: u32 = 1024;
/// Minimum room for an answer; otherwise the conversation does not fit.
const LEAST: usize = 32;
/// Maximum length of a conversation in bytes: tokenizing a longer one takes seconds, however little of it fits.
const LONGEST: usize = 8 * 1024 * 1024;

/// Bytes that are tokenized at once. llama.cpp needs some 240 bytes of memory for each.
const PIECE: usize = 32 * 1024;

/// A prepared request.
pub(crate) struct Prepared {
    pub tokens: Vec<LlamaToken>,
    pub chooser: Chooser,
    pub parser: OutputParser,
    /// Maximum number of output tokens.
    pub limit: usize,
    /// A notice about omitted messages, for the user.
    pub notice: Option<String>,
}

/// Prepares a request for this model, unless its reader has left.
pub(crate) fn prepare(
    model: &Model,
    request: &ChatRequest,
    is_gone: &dyn Fn() -> bool,
) -> Result<Prepared, ModelError> {
    let form = grammar::matcher(request, || model.guide())?;
    let window = usize::try_from(model.window).unwrap_or(usize::MAX);
    let wanted = usize::try_from(request.max_tokens.unwrap_or(ANSWER)).unwrap_or(usize::MAX);
    let (tokens, left_out) = read(model, request, window, wanted.max(1), is_gone)?;
    if tokens.is_empty() {
        return Err(ModelError::failed(
            "The built-in model cannot process this conversation: its vocabulary has no tokens for it.",
        ));
    }
    let notice = (left_out > 0).then(|| {
        format!(
            "The conversation is longer than the {window} tokens that the model can read; its oldest {left_out} messages were left out."
        )
    });
    let room = window.saturating_sub(tokens.len());
    Ok(Prepared {
        limit: wanted.max(1).min(room),
        tokens,
        chooser: Chooser::new(request, form, model.llama.n_vocab()),
        parser: OutputParser::new(&request.stop, !callable(request).is_empty()),
        notice,
    })
}

/// The tokens of the part of a conversation that fits, and the number of omitted messages.
fn read(
    model: &Model,
    request: &ChatRequest,
    window: usize,
    wanted: usize,
    is_gone: &dyn Fn() -> bool,
) -> Result<(Vec<LlamaToken>, usize), ModelError> {
    let turns = conversation::turns(request);
    if turns.is_empty() {
        return Err(ModelError::bad_request(
            "The request has no message to answer.",
        ));
    }
    if turns.iter().map(|turn| turn.text.len()).sum::<usize>() > LONGEST {
        let message = format!(
            "The conversation must be at most {} MiB for the built-in model.",
            LONGEST / 1024 / 1024
        );
        return Err(ModelError::new(Failure::TooLong, message));
    }
    let contents = tokenise(model, &turns, window, is_gone)?;
    let roles: Vec<&str> = turns.iter().map(|turn| turn.role).collect();
    let layout = model.layout(&roles)?;
    let all = model.fill(&layout, &contents);
    let frames = all.len() - contents.iter().map(Vec::len).sum::<usize>().min(all.len());
    // The template adds about the same to each turn.
    let frame = frames.div_ceil(turns.len());
    let costs: Vec<usize> = contents
        .iter()
        .map(|content| content.len() + frame)
        .collect();

    // At least half of the context is for the prompt, if necessary nearly all of it.
    let comfortable = window - wanted.min(window / 2).min(ANSWER as usize).max(1);
    let tight = window - wanted.min(LEAST).min(window / 2);
    if all.len() <= comfortable {
        return Ok((all, 0));
    }
    let mut excess = 0;
    for room in [comfortable, tight] {
        let stored = match window::fit(&turns, &costs, room) {
            Ok(stored) => stored,
            Err(by) => {
                excess = by;
                continue;
            }
        };
        let roles: Vec<&str> = stored.iter().map(|number| turns[*number].role).collect();
        let layout = model.layout(&roles)?;
        let renumber = |part| match part {
            PromptPart::Content(number) => PromptPart::Content(stored[number]),
            frame @ PromptPart::Frame(_) => frame,
        };
        let layout: Vec<PromptPart> = layout.into_iter().map(renumber).collect();
        let tokens = model.fill(&layout, &contents);
        if tokens.len() <= tight {
            let known: usize = stored.iter().map(|number| turns[*number].messages).sum();
            let messages: usize = turns.iter().map(|turn| turn.messages).sum();
            return Ok((tokens, messages - known));
        }
        excess = tokens.len() - tight;
    }
    let message = format!(
        "The last message does not fit: with what must stay before it, it is at least {excess} tokens longer than the {window} that the model can read. Shorten it, or raise the context of the built-in model."
    );
    Err(ModelError::new(Failure::TooLong, message))
}

/// The tokens of each turn. Tokenizing stops at the context size, since a longer turn is omitted anyway.
fn tokenise(
    model: &Model,
    turns: &[Turn],
    window: usize,
    is_gone: &dyn Fn() -> bool,
) -> Result<Vec<Vec<LlamaToken>>, ModelError> {
    let mut contents = Vec::with_capacity(turns.len());
    for turn in turns {
        let mut content = Vec::new();
        let mut rest = turn.text.as_str();
        while !rest.is_empty() && content.len() <= window {
            if is_gone() {
                return Err(ModelError::failed("The reader has left."));
            }
            let (chunk, after) = rest.split_at(cut(rest));
            content.extend(model.plain(chunk));
            rest = after;
        }
        contents.push(content);
    }
    Ok(contents)
}

/// Where to split a long text for tokenizing: before a space between two words, where tokens end in any case.
fn cut(text: &str) -> usize {
    if text.len() <= PIECE {
        return text.len();
    }
    let bytes = text.as_bytes();
    let between = |at: &usize| {
        bytes[*at] == b' '
            && !bytes[at - 1].is_ascii_whitespace()
            && bytes[at + 1].is_ascii_alphanumeric()
    };
    // The last quarter has no such place: split between any two characters.
    (PIECE * 3 / 4..PIECE)
        .rev()
        .find(between)
        .or_else(|| (0..=PIECE).rev().find(|at| text.is_char_boundary(*at)))
        .unwrap_or(text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_words_or_else_between_characters() {
        let message = "the ship sails ".repeat(PIECE / 8);
        let (first, rest) = message.split_at(cut(&message));
        assert!(first.len() <= PIECE && first.len() > PIECE / 2);
        assert!(!first.ends_with(' ') && rest.starts_with(' ') && !rest.starts_with("  "));
        let snow = "\u{2603}".repeat(PIECE);
        let first = cut(&snow);
        assert!(first <= PIECE && first > PIECE - 3 && snow.is_char_boundary(first));
        let spaces = " ".repeat(PIECE * 2);
        assert_eq!(cut(&spaces), PIECE);
        assert_eq!(cut("short"), 5);
    }
}
