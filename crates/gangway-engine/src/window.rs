//! Which turns of a long conversation fit into the context.

use crate::conversation::Turn;

/// The cut moves by this part of the context at once. If it moved with every message, no cached tokens could be reused.
const STRIDES: usize = 4;

/// Turns that are dropped together, by index.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Unit {
    turns: std::ops::Range<usize>,
    stored: bool,
}

/// Splits a conversation into droppable units: whole exchanges, and after the last question whole rounds of calls.
fn units(turns: &[Turn]) -> Vec<Unit> {
    let asks = |number: &usize| turns[*number].role == "user" && !turns[*number].answers;
    let last_question = (0..turns.len()).rev().find(asks);
    let mut units: Vec<Unit> = Vec::new();
    for (number, turn) in turns.iter().enumerate() {
        let system = turn.role == "system";
        let after = last_question.is_none_or(|last| number > last);
        let begins = system
            || asks(&number)
            || (after && turn.role == "assistant")
            || units.last().is_none_or(|unit| unit.stored);
        let stored = system || last_question == Some(number);
        match units.last_mut() {
            Some(unit) if !begins => unit.turns.end = number + 1,
            _ => units.push(Unit {
                turns: number..number + 1,
                stored,
            }),
        }
    }
    // The model continues from the newest round.
    if let Some(last) = units.last_mut() {
        last.stored = true;
    }
    units
}

/// The indices of the turns that fit into `room` tokens, given their sizes, or by how much the minimum exceeds it.
pub(crate) fn fit(turns: &[Turn], costs: &[usize], room: usize) -> Result<Vec<usize>, usize> {
    let units = units(turns);
    let cost = |unit: &Unit| costs[unit.turns.clone()].iter().sum::<usize>();
    let needed: usize = units.iter().filter(|unit| unit.stored).map(cost).sum();
    if needed > room {
        return Err(needed - room);
    }
    let total: usize = costs.iter().sum();
    let stride = (room / STRIDES).max(1);
    let excess = total.saturating_sub(room);
    let mut aim = excess.div_ceil(stride) * stride;
    // The room may be too small for whole strides.
    aim = aim.min(total - needed);
    let mut dropped = 0;
    let mut stored = Vec::new();
    for unit in &units {
        if !unit.stored && dropped < aim {
            dropped += cost(unit);
        } else {
            stored.extend(unit.turns.clone());
        }
    }
    Ok(stored)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Turns by letter: s(ystem), u(ser), a(ssistant), t(ool results).
    fn conversation(letters: &str) -> Vec<Turn> {
        let turn = |letter| Turn {
            role: match letter {
                's' => "system",
                'a' => "assistant",
                _ => "user",
            },
            text: String::new(),
            messages: 1,
            answers: letter == 't',
        };
        letters.chars().map(turn).collect()
    }

    fn kept(letters: &str, room: usize) -> Result<String, usize> {
        let turns = conversation(letters);
        let stored = fit(&turns, &vec![10; turns.len()], room)?;
        Ok(stored
            .iter()
            .map(|i| letters.as_bytes()[*i] as char)
            .collect())
    }

    #[test]
    fn a_conversation_that_fits_is_left_alone() {
        assert_eq!(kept("suauau", 60), Ok("suauau".to_owned()));
    }

    #[test]
    fn whole_exchanges_go_oldest_first_and_the_system_stays() {
        assert_eq!(kept("suauauau", 70), Ok("suauau".to_owned()));
        assert_eq!(kept("uasuau", 40), Ok("suau".to_owned()));
        assert_eq!(kept("suatauau", 50), Ok("suau".to_owned()));
    }

    #[test]
    fn rounds_of_calls_after_the_last_question_go_too_but_never_an_answer_without_its_call() {
        assert_eq!(kept("suatatat", 70), Ok("suatat".to_owned()));
        assert_eq!(kept("suatatat", 40), Ok("suat".to_owned()));
    }

    #[test]
    fn what_cannot_be_dropped_and_does_not_fit_is_an_error_that_says_by_how_much() {
        assert_eq!(kept("suau", 15), Err(5));
    }

    #[test]
    fn the_cut_stays_while_a_conversation_grows_a_little() {
        let gone = |exchanges: usize| {
            let letters = "ua".repeat(exchanges) + "u";
            kept(&letters, 240).map(|stored| letters.len() - stored.len())
        };
        assert_eq!([12, 13, 14, 15].map(gone), [6, 6, 6, 12].map(Ok));
    }
}
