//! What external agents and their page do, in the log of the chat that the page belongs to.

use gangway_core::{PageEntry, Source};
use gangway_pages::OpenPage;
use serde_json::{Value, value::RawValue};

use crate::{
    FromAgent, FromHost, Refusal,
    ask::{Ask, Asker, Asks},
};

/// Logs a request or message of an agent. Those of the server itself are logged where they come from.
pub(crate) fn asked(page: Option<&OpenPage>, ask: Option<&Ask>, payload: &RawValue) {
    let (Some(page), Some(ask)) = (
        page.filter(|page| page.is_logged()),
        ask.filter(|ask| ask.kind != FromAgent::ToolCall || ask.is_in_log),
    ) else {
        return;
    };
    let Ask {
        asker: asker @ Asker::Agent { .. },
        kind,
        number,
        ..
    } = ask
    else {
        return;
    };
    let mut payload = read(payload);
    match kind {
        FromAgent::ToolCall => {
            let tool = payload["toolName"].as_str().unwrap_or_default();
            page.log(PageEntry::Called {
                call: Asks::name(*number),
                tool: format!("{}/{tool}", page.page.server().unwrap_or_default()),
                arguments: payload["params"].take(),
                by: Source::Agent {
                    name: asker.label(),
                },
            });
        }
        FromAgent::AgentMessage => page.log(PageEntry::Message {
            r#type: kind.name().to_owned(),
            payload,
            by: Some(asker.label()),
        }),
        _ => {}
    }
}

/// Logs the page's answer to a call of an agent.
pub(crate) fn answered(page: Option<&OpenPage>, ask: &Ask, kind: FromHost, payload: &RawValue) {
    let Some(page) = logged(page, ask) else {
        return;
    };
    let payload = read(payload);
    let (result, code) = match kind {
        FromHost::Error => {
            let message = payload["message"].as_str().unwrap_or_default().to_owned();
            (Err(message), payload["code"].as_str().map(str::to_owned))
        }
        _ => (Ok(payload), None),
    };
    let call = Asks::name(ask.number);
    page.log(PageEntry::Returned { call, result, code });
}

/// Logs that a call of an agent failed without an answer of the page.
pub(crate) fn refused(page: Option<&OpenPage>, ask: &Ask, refusal: &Refusal) {
    let Some(page) = logged(page, ask) else {
        return;
    };
    page.log(PageEntry::Returned {
        call: Asks::name(ask.number),
        result: Err(refusal.message.clone()),
        code: None,
    });
}

/// Logs a message of the person at the page, or an update of the page.
pub(crate) fn said(page: Option<&OpenPage>, kind: FromHost, payload: &RawValue) {
    if let Some(page) = page.filter(|page| page.is_logged()) {
        page.log(PageEntry::Message {
            r#type: kind.name().to_owned(),
            payload: read(payload),
            by: None,
        });
    }
}

fn logged<'a>(page: Option<&'a OpenPage>, ask: &Ask) -> Option<&'a OpenPage> {
    page.filter(|page| ask.is_in_log && page.is_logged())
}

fn read(payload: &RawValue) -> Value {
    serde_json::from_str(payload.get()).unwrap_or_default()
}
