// Streams of bytes for the tests.

/** A stream that hands over these pieces and ends. */
export function streamOf(
  ...pieces: (string | Uint8Array)[]
): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  return new ReadableStream({
    start(control) {
      for (const piece of pieces) {
        control.enqueue(
          typeof piece === "string" ? encoder.encode(piece) : piece,
        );
      }
      control.close();
    },
  });
}
