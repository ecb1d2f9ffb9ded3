// Server-sent events out of bytes, wherever the network cut them.

/** The data of each event, in order; an event that was not finished is dropped. */
export async function* readEvents(
  bytes: ReadableStream<Uint8Array>,
): AsyncGenerator<string, void> {
  const lines = new Lines();
  let data: string[] = [];
  for await (const chunk of chunksOf(bytes)) {
    for (const line of lines.add(chunk)) {
      if (line === "") {
        if (data.length > 0) yield data.join("\n");
        data = [];
      } else if (line === "data" || line.startsWith("data:")) {
        data.push(line.slice(5).replace(/^ /, ""));
      }
      // Everything else is a comment, or a field that no chat uses.
    }
  }
}

/** Text put together into lines, which end in LF, CR or both. */
class Lines {
  #rest = "";
  /** The last text ended in CR; an LF that follows belongs to it. */
  #afterReturn = false;

  add(text: string): string[] {
    if (text === "") return [];
    const fresh =
      this.#afterReturn && text.startsWith("\n") ? text.slice(1) : text;
    this.#afterReturn = text.endsWith("\r");
    const lines = fresh.split(/\r\n|\r|\n/);
    lines[0] = this.#rest + (lines[0] ?? "");
    this.#rest = lines.pop() ?? "";
    return lines;
  }
}

/** Reads by hand: not every browser can iterate a stream. */
async function* chunksOf(
  bytes: ReadableStream<Uint8Array>,
): AsyncGenerator<string, void> {
  const reader = bytes.getReader();
  // It keeps what it has of a character that is not whole yet.
  const decoder = new TextDecoder();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield decoder.decode(value, { stream: true });
    }
  } finally {
    // Ending the iteration also ends the request.
    await reader.cancel().catch(() => undefined);
  }
}
