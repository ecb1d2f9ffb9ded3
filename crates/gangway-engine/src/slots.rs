//! The engine's prompt cache: the tokens in each of llama.cpp's sequences, and their owners.

use llama_cpp_2::token::LlamaToken;

/// Minimum length of a common prefix worth copying.
const WORTH: usize = 16;
/// Maximum number of tokens that a continued conversation may lose: the end of an answer may be tokenized differently
/// when read again.
const TAIL: usize = 8;

/// One sequence of the context.
#[derive(Debug, Default, Clone)]
pub(crate) struct Slot {
    /// The tokens in the cache.
    pub known: Vec<LlamaToken>,
    /// The request that uses it.
    pub owner: Option<u64>,
    /// When it was last used, in steps.
    pub used: u64,
}

/// A slot for a request, with the reusable tokens.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub slot: usize,
    /// Another slot to copy the prefix from.
    pub from: Option<usize>,
    /// Tokens of the prefix that need not be read again.
    pub shared: usize,
}

/// Length of the common prefix.
fn common(one: &[LlamaToken], other: &[LlamaToken]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

/// Selects a free slot for these tokens: the one with the longest common prefix, else the least recently used one.
pub(crate) fn choose(slots: &[Slot], tokens: &[LlamaToken], divisible: bool) -> Option<Choice> {
    // The last token is always processed, since its logits are needed.
    let most = tokens.len().saturating_sub(1);
    let shared = |slot: &Slot| common(&slot.known, tokens).min(most);
    let numbered = || slots.iter().enumerate();
    let free = || numbered().filter(|(_, slot)| slot.owner.is_none());
    let whole = |slot: &Slot| shared(slot) == slot.known.len() && !slot.known.is_empty();

    let own = free()
        // Its own conversation continues in it. A slot with only a common prefix keeps its contents.
        .filter(|(_, slot)| whole(slot) || (divisible && shared(slot) + TAIL >= slot.known.len()))
        .filter(|(_, slot)| !slot.known.is_empty())
        .max_by_key(|(_, slot)| shared(slot));
    let other = numbered()
        .filter(|(_, slot)| divisible && shared(slot) >= WORTH)
        .max_by_key(|(_, slot)| shared(slot));
    if let Some((number, slot)) = own
        && other.is_none_or(|(_, other)| shared(other) <= shared(slot))
        && shared(slot) > 0
    {
        return Some(Choice {
            slot: number,
            from: None,
            shared: shared(slot),
        });
    }
    let (number, _) = free().min_by_key(|(_, slot)| (!slot.known.is_empty(), slot.used))?;
    let other = other.map(|(from, slot)| (from, shared(slot)));
    let (from, shared) = other.unzip();
    Some(Choice {
        slot: number,
        from: from.filter(|from| *from != number),
        shared: shared.unwrap_or(0),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tokens(numbers: impl IntoIterator<Item = i32>) -> Vec<LlamaToken> {
        numbers.into_iter().map(LlamaToken).collect()
    }

    fn slot(known: impl IntoIterator<Item = i32>, owner: Option<u64>, used: u64) -> Slot {
        Slot {
            known: tokens(known),
            owner,
            used,
        }
    }

    #[test]
    fn a_conversation_continues_in_the_slot_that_knows_it() {
        let slots = [
            slot(0..50, None, 1),
            slot(0..80, None, 2),
            slot([], None, 0),
        ];
        let wanted = Choice {
            slot: 1,
            from: None,
            shared: 80,
        };
        assert_eq!(choose(&slots, &tokens(0..100), true), Some(wanted));
    }

    #[test]
    fn the_last_token_is_read_even_when_everything_is_known() {
        let slots = [slot(0..100, None, 1)];
        assert_eq!(
            choose(&slots, &tokens(0..100), true).map(|choice| choice.shared),
            Some(99)
        );
    }

    #[test]
    fn a_beginning_in_common_is_copied_from_a_slot_in_use() {
        let slots = [
            slot(0..50, Some(7), 1),
            slot(500..900, None, 2),
            slot(600..700, None, 1),
        ];
        let wanted = Choice {
            slot: 2,
            from: Some(0),
            shared: 30,
        };
        assert_eq!(
            choose(&slots, &tokens((0..30).chain(90..99)), true),
            Some(wanted)
        );
    }

    #[test]
    fn a_long_conversation_is_not_given_up_for_one_that_only_begins_alike() {
        let slots = [slot(0..500, None, 1), slot([], None, 0)];
        let wanted = Choice {
            slot: 1,
            from: Some(0),
            shared: 20,
        };
        assert_eq!(
            choose(&slots, &tokens((0..20).chain(900..999)), true),
            Some(wanted)
        );
    }

    #[test]
    fn without_anything_in_common_the_least_recently_used_slot_is_taken() {
        let slots = [
            slot(0..9, None, 5),
            slot(10..19, Some(1), 1),
            slot(20..29, None, 3),
        ];
        let wanted = Choice {
            slot: 2,
            from: None,
            shared: 0,
        };
        assert_eq!(choose(&slots, &tokens(40..50), true), Some(wanted));
        assert_eq!(choose(&slots[1..2], &tokens(40..50), true), None);
    }

    #[test]
    fn a_state_that_cannot_be_divided_is_only_continued() {
        let slots = [slot(0..50, None, 1), slot([], None, 0)];
        let went_on = choose(&slots, &tokens(0..60), false);
        assert_eq!(
            went_on.map(|choice| (choice.slot, choice.shared)),
            Some((0, 50))
        );
        let changed = choose(&slots, &tokens((0..40).chain(90..99)), false);
        assert_eq!(
            changed.map(|choice| (choice.slot, choice.shared)),
            Some((1, 0))
        );
    }
}
