//! Limits the damage of malicious weights or grammars to this process. Limits that cannot be set are skipped.

/// Address space for everything but weights and conversations; most of it is only reserved.
#[cfg(unix)]
const ROOM: u64 = 4 << 30;
/// Address space of a thread: its stack and its allocator's arena.
#[cfg(unix)]
const THREAD: u64 = 80 << 20;

/// If memory runs out, this process is the one to kill; its core dump would be as large as the weights.
pub(crate) fn at_start() {
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        let _ = setrlimit(Resource::Core, none);
    }
}

/// Limits the address space to what these weights and conversations of this many bytes need: some vocabularies make
/// llama.cpp's tokenizer loop.
#[cfg(unix)]
pub(crate) fn for_weights(bytes: u64, conversations: u64, threads: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // Tensors may exist twice: as read, and repacked.
    let most = bytes
        .saturating_mul(2)
        .saturating_add(conversations)
        .saturating_add(ROOM)
        .saturating_add(THREAD.saturating_mul(threads as u64));
    let before = getrlimit(Resource::As);
    let current = before.maximum.map_or(most, |maximum| maximum.min(most));
    let _ = setrlimit(
        Resource::As,
        Rlimit {
            current: Some(current),
            maximum: before.maximum,
        },
    );
}

#[cfg(not(unix))]
pub(crate) fn for_weights(_bytes: u64, _conversations: u64, _threads: usize) {}
