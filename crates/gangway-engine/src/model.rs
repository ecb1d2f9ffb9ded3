//! Loaded weights and everything derived from them: vocabulary, template, constraints.

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

/// Maximum default context size: memory use grows with it.
const WINDOW: u32 = 8192;

/// A backend that is never shut down, since other engines of this process may use it.
pub(crate) struct Backend(std::mem::ManuallyDrop<LlamaBackend>);

impl Backend {
    pub fn start() -> Result<Self, String> {
        // Must be called first and each time: before, llama.cpp writes to the standard error.
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
    /// The context size of one conversation.
    pub window: u32,
    pub template: LlamaChatTemplate,
    /// Role tokens of the template, which no content may contain.
    pub reserved: Vec<LlamaToken>,
    /// SentencePiece adds a space before each tokenized text.
    pub spaces: bool,
    /// Whether parts of the cache can be removed or shared; a recurrent state is indivisible.
    pub divisible: bool,
    guide: OnceLock<Result<ParserFactory, String>>,
}

impl Model {
    /// Loads the weights, which takes a moment.
    pub fn load(
        backend: &Backend,
        quiet: &Quiet,
        source: Source,
        settings: &Settings,
        gauges: &Arc<Gauges>,
    ) -> Result<Self, ModelError> {
        // Detects an incomplete file with a better error than llama.cpp's, and before llama.cpp trusts it.
        Gguf::read(&source.path).map_err(|reason| source.refused(&format!("the file {reason}")))?;
        check_room(source.bytes).map_err(|reason| source.refused(&reason))?;
        limits::for_weights(source.bytes, 0, settings.threads());
        let abandon = Arc::clone(gauges);
        let params = LlamaModelParams::default()
            // A mapped file that is truncated would crash the process; a copy in memory cannot change.
            .with_use_mmap(false)
            .with_progress_callback(move |_| {
                abandon.progress.fetch_add(1, SeqCst);
                !abandon.closing.load(SeqCst)
            });
        let loaded = LlamaModel::load_from_file(backend.get(), &source.path, &params);
        let reason = quiet.errors();
        let llama = loaded.map_err(|error| {
            let reason = reason.unwrap_or_else(|| error.to_string());
            source.refused(&reason)
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

    /// The factory of grammars. The first call takes a moment, so it is created on demand.
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
                "The model {} does not support structured output: {error}",
                self.source.name
            ))
        })
    }

    /// The memory of the KV cache with this many cells.
    pub fn memory_of(&self, cells: u32) -> u64 {
        let arch = metadata(&self.llama, "general.architecture").unwrap_or_default();
        let width = |kind: &str| {
            let known = metadata(&self.llama, &format!("{arch}.attention.{kind}_length"));
            let heads = self.llama.n_head().max(1);
            let even = u64::try_from(self.llama.n_embd()).unwrap_or(0) / u64::from(heads);
            known.and_then(|known| known.parse().ok()).unwrap_or(even)
        };
        let each = (width("key") + width("value")) * u64::from(self.llama.n_head_kv());
        // Two bytes per value: half precision.
        each * 2 * u64::from(self.llama.n_layer()) * u64::from(cells)
    }
}

/// A value of the file's metadata.
pub(crate) fn metadata(llama: &LlamaModel, key: &str) -> Option<String> {
    llama.meta_val_str(key).ok()
}

/// Whether there is enough free memory. Otherwise the system would kill some process, perhaps this one.
pub(crate) fn check_room(bytes: u64) -> Result<(), String> {
    let info = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let line = info
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let free = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    match free.map(|kib| kib * 1024) {
        Some(free) if free < bytes => Err(format!(
            "it needs {} MB of memory, but only {} MB are free",
            bytes / 1_000_000,
            free / 1_000_000
        )),
        _ => Ok(()),
    }
}

/// Why weights that loaded cannot chat: llama.cpp aborts the process if they lack what a chat needs.
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
        return Some(format!("models of type {arch} cannot chat"));
    }
    let vocabulary = metadata(llama, "tokenizer.ggml.model").unwrap_or_default();
    if vocabulary.is_empty()
        || vocabulary == "none"
        || vocabulary == "no_vocab"
        || llama.n_vocab() <= 0
    {
        return Some("it has no vocabulary".to_owned());
    }
    None
}

/// The file's template if llama.cpp supports it, else ChatML, which most models follow.
fn chat_template(llama: &LlamaModel) -> Option<LlamaChatTemplate> {
    let own = llama.chat_template(None).ok();
    let works = |template: &LlamaChatTemplate| crate::frame::works(llama, template);
    own.filter(works)
        .or_else(|| LlamaChatTemplate::new("chatml").ok())
}
