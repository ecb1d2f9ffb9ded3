//! Stems of the words of a text, translated to English where they are common words of other languages for what tools
//! do.

use std::collections::BTreeMap;

/// Stop words.
const PLAIN: [&str; 66] = [
    "a", "an", "and", "any", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from",
    "get", "give", "has", "have", "how", "if", "in", "into", "is", "it", "its", "me", "my", "of",
    "on", "or", "please", "such", "that", "the", "this", "to", "tool", "tools", "use", "used",
    "using", "what", "when", "which", "will", "with", "you", "your", "all", "der", "die", "das",
    "und", "ist", "les", "une", "des", "los", "las", "que", "che", "sur", "con", "server", "mcp",
    "new",
];

/// What tools do and what they are about, with prefixes of the words for it in German, French, Spanish and Italian.
/// Prefixes of fewer than four letters are whole words.
const OTHER_LANGUAGES: [(&str, &[&str]); 34] = [
    (
        "search",
        &[
            "suche", "recherch", "cherch", "busca", "cerca", "ricerca", "finde", "trouv",
            "encuentr", "trova",
        ],
    ),
    ("file", &["datei", "fichier", "fichero", "archivo"]),
    (
        "folder",
        &[
            "ordner",
            "verzeichnis",
            "dossier",
            "carpeta",
            "cartella",
            "repertoire",
        ],
    ),
    (
        "read",
        &["lies", "lese", "lire", "lis", "lee", "leer", "legg"],
    ),
    ("write", &["schreib", "ecris", "ecrire", "escrib", "scriv"]),
    (
        "remember",
        &[
            "erinner", "merk", "souvien", "retien", "recuerd", "ricord", "memoris",
        ],
    ),
    ("memory", &["gedachtnis", "memoire", "memoria"]),
    ("message", &["nachricht", "mensaje", "messaggi"]),
    ("channel", &["kanal", "canal"]),
    ("database", &["datenbank", "donnees", "datos", "database"]),
    ("query", &["abfrage", "requete", "consulta", "interroga"]),
    ("browser", &["navigateur", "navegador"]),
    ("page", &["seite", "pagina"]),
    ("web", &["webseite", "internet", "sitio", "sito"]),
    (
        "weather",
        &[
            "wetter", "meteo", "clima", "regnet", "regnen", "pleuv", "pleut", "llover", "llueve",
            "piov",
        ],
    ),
    (
        "time",
        &["uhr", "uhrzeit", "spat", "heure", "hora", "ora", "ore"],
    ),
    ("timezone", &["zeitzone", "fuseau", "huso", "fuso"]),
    ("calendar", &["kalender", "calendrier", "calendario"]),
    (
        "event",
        &[
            "termin",
            "besprechung",
            "rendez",
            "reunion",
            "cita",
            "riunion",
            "appuntament",
        ],
    ),
    ("email", &["mail", "courriel", "correo", "posta"]),
    (
        "send",
        &["schick", "sende", "envoi", "envoy", "envia", "invia"],
    ),
    ("map", &["karte", "carte", "mapa", "mappa"]),
    (
        "route",
        &[
            "strecke",
            "itineraire",
            "ruta",
            "percorso",
            "wegbeschreibung",
        ],
    ),
    ("translate", &["ubersetz", "tradui", "traduc", "tradur"]),
    ("image", &["bild", "imagen", "immagin"]),
    ("music", &["musik", "musique", "musica"]),
    ("song", &["lied", "chanson", "cancion", "canzon"]),
    (
        "play",
        &["spiel", "joue", "toca", "reproduce", "riproduc", "suona"],
    ),
    ("task", &["aufgabe", "tache", "tarea", "compito"]),
    ("note", &["notiz", "nota", "appunt"]),
    ("calculate", &["berechn", "rechne", "calcul", "calcol"]),
    (
        "screenshot",
        &["bildschirmfoto", "capture", "captura", "schermata"],
    ),
    ("channel", &["canale"]),
    ("table", &["tabelle", "tableau", "tabla", "tabella"]),
];

/// English suffixes, longest first; at least three letters stay.
const ENDINGS: [&str; 22] = [
    "izations", "ization", "ations", "ation", "izing", "ized", "izes", "ize", "ions", "ings",
    "ion", "ing", "ers", "ies", "es", "ed", "er", "al", "e", "s", "y", "i",
];

/// The stems of a text, each with the word it was found in.
pub(super) fn words(text: &str) -> BTreeMap<String, String> {
    let mut spaced = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    for c in text.chars() {
        // `readFile` is two words.
        if c.is_uppercase() && before.is_lowercase() {
            spaced.push(' ');
        }
        spaced.push(c);
        before = c;
    }
    let spaced = spaced.to_lowercase();
    let parts = spaced.split(|c: char| !c.is_alphanumeric());
    let mut found = BTreeMap::new();
    for part in parts.filter(|word| word.len() > 1 && !PLAIN.contains(word)) {
        let plain = without_accents(part);
        for meaning in in_english(&plain) {
            found.insert(stem(meaning), part.to_owned());
        }
        found.insert(stem(&plain), part.to_owned());
    }
    found
}

/// The meanings of a foreign word; it may have several.
fn in_english(word: &str) -> impl Iterator<Item = &'static str> {
    let means = |beginning: &&str| match beginning.len() {
        ..4 => word == *beginning,
        _ => word.starts_with(*beginning),
    };
    let meanings = OTHER_LANGUAGES.iter();
    let meanings = meanings.filter(move |(_, beginnings)| beginnings.iter().any(means));
    meanings
        .map(|(meaning, _)| *meaning)
        .collect::<Vec<_>>()
        .into_iter()
}

/// Whether a stem is a common word for what tools do, and so hardly a name.
pub(super) fn is_common(of: &str) -> bool {
    OTHER_LANGUAGES
        .iter()
        .any(|(meaning, _)| stem(meaning) == of)
}

fn without_accents(word: &str) -> String {
    let plain = |c| match c {
        'à' | 'á' | 'â' | 'ã' | 'ä' | 'å' => 'a',
        'è' | 'é' | 'ê' | 'ë' => 'e',
        'ì' | 'í' | 'î' | 'ï' => 'i',
        'ò' | 'ó' | 'ô' | 'õ' | 'ö' => 'o',
        'ù' | 'ú' | 'û' | 'ü' => 'u',
        'ç' => 'c',
        'ñ' => 'n',
        other => other,
    };
    word.chars().map(plain).collect()
}

/// Removes the suffix, so that `search`, `searches` and `searching` are one.
pub(super) fn stem(word: &str) -> String {
    // Not plurals.
    if word.ends_with("ss") || word == "news" || !word.is_ascii() {
        return word.to_owned();
    }
    for ending in ENDINGS {
        if let Some(stem) = word.strip_suffix(ending).filter(|stem| stem.len() >= 3) {
            return stem.to_owned();
        }
    }
    word.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            &["search", "searches", "searching", "searched"][..],
            &["file", "files"],
            &["directory", "directories"],
            &["visualize", "visualization", "visualizing"],
            &["query", "queries"],
            &["convert", "converts", "converter"],
        ] {
            let stems: Vec<_> = forms.iter().map(|word| stem(word)).collect();
            assert!(stems.iter().all(|one| *one == stems[0]), "{stems:?}");
        }
    }

    #[test]
    fn other_languages_are_understood_with_and_without_accents() {
        for word in ["Übersetze", "ubersetzen", "Traduis", "traduce", "traduci"] {
            assert!(words(word).contains_key(&stem("translate")), "{word}");
        }
    }
}
