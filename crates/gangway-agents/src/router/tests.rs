//! Prompts and the servers that they should select.

use super::*;

fn tools(list: &[(&str, &str)]) -> Vec<Arc<Tool>> {
    let tool = |(name, about): &(&str, &str)| {
        Arc::new(Tool {
            name: name.parse().unwrap(),
            description: (*about).to_owned(),
            input_schema: serde_json::json!({ "type": "object" }),
        })
    };
    list.iter().map(tool).collect()
}

fn some() -> Vec<Arc<Tool>> {
    tools(&[
        ("github/create_issue", "Opens an issue"),
        ("filesystem/read_file", "Reads a file"),
        ("my-memory/save", "Keeps a note"),
        ("time/convert_time", "Converts between timezones"),
        ("postgres/run", "Runs SQL"),
        ("web/scrape", "Fetches a page"),
        ("brave/web_search", "Searches"),
    ])
}

/// A large set of servers, with their real descriptions.
fn many() -> Vec<Arc<Tool>> {
    tools(&[
        (
            "github/create_issue",
            "Create a new issue in a GitHub repository",
        ),
        (
            "github/search_repositories",
            "Search for GitHub repositories",
        ),
        (
            "github/list_commits",
            "Get list of commits of a branch in a GitHub repository",
        ),
        (
            "filesystem/read_file",
            "Read the complete contents of a file",
        ),
        (
            "filesystem/list_directory",
            "Get a listing of all files and directories",
        ),
        (
            "memory/create_entities",
            "Create entities in the knowledge graph",
        ),
        (
            "memory/search_nodes",
            "Search for nodes in the knowledge graph",
        ),
        (
            "slack/slack_post_message",
            "Post a new message to a Slack channel",
        ),
        ("postgres/query", "Run a read-only SQL query"),
        (
            "brave-search/brave_web_search",
            "Performs a web search using the Brave Search API",
        ),
        (
            "wikipedia/search_wikipedia",
            "Search Wikipedia for articles matching a query",
        ),
        (
            "wikipedia/get_summary",
            "Get a summary of a Wikipedia article",
        ),
        (
            "open-meteo/weather_forecast",
            "Get the weather forecast with temperature and rain for a place",
        ),
        (
            "time/get_current_time",
            "Get current time in a specific timezone",
        ),
        ("google-calendar/create_event", "Create a calendar event"),
        ("google-calendar/list_events", "List events of a calendar"),
        ("gmail/send_email", "Send an email"),
        ("gmail/search_emails", "Search emails"),
        (
            "google-maps/maps_directions",
            "Get directions and the route between two points on the map",
        ),
        ("notion/create_page", "Create a page with notes in Notion"),
        ("spotify/play_track", "Play a song or other music"),
        (
            "puppeteer/puppeteer_screenshot",
            "Take a screenshot of the current page",
        ),
        (
            "deepl/translate_text",
            "Translate text to a target language",
        ),
    ])
}

fn chosen(sentence: &str) -> Vec<String> {
    route(sentence, &some()).servers.into_keys().collect()
}

#[test]
fn the_table_decides_where_no_server_is_named() {
    assert_eq!(chosen("Open a PR in my repo"), ["github"]);
    assert_eq!(chosen("Which files are in this folder?"), ["filesystem"]);
    assert_eq!(chosen("Remember that I like tea"), ["my-memory"]);
    assert_eq!(chosen("query the orders in SQL"), ["postgres"]);
    assert_eq!(chosen("search the web for ships"), ["brave", "web"]);
}

#[test]
fn words_of_tools_decide_where_the_table_is_silent() {
    assert_eq!(chosen("What timezone is Lisbon in?"), ["time"]);
    let route = route("What timezone is Lisbon in?", &some());
    assert_eq!(route.servers["time"], ["timezone"]);
}

#[test]
fn no_match_means_all_tools() {
    let route = route("Tell me a joke", &some());
    assert!(route.servers.is_empty() && route.has("github") && route.has("anything"));
}

#[test]
fn a_word_inside_another_does_not_count() {
    // `pr` is in `price`, `web` in `cobweb`, `url` in `curl`.
    assert!(chosen("the price of a cobweb is curling").is_empty());
}

