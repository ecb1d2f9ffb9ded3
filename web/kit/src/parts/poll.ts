// Polling, only while the page is visible.

/** Starts immediately and repeats until the returned function is called; runs never overlap. */
export function whileVisible(
  everyMs: number,
  work: (signal: AbortSignal) => Promise<void>,
): () => void {
  const stop = new AbortController();
  const { signal } = stop;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let running = false;
  const over = () => signal.aborted;

  async function run(): Promise<void> {
    clearTimeout(timer);
    if (running || over() || document.visibilityState !== "visible") {
      return;
    }
    running = true;
    try {
      await work(signal);
    } catch (error) {
      // A request that was cut off by the end of this is no failure.
      if (!over()) throw error;
    } finally {
      running = false;
      if (!over()) timer = setTimeout(() => void run(), everyMs);
    }
  }

  document.addEventListener("visibilitychange", () => void run(), { signal });
  void run();
  return () => {
    stop.abort();
    clearTimeout(timer);
  };
}
