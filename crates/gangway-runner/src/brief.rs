//! The texts that an agent is given: instructions before its first message, and summaries when its context is
//! compacted.

use super::{executor::cut, wire::Setup};

/// A page or two; anything longer would fill the new context.
pub(super) const SUMMARY_BYTES: usize = 32 << 10;

/// The prompt for a summary.
pub(super) const SUMMARIZE: &str = "Summarize this conversation for another agent that will continue it and has seen none \
    of it. Say what the person wants, what was decided, what was done and with which results, what is still open and what was \
    promised. Keep names, numbers, paths and links word for word. Write only the summary, in the language of the \
    conversation, in at most 800 words.";

/// The instructions before the first message: the operator's rules, then the persona.
pub(super) fn instructions(setup: &Setup) -> String {
    let persona = &setup.persona;
    let experience = persona.experience.as_deref().map(str::trim);
    let experience = experience.filter(|text| !text.is_empty());
    let experience =
        experience.map(|text| format!("What you have lived through so far:\n\n{text}"));
    let guardrails = setup.guardrails.as_deref().unwrap_or_default();
    let parts = [
        guardrails.trim(),
        persona.skill.trim(),
        experience.as_deref().unwrap_or_default(),
    ];
    let parts: Vec<&str> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    parts.join("\n\n")
}

/// Trims and truncates a summary.
pub(super) fn trimmed(summary: &str) -> Result<String, String> {
    match summary.trim() {
        "" => Err("the summary is empty".to_owned()),
        summary => Ok(cut(summary, SUMMARY_BYTES)),
    }
}

/// The message that starts the new context. It is not part of the instructions: it consists of what visitors said.
pub(super) fn handed_over(summary: &str) -> String {
    format!(
        "[You continue a conversation whose context window was full. This is a summary of it:]\n\n{summary}\n\n[End of the \
         summary. Continue the conversation; the person has seen all of it, so do not greet them again.]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{Backend, ContextLimits, Persona};

    fn setup(guardrails: Option<&str>, skill: &str, experience: Option<&str>) -> Setup {
        Setup {
            project: "p".into(),
            folder: "/".into(),
            persona: Persona {
                slug: "clerk".into(),
                skill: skill.into(),
                experience: experience.map(str::to_owned),
            },
            guardrails: guardrails.map(str::to_owned),
            context: ContextLimits::default(),
            backend: Backend::Builtin,
            model: None,
            mcp_servers: None,
            settings: serde_json::Value::Null,
        }
    }

    #[test]
    fn guardrails_come_before_the_persona_and_nothing_is_sent_if_there_are_none() {
        for (guardrails, skill, experience, wanted) in [
            (
                Some(" Be safe.\n"),
                "You help.",
                None,
                "Be safe.\n\nYou help.",
            ),
            (None, "You help.\n", None, "You help."),
            (Some("Be safe."), "", None, "Be safe."),
            (Some("  "), "", None, ""),
            (
                Some("Be safe."),
                "You help.",
                Some("Once."),
                "Be safe.\n\nYou help.\n\nWhat you have lived through so far:\n\nOnce.",
            ),
        ] {
            assert_eq!(instructions(&setup(guardrails, skill, experience)), wanted);
        }
    }

    #[test]
    fn a_summary_is_never_empty_and_never_long() {
        assert!(trimmed(" \n").is_err());
        assert_eq!(trimmed(" so \n").as_deref(), Ok("so"));
        assert!(trimmed(&"x".repeat(1 << 20)).unwrap().len() <= SUMMARY_BYTES + 4);
    }
}