#[test]
fn a_named_server_is_always_in_and_others_for_what_it_does_not_do() {
    let found =
        |sentence: &str| -> Vec<String> { route(sentence, &many()).servers.into_keys().collect() };
    assert_eq!(found("Search Wikipedia for Rome"), ["wikipedia"]);
    let both = found("Read the newest GitHub issue and put it into a folder");
    assert_eq!(both, ["filesystem", "github"]);
    assert_eq!(
        found("Post on Slack what Wikipedia says"),
        ["slack", "wikipedia"]
    );
}

#[test]
fn forty_sentences_in_five_languages_find_their_server() {
    let table = [
        ("Search Wikipedia for Rome", "wikipedia"),
        ("Will it rain in Lisbon tomorrow?", "open-meteo"),
        ("What time is it in Tokyo?", "time"),
        ("List the commits of last week", "github"),
        ("Play some music by Bach", "spotify"),
        ("Put a meeting into my calendar", "google-calendar"),
        ("Translate this into Polish", "deepl"),
        ("Take screenshots of the start page", "puppeteer"),
        ("Suche auf Wikipedia nach Rom", "wikipedia"),
        ("Wie wird das Wetter in Lissabon?", "open-meteo"),
        ("Wie spät ist es in Tokio?", "time"),
        ("Welche Dateien sind in diesem Ordner?", "filesystem"),
        ("Spiele ein Lied von Bach", "spotify"),
        (
            "Trage einen Termin in meinen Kalender ein",
            "google-calendar",
        ),
        ("Übersetze das ins Polnische", "deepl"),
        ("Merke dir, dass ich Tee mag", "memory"),
        ("Cherche Rome sur Wikipédia", "wikipedia"),
        ("Quelle est la météo à Lisbonne ?", "open-meteo"),
        ("Quelle heure est-il à Tokyo ?", "time"),
        ("Quels fichiers y a-t-il dans ce dossier ?", "filesystem"),
        ("Joue de la musique de Bach", "spotify"),
        ("Ajoute un rendez-vous à mon calendrier", "google-calendar"),
        ("Traduis cela en polonais", "deepl"),
        ("Envoie un courriel à Marie", "gmail"),
        ("Busca Roma en Wikipedia", "wikipedia"),
        ("¿Va a llover en Lisboa?", "open-meteo"),
        ("¿Qué hora es en Tokio?", "time"),
        ("¿Qué archivos hay en esta carpeta?", "filesystem"),
        ("Recuerda que me gusta el té", "memory"),
        ("Añade una reunión a mi calendario", "google-calendar"),
        ("Traduce esto al polaco", "deepl"),
        (
            "Consulta la tabla de pedidos en la base de datos",
            "postgres",
        ),
        ("Cerca Roma su Wikipedia", "wikipedia"),
        ("Che clima fa a Lisbona?", "open-meteo"),
        ("Che ore sono a Tokyo?", "time"),
        ("Quali file ci sono in questa cartella?", "filesystem"),
        ("Ricorda che mi piace il tè", "memory"),
        ("Aggiungi una riunione al mio calendario", "google-calendar"),
        ("Traduci questo in polacco", "deepl"),
        ("Invia un messaggio nel canale Slack", "slack"),
    ];
    assert_eq!(table.len(), 40);
    let tools = many();
    let mut wrong = Vec::new();
    for (sentence, server) in table {
        let found = route(sentence, &tools).servers;
        // The right server, and at most one more.
        if !found.contains_key(server) || found.len() > 2 {
            wrong.push(format!("{sentence}: {found:?} instead of {server}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn tools_are_limited_to_what_a_provider_accepts_and_those_that_fit_stay() {
    let mut all: Vec<_> = (0..300)
        .map(|n| (format!("filler/do_thing_{n}"), "Does a thing".to_owned()))
        .collect();
    all.insert(
        290,
        ("wikipedia/search".to_owned(), "Search articles".to_owned()),
    );
    let all: Vec<(&str, &str)> = all.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let stored = most_fitting("Search Wikipedia for Rome", tools(&all), 127);
    assert_eq!(stored.len(), 127);
    assert!(stored.iter().any(|tool| tool.name.server() == "wikipedia"));
    assert_eq!(most_fitting("x", some(), 127).len(), some().len());
}
