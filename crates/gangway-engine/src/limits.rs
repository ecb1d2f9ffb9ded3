//! Keeps this process from harming others when weights or a grammar run wild in it. What cannot be set is done without.

/// Memory for everything but weights and conversations, of which little is used: much is only reserved.
#[cfg(unix)]
const ROOM: u64 = 4 << 30;
/// Address space of a thread: its stack and its allocator's arena.
#[cfg(unix)]
const THREAD: u64 = 80 << 20;

/// When memory gets short, this process is the one to kill; a dump of it would be as large as the weights.
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

/// Bounds the address space to what these weights can need, with conversations of this many bytes: some vocabularies make
/// llama.cpp tokenise without end.
#[cfg(unix)]
pub(crate) fn for_weights(bytes: u64, conversations: u64, threads: usize) {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    // Tensors may be there twice: as they were read, and repacked.
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
