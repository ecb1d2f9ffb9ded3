//! An agent that answers from a YAML script, for tests, demos and screenshots.

use std::{
    path::Path,
    sync::{Arc, OnceLock},
    time::Duration,
};

use futures_util::{FutureExt, future::BoxFuture};
use gangway_core::{Agent, AgentError, Readiness, ToolName, Toolbox, Turn, Usage};
use regex::Regex;
use serde::Deserialize;
use serde_json::Value;

use crate::run::call_one;

/// The script of the demo agent, which every server has.
const DEMO: &str = include_str!("demo.yaml");

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    #[serde(default)]
    description: String,
    turns: Vec<Reply>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Reply {
    when: Option<String>,
    steps: Vec<Step>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Step {
    Say(Say),
    Delta(Delta),
    Pause(Pause),
    Tool(ToolStep),
    Call(CallStep),
    Ask(AskStep),
    Notice(NoticeStep),
    Error(ErrorStep),
}

/// Text that is streamed word by word.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Say {
    say: String,
    #[serde(default)]
    every_ms: u64,
    #[serde(default = "once")]
    times: usize,
}

/// A single delta, repeated.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Delta {
    delta: String,
    #[serde(default)]
    every_ms: u64,
    #[serde(default = "once")]
    times: usize,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Pause {
    pause_ms: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolStep {
    tool: Tool,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tool {
    name: String,
    #[serde(default)]
    arguments: Value,
    result: Option<Value>,
    error: Option<String>,
    #[serde(default)]
    takes_ms: u64,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct CallStep {
    call: Call,
}

/// A real call of a tool that the chat offers, where a `tool` step only shows one.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Call {
    /// `SERVER/TOOL`, or only the tool if it is the only one of this name.
    name: String,
    #[serde(default)]
    arguments: Value,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct AskStep {
    ask: Ask,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Ask {
    question: String,
    #[serde(default)]
    options: Vec<String>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct NoticeStep {
    notice: String,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct ErrorStep {
    error: Failure,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Failure {
    code: String,
    message: String,
    #[serde(default)]
    retryable: bool,
}

impl Script {
    /// The pattern of each turn; `None` matches anything.
    fn matchers(&self) -> Result<Vec<Option<Regex>>, regex::Error> {
        let patterns = self.turns.iter().map(|reply| reply.when.as_deref());
        patterns
            .map(|pattern| pattern.map(Regex::new).transpose())
            .collect()
    }
}

fn once() -> usize {
    1
}

#[derive(Debug, thiserror::Error)]
#[error("the script {name} is invalid: {reason}")]
pub struct ScriptError {
    name: String,
    reason: String,
}

pub struct Scripted {
    script: Script,
    matchers: OnceLock<Vec<Option<Regex>>>,
    tools: Option<Arc<dyn Toolbox>>,
}

impl Scripted {
    /// The demo for new users. Its patterns are compiled on first use: every server has it, and compiling them took a
    /// third of its start.
    pub fn demo() -> Result<Self, ScriptError> {
        Self::read("demo", DEMO)
    }

    pub fn load(file: &Path) -> Result<Self, ScriptError> {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file).map_err(|e| ScriptError {
            name: name.clone(),
            reason: e.to_string(),
        })?;
        Self::parse(&name, &text)
    }

    pub fn parse(name: &str, text: &str) -> Result<Self, ScriptError> {
        let mut agent = Self::read(name, text)?;
        agent.matchers = agent
            .script
            .matchers()
            .map(OnceLock::from)
            .map_err(|e| ScriptError {
                name: name.to_owned(),
                reason: e.to_string(),
            })?;
        Ok(agent)
    }

    fn read(name: &str, text: &str) -> Result<Self, ScriptError> {
        let script = serde_saphyr::from_str(text).map_err(|e| ScriptError {
            name: name.to_owned(),
            reason: e.to_string(),
        })?;
        Ok(Self {
            script,
            matchers: OnceLock::new(),
            tools: None,
        })
    }

    /// The tools for its `call` steps.
    #[must_use]
    pub fn with_tools(mut self, tools: Arc<dyn Toolbox>) -> Self {
        self.tools = Some(tools);
        self
    }

    fn steps_for(&self, prompt: &str) -> Option<&[Step]> {
        let matches =
            |matcher: &Option<Regex>| matcher.as_ref().is_none_or(|regex| regex.is_match(prompt));
        let matchers = self
            .matchers
            .get_or_init(|| self.script.matchers().unwrap_or_default());
        let found = self
            .script
            .turns
            .iter()
            .zip(matchers)
            .find(|(_, matcher)| matches(matcher));
        found.map(|(reply, _)| reply.steps.as_slice())
    }

    /// Makes a call, if the person approves it; a call that fails ends the turn.
    async fn call(&self, turn: &mut Turn, call: &Call) -> Result<(), AgentError> {
        let failed = |code: &str, message: String| AgentError {
            code: code.into(),
            message,
            retryable: true,
        };
        let missing = || {
            let message = format!("This chat offers no single tool {:?}.", call.name);
            failed("no_tool", message)
        };
        let tools = self.tools.as_deref().ok_or_else(missing)?;
        let offered = tools.tools(turn.session(), turn.prompt()).await;
        let meant = |name: &&ToolName| name.tool() == call.name || name.to_string() == call.name;
        let mut names = offered.iter().map(|tool| &tool.name).filter(meant);
        let (Some(tool), None) = (names.next(), names.next()) else {
            return Err(missing());
        };
        let made = call_one(tools, turn.session(), tool, &call.arguments, turn).await?;
        made.map(|_| ())
            .map_err(|error| failed("tool_failed", error.to_string()))
    }

    async fn play(&self, mut turn: Turn) -> Result<Option<Usage>, AgentError> {
        let Some(steps) = self.steps_for(turn.prompt()) else {
            let message = "The script has no answer to this prompt.".into();
            return Err(AgentError {
                code: "no_script".into(),
                message,
                retryable: false,
            });
        };
        let mut answer = String::new();
        let mut reason = 0;
        let mut begun = 0;
        if let Some(question) = turn.open_question() {
            // After a restart the script continues after the question that was open.
            let asked = turn.asked_before().len();
            begun = behind_question(steps, asked);
            answer = turn.reopen(&question).await?;
        }
        for step in &steps[begun..] {
            match step {
                Step::Say(say) => {
                    let text = say
                        .say
                        .replace("{{prompt}}", turn.prompt())
                        .replace("{{answer}}", &answer);
                    for _ in 0..say.times {
                        for word in text.split_inclusive(char::is_whitespace) {
                            turn.delta(word).await?;
                            reason += 1;
                            pause(say.every_ms).await;
                        }
                    }
                }
                Step::Delta(chunk) => {
                    for _ in 0..chunk.times {
                        turn.delta(&chunk.delta).await?;
                        reason += 1;
                        pause(chunk.every_ms).await;
                    }
                }
                Step::Pause(Pause { pause_ms }) => pause(*pause_ms).await,
                Step::Tool(ToolStep { tool }) => {
                    let call = turn.tool_call(&tool.name, tool.arguments.clone()).await?;
                    pause(tool.takes_ms).await;
                    let result = match &tool.error {
                        Some(error) => Err(error.clone()),
                        None => Ok(tool.result.clone().unwrap_or_default()),
                    };
                    turn.tool_result(call, &tool.name, result).await?;
                }
                Step::Call(CallStep { call }) => self.call(&mut turn, call).await?,
                Step::Ask(AskStep { ask }) => {
                    answer = turn.ask(&ask.question, &ask.options).await?
                }
                Step::Notice(NoticeStep { notice }) => turn.notice(notice).await?,
                Step::Error(ErrorStep { error }) => {
                    let Failure {
                        code,
                        message,
                        retryable,
                    } = error.clone();
                    return Err(AgentError {
                        code,
                        message,
                        retryable,
                    });
                }
            }
        }
        let asked = turn.prompt().split_whitespace().count() as u64;
        Ok(Some(Usage {
            input_tokens: asked,
            output_tokens: reason,
        }))
    }
}

/// The number of steps up to and including the nth question.
fn behind_question(steps: &[Step], nth: usize) -> usize {
    let questions = steps.iter().enumerate();
    let mut questions = questions.filter(|(_, step)| matches!(step, Step::Ask(_)));
    questions
        .nth(nth.saturating_sub(1))
        .map_or(steps.len(), |(at, _)| at + 1)
}

async fn pause(ms: u64) {
    if ms > 0 {
        tokio::time::sleep(Duration::from_millis(ms)).await;
    }
}

impl Agent for Scripted {
    fn description(&self) -> String {
        self.script.description.clone()
    }

    fn readiness(&self) -> Readiness {
        Readiness::Ready
    }

    fn resumes_questions(&self) -> bool {
        true
    }

    fn run(&self, turn: Turn) -> BoxFuture<'_, Result<Option<Usage>, AgentError>> {
        self.play(turn).boxed()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_demo_script_answers_anything() {
        let demo = Scripted::demo().unwrap();
        assert!(demo.steps_for("whatever this is").is_some());
    }

    #[test]
    fn a_broken_script_says_what_is_wrong_with_it() {
        for (text, expected) in [
            ("turns: [{steps: [{sing: x}]}]", "script x"),
            ("turns: [{when: '(', steps: []}]", "unclosed group"),
            ("turns: []\nextra: 1", "extra"),
        ] {
            let error = Scripted::parse("x", text).err().unwrap().to_string();
            assert!(error.contains(expected), "{error}");
        }
    }
}
