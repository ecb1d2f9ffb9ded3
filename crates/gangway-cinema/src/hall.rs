//! Halls and their seats.

use std::collections::BTreeSet;

use super::dice::SeededRandom;

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hall {
    /// Its number in the theater, from 1.
    pub number: usize,
    pub format: &'static str,
    rows: usize,
    width: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Standard,
    /// In the last rows.
    Premium,
    /// Without steps, with room beside it.
    Accessible,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Seat {
    /// Row and number: `B7`.
    pub id: String,
    /// `A` is the row next to the screen.
    pub row: char,
    /// The number in the row, from 1.
    pub number: usize,
    /// What kind it is.
    pub kind: Kind,
}

/// One in this many showings is sold out.
const SOLD_OUT: usize = 18;

impl Hall {
    pub(super) fn new(number: usize, dice: &mut SeededRandom) -> Self {
        let format = ["2D", "2D", "3D", "Large screen"][dice.below(4)];
        Self {
            number,
            format,
            rows: dice.between(6, 10),
            width: dice.between(8, 14),
        }
    }

    /// From the screen to the back.
    pub fn rows(&self) -> impl Iterator<Item = char> + use<> {
        ('A'..='Z').take(self.rows)
    }

    /// Row by row.
    #[must_use]
    pub fn seats(&self) -> Vec<Seat> {
        let (last, width) = (self.rows, self.width);
        let seats = self.rows().zip(1..).flat_map(|(row, nth)| {
            (1..=width).map(move |number| Seat {
                id: format!("{row}{number}"),
                row,
                number,
                kind: match (nth, number) {
                    (1, 1 | 2) => Kind::Accessible,
                    _ if nth == last || (nth + 1 == last && last >= 8) => Kind::Premium,
                    _ => Kind::Standard,
                },
            })
        });
        seats.collect()
    }

    /// Seats that are taken from the start: groups, more of them at the back.
    pub(super) fn taken(&self, dice: &mut SeededRandom) -> BTreeSet<String> {
        let seats = self.seats();
        if dice.below(SOLD_OUT) == 0 {
            return seats.into_iter().map(|seat| seat.id).collect();
        }
        let wanted = seats.len() * dice.between(4, 62) / 100;
        let mut taken = BTreeSet::new();
        while taken.len() < wanted {
            // The larger of two numbers, so that the front rows fill last.
            let row = dice.below(self.rows).max(dice.below(self.rows));
            let (first, group) = (dice.below(self.width), dice.between(1, 4));
            let places = seats.iter().skip(row * self.width + first);
            for seat in places.take(group.min(self.width - first)) {
                if seat.kind != Kind::Accessible {
                    taken.insert(seat.id.clone());
                }
            }
        }
        taken
    }
}
