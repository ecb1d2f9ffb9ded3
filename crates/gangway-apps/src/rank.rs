//! Ranks apps for a query.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, OnceLock},
};

use super::{App, manifest::Manifest};

/// Characters of a query that are read.
const LONGEST: usize = 2_000;

/// The weight of a match, by where it is found.
const TRIGGER: f64 = 5.0;
const PROVIDES: f64 = 4.0;
const NAME: f64 = 3.0;
const TAG: f64 = 3.0;
const CATEGORY: f64 = 2.0;
const DESCRIPTION: f64 = 1.5;

/// The weight of a word with the same prefix.
const ALIKE: f64 = 0.5;

/// Stop words, many of them from the way triggers are written.
const EMPTY: &str = "a about all am an and any app application are as ask asks at be been by can could did do does for from \
    get give had has have he her him his how i if in into is it its just launch let like may me might my need needs of on \
    open or our out over please run she show so some start that the their them then there these they this to up us use \
    user users using want wants was we were what when where which who will wish with would you your";

/// The apps that match a query, best first, with their scores; without a query all of them, by name.
#[must_use]
pub fn rank(query: Option<&str>, apps: &[Arc<App>]) -> Vec<(f64, Arc<App>)> {
    let query = query.map(str::trim).filter(|query| !query.is_empty());
    let Some(query) = query else {
        let mut all: Vec<_> = apps.iter().map(|app| (0.0, Arc::clone(app))).collect();
        all.sort_by(|(_, a), (_, b)| a.name.cmp(&b.name));
        return all;
    };
    let query: String = query.chars().take(LONGEST).collect();
    let wanted: HashSet<String> = words(&query).collect();
    let known: Vec<&WeightedWords> = apps.iter().map(|app| app.words.of(&app.manifest)).collect();
    let rarity = Rarity { known: &known };
    let scored = apps.iter().zip(&known);
    let mut found: Vec<_> = scored
        .map(|(app, words)| (words.score(&wanted, &rarity), Arc::clone(app)))
        .filter(|(score, _)| *score > 0.0)
        .collect();
    found.sort_by(|(a, one), (b, other)| b.total_cmp(a).then_with(|| one.name.cmp(&other.name)));
    found
}

/// The words of an app, collected once for a manifest: stemming all of them takes longer than everything else.
#[derive(Debug, Clone, Default)]
pub(crate) struct KnownWords(Arc<OnceLock<WeightedWords>>);

impl KnownWords {
    fn of(&self, manifest: &Manifest) -> &WeightedWords {
        self.0.get_or_init(|| WeightedWords::of(manifest))
    }
}

/// They follow from the manifest, which is compared.
impl PartialEq for KnownWords {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

/// The words of an app, with their weights.
#[derive(Debug)]
struct WeightedWords {
    worth: HashMap<String, f64>,
    triggers: Vec<HashSet<String>>,
}

impl WeightedWords {
    fn of(manifest: &Manifest) -> Self {
        let agent = &manifest.agent;
        let mut worth: HashMap<String, f64> = HashMap::new();
        let mut add = |text: &str, value: f64| {
            for word in words(text) {
                let worth = worth.entry(word).or_default();
                // The best place counts fully, another one a little.
                *worth = worth.max(value) + 0.1 * worth.min(value);
            }
        };
        agent.triggers.iter().for_each(|text| add(text, TRIGGER));
        agent.provides.iter().for_each(|text| add(text, PROVIDES));
        add(manifest.name.as_str(), NAME);
        add(&manifest.title, NAME);
        manifest.tags.iter().for_each(|text| add(text, TAG));
        manifest
            .category
            .iter()
            .for_each(|text| add(text, CATEGORY));
        add(&manifest.description, DESCRIPTION);
        Self {
            worth,
            triggers: agent
                .triggers
                .iter()
                .map(|text| words(text).collect())
                .collect(),
        }
    }

