//! What the engine remembers of conversations: which tokens each of llama.cpp's sequences holds, and who uses it.

use llama_cpp_2::token::LlamaToken;

/// A shared beginning that is shorter is not worth copying.
const WORTH: usize = 16;
/// A conversation that goes on gives up no more than this: the end of an answer that is spelled otherwise when it is read.
const TAIL: usize = 8;

/// One sequence of the context.
#[derive(Debug, Default, Clone)]
pub(crate) struct Slot {
    /// The tokens whose state is in memory.
    pub known: Vec<LlamaToken>,
    /// The request that uses it now.
    pub owner: Option<u64>,
    /// When it was used last, in steps.
    pub used: u64,
}

/// Where a request goes, and what it finds there.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    pub slot: usize,
    /// Another slot to copy the beginning from.
    pub from: Option<usize>,
    /// Tokens at the beginning that need not be read again.
    pub shared: usize,
}

/// How long two lists are the same.
fn common(one: &[LlamaToken], other: &[LlamaToken]) -> usize {
    one.iter().zip(other).take_while(|(a, b)| a == b).count()
}

/// Finds a slot without an owner for these tokens: the one that knows most of them, else the one least recently used.
pub(crate) fn choose(slots: &[Slot], tokens: &[LlamaToken], divisible: bool) -> Option<Choice> {
    // The last token is always read, since what follows it is wanted.
    let most = tokens.len().saturating_sub(1);
    let shared = |slot: &Slot| common(&slot.known, tokens).min(most);
    let numbered = || slots.iter().enumerate();
    let free = || numbered().filter(|(_, slot)| slot.owner.is_none());
    let whole = |slot: &Slot| shared(slot) == slot.known.len() && !slot.known.is_empty();

    let own = free()
        // Its own conversation goes on in it. One that only begins alike keeps what it knows.
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
    fn a_conversation_goes_on_in_the_slot_that_knows_it() {
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
