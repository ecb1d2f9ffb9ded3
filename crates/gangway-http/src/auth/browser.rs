//! A readable name from a `User-Agent` header.

const LONGEST: usize = 60;

/// Browser and operating system, such as `Firefox on Linux`.
pub(super) fn browser(user_agent: &str) -> String {
    let first = |names: &[(&str, &'static str)]| {
        let found = names.iter().find(|(mark, _)| user_agent.contains(mark));
        found.map(|(_, name)| *name)
    };
    let program = first(&[
        ("Edg", "Edge"),
        ("OPR/", "Opera"),
        ("Firefox/", "Firefox"),
        ("Chrome/", "Chrome"),
        ("Safari/", "Safari"),
    ]);
    let system = first(&[
        ("Android", "Android"),
        ("iPhone", "iPhone"),
        ("iPad", "iPad"),
        ("Windows", "Windows"),
        ("Mac OS X", "macOS"),
        ("CrOS", "ChromeOS"),
        ("Linux", "Linux"),
    ]);
    match (program, system) {
        (Some(program), Some(system)) => format!("{program} on {system}"),
        (Some(program), None) => program.to_owned(),
        // Not a browser: the program's own name.
        (None, _) => {
            let name = user_agent.split(['/', ' ', '(']).next().unwrap_or_default();
            let plain = name.chars().filter(char::is_ascii_graphic).take(LONGEST);
            let name: String = plain.collect();
            if name.is_empty() {
                "unknown".to_owned()
            } else {
                name
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_browser_is_named_as_people_name_it() {
        for (agent, name) in [
            (
                "Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 Chrome/140.0 Safari/537.36 Edg/140.0",
                "Edge on Windows",
            ),
            (
                "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15",
                "Safari on macOS",
            ),
            ("curl/8.5.0", "curl"),
            ("", "unknown"),
        ] {
            assert_eq!(browser(agent), name);
        }
    }
}
