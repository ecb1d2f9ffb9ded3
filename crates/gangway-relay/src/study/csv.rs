//! Exports a study log as CSV.

use std::io::Write;

use serde_json::Value;

use super::{LogError, StudyEvent, summary::stage_of};

const COLUMNS: &str = "sessionId,eventIndex,timestamp,seconds,direction,type,stage,source,toolName,params,reason,ok,code,text,agent,id,replyTo";

/// One row per event. `stage` is the stage after the event, `seconds` count from the first event.
pub fn write_csv(
    events: impl Iterator<Item = Result<StudyEvent, LogError>>,
    out: &mut impl Write,
) -> Result<(), LogError> {
    writeln!(out, "{COLUMNS}").map_err(LogError::Io)?;
    let mut stage = String::new();
    let mut first = None;
    for event in events {
        let event = event?;
        if let Some(shown) = stage_of(&event.payload) {
            shown.clone_into(&mut stage);
        }
        let since = *first.get_or_insert(event.timestamp);
        let seconds = event.timestamp.duration_since(since).as_secs_f64();
        let text = |name: &str| match event.payload.get(name) {
            None | Some(Value::Null) => String::new(),
            Some(Value::String(text)) => text.clone(),
            Some(other) => other.to_string(),
        };
        let message = match event.r#type.as_str() {
            "error" => text("message"),
            _ => text("text"),
        };
        let direction = serde_json::to_value(event.direction).unwrap_or_default();
        let cells = [
            event.session_id.clone(),
            event.event_index.to_string(),
            format!("{:.3}", event.timestamp),
            format!("{seconds:.3}"),
            direction.as_str().unwrap_or_default().to_owned(),
            event.r#type.clone(),
            stage.clone(),
            text("source"),
            text("toolName"),
            text("params"),
            text("reason"),
            text("ok"),
            text("code"),
            message,
            event.agent.clone().unwrap_or_default(),
            event.id.clone().unwrap_or_default(),
            event.reply_to.clone().unwrap_or_default(),
        ];
        let row = cells.map(quoted).join(",");
        writeln!(out, "{row}").map_err(LogError::Io)?;
    }
    out.flush().map_err(LogError::Io)
}

/// Quotes a cell and prefixes formulas with `'`, so that no spreadsheet evaluates them; cells that begin with `'` get
/// one too, so that removing the first `'` is always right.
fn quoted(cell: String) -> String {
    let cell = cell.replace('\0', "\u{fffd}");
    let marked = cell.starts_with([
        '=', '+', '-', '@', '\t', '\r', '\n', '\'', '＝', '＋', '－', '＠',
    ]);
    let cell = if marked { format!("'{cell}") } else { cell };
    match cell.contains(['"', ',', '\n', '\r']) || cell.starts_with(' ') || cell.ends_with(' ') {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{super::summary::tests::log, *};

    fn parse(text: &str) -> Vec<Vec<String>> {
        let (mut rows, mut row, mut cell) = (Vec::new(), Vec::new(), String::new());
        let mut quoted = false;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            match (c, quoted) {
                ('"', true) if chars.peek() == Some(&'"') => {
                    chars.next();
                    cell.push('"');
                }
                ('"', _) => quoted = !quoted,
                (',', false) => row.push(std::mem::take(&mut cell)),
                ('\n', false) => {
                    row.push(std::mem::take(&mut cell));
                    rows.push(std::mem::take(&mut row));
                }
                (c, _) => cell.push(c),
            }
        }
        assert!(!quoted && cell.is_empty() && row.is_empty());
        rows
    }

    #[test]
    fn what_was_said_comes_out_of_the_table_as_it_went_in_and_is_never_a_formula() {
        let texts = [
            "plain",
            "with, comma",
            "with \"quotes\" and\nlines\r\nof “日本” 🎬",
            "=HYPERLINK(\"http://x\")",
            "+1",
            "-1",
            "@x",
            "\t=1",
            "'quoted'",
            " led by a space ",
            "",
        ];
        let events: Vec<_> = texts
            .iter()
            .map(|text| (0, "in", "agent.message", json!({ "text": text })))
            .collect();
        let mut out = Vec::new();
        write_csv(log(&events).into_iter().map(Ok), &mut out).unwrap();
        let rows = parse(std::str::from_utf8(&out).unwrap());
        assert_eq!(rows.len(), texts.len() + 1);
        let place = rows[0].iter().position(|name| name == "text").unwrap();
        for (row, text) in rows[1..].iter().zip(texts) {
            assert_eq!(row.len(), rows[0].len());
            let cell = &row[place];
            assert!(!cell.starts_with(['=', '+', '-', '@', '\t']), "{cell}");
            assert_eq!(cell.strip_prefix('\'').unwrap_or(cell), text);
        }
    }

    #[test]
    fn every_row_has_its_stage_and_its_second() {
        let spec = json!({ "ok": true, "toolName": "next", "uiSpec": { "stage": "seat" } });
        let call =
            json!({ "toolName": "next", "params": { "a": [1, "x"] }, "reason": "On, please." });
        let events = [
            (0, "in", "tool.call", call.clone()),
            (1, "out", "tool.result", spec),
            (3, "in", "tool.call", call),
            (
                4,
                "out",
                "error",
                json!({ "code": "INVALID_PARAMS", "message": "no, \"a\"" }),
            ),
        ];
        let mut out = Vec::new();
        write_csv(log(&events).into_iter().map(Ok), &mut out).unwrap();
        let rows = parse(std::str::from_utf8(&out).unwrap());
        assert_eq!(
            rows[3][3..14],
            [
                "3.000",
                "in",
                "tool.call",
                "seat",
                "",
                "next",
                r#"{"a":[1,"x"]}"#,
                "On, please.",
                "",
                "",
                ""
            ]
        );
        assert_eq!(
            rows[4][3..14],
            [
                "4.000",
                "out",
                "error",
                "seat",
                "",
                "",
                "",
                "",
                "",
                "INVALID_PARAMS",
                r#"no, "a""#
            ]
        );
    }
}
