//! Weights in memory, and what belongs to them whoever asks: their words, their template, what they can be held to.

use std::sync::{Arc, OnceLock, atomic::Ordering::SeqCst};

use gangway_models::{ModelError, weights::Gguf};
use llama_cpp_2::{
    LlamaCppError,
    llama_backend::LlamaBackend,
    model::{LlamaChatTemplate, LlamaModel, params::LlamaModelParams},
    token::LlamaToken,
};
use llguidance::ParserFactory;

use gangway_embedded::{Settings, Source};

use crate::{gauges::Gauges, limits, quiet::Quiet};

/// A window that is not asked for is this long at the most: memory grows with it.
const WINDOW: u32 = 8192;

/// A backend that is never shut down, since other engines of this process may be using it.
pub(crate) struct Backend(std::mem::ManuallyDrop<LlamaBackend>);

impl Backend {
    pub fn start() -> Result<Self, String> {
        // Called first and each time: until it is, llama.cpp writes to the standard error.
        llama_cpp_2::send_logs_to_tracing(llama_cpp_2::LogOptions::default());
        let backend = match LlamaBackend::init() {
            Err(LlamaCppError::BackendAlreadyInitialized) => LlamaBackend {},
            backend => backend.map_err(|error| error.to_string())?,
        };
        Ok(Self(std::mem::ManuallyDrop::new(backend)))
    }

    pub fn get(&self) -> &LlamaBackend {
        &self.0
    }
}

/// A loaded model.
pub(crate) struct Model {
    pub source: Source,
    pub llama: LlamaModel,
    /// The tokens of one conversation.
    pub window: u32,
    pub template: LlamaChatTemplate,
    /// Tokens that the template makes roles of; nobody's text may contain them.
    pub reserved: Vec<LlamaToken>,
    /// SentencePiece puts a space before each text that is tokenised.
    pub spaces: bool,
    /// Whether a part of what was read can be forgotten or shared; a recurrent state is one lump.
    pub divisible: bool,
    guide: OnceLock<Result<ParserFactory, String>>,
}

impl Model {
    /// Reads the weights, which takes a moment.
    pub fn load(
        backend: &Backend,
        quiet: &Quiet,
        source: Source,
        settings: &Settings,
        gauges: &Arc<Gauges>,
    ) -> Result<Self, ModelError> {
        // What is not whole is found here, in better words than llama.cpp has and before it trusts any of it.
        Gguf::read(&source.path).map_err(|reason| source.refused(&format!("the file {reason}")))?;
        check_room(source.bytes).map_err(|words| source.refused(&words))?;
        limits::for_weights(source.bytes, 0, settings.threads());
        let abandon = Arc::clone(gauges);
        let params = LlamaModelParams::default()
            // A mapped file that someone cuts short would kill the process; a copy in memory cannot change.
            .with_use_mmap(false)
            .with_progress_callback(move |_| {
                abandon.progress.fetch_add(1, SeqCst);
                !abandon.closing.load(SeqCst)
            });
        let loaded = LlamaModel::load_from_file(backend.get(), &source.path, &params);
        let words = quiet.errors();
        let llama = loaded.map_err(|error| {
            let words = words.unwrap_or_else(|| error.to_string());
            source.refused(&words)
        })?;
        if let Some(reason) = unfit(&llama) {
            return Err(source.refused(&reason));
        }
        let trained = llama.n_ctx_train().max(64);
        let window = settings
            .context_tokens
            .unwrap_or(WINDOW.min(trained))
            .clamp(64, trained);
        let template = chat_template(&llama)
            .ok_or_else(|| source.refused("it has no usable chat template"))?;
        let spaces = metadata(&llama, "tokenizer.ggml.model").as_deref() == Some("llama");
        let divisible = !llama.is_recurrent() && !llama.is_hybrid();
        let mut model = Self {
            source,
            llama,
            window,
            template,
            reserved: Vec::new(),
            spaces,
            divisible,
            guide: OnceLock::new(),
        };
        model.reserved = model.find_reserved();
        Ok(model)
    }

    /// What holds answers to a grammar. It takes a moment the first time, so it is made when it is needed.
    pub fn guide(&self) -> Result<&ParserFactory, ModelError> {
        let made = self.guide.get_or_init(|| {
            let vocabulary = llama_cpp_2::sampling::LlamaSampler::llguidance_tok_env(&self.llama);
            let mut factory =
                ParserFactory::new_simple(&vocabulary).map_err(|error| error.to_string())?;
            factory.quiet();
            crate::grammar::limit(factory.limits_mut());
            Ok(factory)
        });
        made.as_ref().map_err(|error| {
            ModelError::failed(format!(
                "The model {} cannot be held to a form: {error}",
                self.source.name
            ))
        })
    }

    /// What the conversations take that are remembered in this many cells.
    pub fn memory_of(&self, cells: u32) -> u64 {
        let arch = metadata(&self.llama, "general.architecture").unwrap_or_default();
        let width = |kind: &str| {
            let known = metadata(&self.llama, &format!("{arch}.attention.{kind}_length"));
            let heads = self.llama.n_head().max(1);
            let even = u64::try_from(self.llama.n_embd()).unwrap_or(0) / u64::from(heads);
            known.and_then(|known| known.parse().ok()).unwrap_or(even)
        };
        let each = (width("key") + width("value")) * u64::from(self.llama.n_head_kv());
        // Two bytes for each number: they are kept in half precision.
        each * 2 * u64::from(self.llama.n_layer()) * u64::from(cells)
    }
}

/// A value of the file's own description.
pub(crate) fn metadata(llama: &LlamaModel, key: &str) -> Option<String> {
    llama.meta_val_str(key).ok()
}

/// Whether there is memory for this much. Without a look the system would end some process to make room, perhaps this one.
pub(crate) fn check_room(bytes: u64) -> Result<(), String> {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let free = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    match free.map(|kib| kib * 1024) {
        Some(free) if free < bytes => Err(format!(
            "it takes {} MB, and only {} MB of this computer's memory are free",
            bytes / 1_000_000,
            free / 1_000_000
        )),
        _ => Ok(()),
    }
}

/// Why weights that loaded still cannot chat: llama.cpp ends the process when it is asked for what they lack.
fn unfit(llama: &LlamaModel) -> Option<String> {
    let arch = metadata(llama, "general.architecture").unwrap_or_default();
    let no_chat = arch.contains("bert")
        || arch.contains("embedding")
        || [
            "t5",
            "t5encoder",
            "clip",
            "wavtokenizer-dec",
            "dream",
            "llada",
            "llada-moe",
        ]
        .contains(&arch.as_str());
    if no_chat {
        return Some(format!("a model of the kind {arch} does not chat"));
    }
    let words = metadata(llama, "tokenizer.ggml.model").unwrap_or_default();
    if words.is_empty() || words == "none" || words == "no_vocab" || llama.n_vocab() <= 0 {
        return Some("it has no vocabulary".to_owned());
    }
    None
}

/// The template in the file where llama.cpp knows it, else ChatML, which most models follow.
fn chat_template(llama: &LlamaModel) -> Option<LlamaChatTemplate> {
    let own = llama.chat_template(None).ok();
    let works = |template: &LlamaChatTemplate| crate::frame::works(llama, template);
    own.filter(works)
        .or_else(|| LlamaChatTemplate::new("chatml").ok())
}