    fn score(&self, wanted: &HashSet<String>, rarity: &Rarity<'_>) -> f64 {
        let single = |word: &String| rarity.of_word(word) * self.worth_of(word);
        let words: f64 = wanted.iter().map(single).sum();
        // A trigger that is matched almost completely counts more than its words separately.
        let whole = |trigger: &HashSet<String>| {
            if trigger.is_disjoint(wanted) {
                return 0.0;
            }
            let weight = |word: &String| rarity.of_word(word);
            let message: f64 = trigger
                .iter()
                .filter(|word| wanted.contains(*word))
                .map(weight)
                .sum();
            let all: f64 = trigger.iter().map(weight).sum();
            if all > 0.0 {
                TRIGGER * message * message / all
            } else {
                0.0
            }
        };
        words + self.triggers.iter().map(whole).fold(0.0, f64::max)
    }

    fn worth_of(&self, word: &str) -> f64 {
        if let Some(worth) = self.worth.get(word) {
            return *worth;
        }
        let alike = self.worth.iter().filter(|(known, _)| is_alike(known, word));
        ALIKE * alike.map(|(_, worth)| *worth).fold(0.0, f64::max)
    }
}

/// The rarer a word, the higher its weight.
struct Rarity<'a> {
    known: &'a [&'a WeightedWords],
}

impl Rarity<'_> {
    fn of_word(&self, word: &str) -> f64 {
        let having = self
            .known
            .iter()
            .filter(|words| words.worth.contains_key(word));
        (1.0 + self.known.len() as f64 / having.count().max(1) as f64).ln()
    }
}

/// Whether two words have a long common prefix, as `calculator` and `calculation` do.
fn is_alike(one: &str, other: &str) -> bool {
    let same = one
        .chars()
        .zip(other.chars())
        .take_while(|(a, b)| a == b)
        .count();
    same >= 4 && one.chars().count().max(other.chars().count()) - same <= 4
}

/// The stems of the words of a text, without stop words.
fn words(text: &str) -> impl Iterator<Item = String> {
    let lower = text.to_lowercase();
    let found: Vec<String> = lower
        .split(|c: char| !c.is_alphanumeric())
        .filter(|word| !word.is_empty() && !EMPTY.split_whitespace().any(|empty| empty == *word))
        .map(stem)
        .collect();
    found.into_iter()
}

/// Suffixes and their replacements, longest first: `visualization` becomes `visualize`, `calculator` `calculate`.
const ENDINGS: [(&str, &str); 14] = [
    ("ization", "ize"),
    ("isation", "ize"),
    ("fulness", "ful"),
    ("ation", "ate"),
    ("izer", "ize"),
    ("iser", "ize"),
    ("ator", "ate"),
    ("ment", ""),
    ("ness", ""),
    ("able", ""),
    ("ise", "ize"),
    ("is", "iz"),
    ("er", ""),
    ("or", ""),
];

/// Removes inflections and suffixes.
fn stem(word: &str) -> String {
    let mut stem = word.to_owned();
    let plural = [
        ("sses", "ss"),
        ("ies", "y"),
        ("ches", "ch"),
        ("shes", "sh"),
        ("xes", "x"),
        ("ss", "ss"),
        ("us", "us"),
        ("s", ""),
    ];
    if let Some((end, now)) = plural
        .iter()
        .find(|(end, _)| word.len() > 3 && word.ends_with(end))
    {
        stem.truncate(stem.len() - end.len());
        stem.push_str(now);
    }
    for end in ["ing", "ed", "ly"] {
        let Some(rest) = stem.strip_suffix(end) else {
            continue;
        };
        if rest.len() >= 3 && rest.contains(['a', 'e', 'i', 'o', 'u', 'y']) {
            let mut rest = rest.to_owned();
            // `planning` becomes `plan`.
            let mut last = rest.chars().rev();
            let (one, two) = (last.next(), last.next());
            if one == two && !matches!(one, Some('l' | 's' | 'z')) {
                rest.pop();
            }
            stem = rest;
            break;
        }
    }
    for (end, now) in ENDINGS {
        if let Some(rest) = stem.strip_suffix(end).filter(|rest| rest.len() >= 3) {
            stem = format!("{rest}{now}");
            break;
        }
    }
    match stem.strip_suffix('e') {
        Some(rest) if rest.len() >= 3 => rest.to_owned(),
        _ => stem,
    }
}
