// Ports that a test holds both ends of.

/** The end of a port that a test holds; what goes in comes out as a copy, at once. */
export class FakePort {
  onmessage: ((event: { data: unknown }) => void) | null = null;
  other: FakePort | null = null;
  readonly got: unknown[] = [];
  closed = false;

  postMessage(data: unknown): void {
    if (this.closed || !this.other || this.other.closed) return;
    // An ArrayBuffer would be handed over, not copied.
    const copy = data instanceof ArrayBuffer ? data : structuredClone(data);
    this.other.got.push(copy);
    this.other.onmessage?.({ data: copy });
  }

  close(): void {
    this.closed = true;
  }
}

export class FakeMessageChannel {
  readonly port1 = new FakePort();
  readonly port2 = new FakePort();

  constructor() {
    this.port1.other = this.port2;
    this.port2.other = this.port1;
  }
}
