// A recording of the microphone: recorded, played, and sent or discarded.

export type RecorderPhase = "idle" | "asking" | "recording" | "recorded";

// Long enough for anything that one says in one go.
const LONGEST_MS = 10 * 60_000;
const TICK_MS = 200;
// What browsers can make, the smallest first.
const TYPES = ["audio/webm;codecs=opus", "audio/ogg;codecs=opus", "audio/mp4"];

export class RecorderState {
  #recorder: MediaRecorder | null = null;
  #stream: MediaStream | null = null;
  #sound: AudioContext | null = null;
  #playing: AudioBufferSourceNode | null = null;
  #timer: ReturnType<typeof setInterval> | undefined;
  /** Counts attempts, so that a permission that comes late starts nothing. */
  #attempt = 0;

  phase: RecorderPhase = $state("idle");
  /** How long it is. */
  ms = $state(0);
  /** How loud it is now, from 0 to 1. */
  level = $state(0);
  playing = $state(false);
  recording: File | null = $state.raw(null);
  /** Why there is no recording. */
  problem: string | null = $state(null);

  async start(): Promise<void> {
    if (this.phase !== "idle") return;
    const attempt = ++this.#attempt;
    this.problem = null;
    this.phase = "asking";
    try {
      // Made while the click counts: later some browsers would leave it silent.
      this.#sound ??= new AudioContext();
      const stream = await askForMicrophone();
      if (attempt !== this.#attempt) stream.getTracks().forEach(end);
      else this.#record(stream);
    } catch (error) {
      if (attempt !== this.#attempt) return;
      this.phase = "idle";
      this.problem = wordsFor(error);
    }
  }

  stop(): void {
    if (this.#recorder?.state === "recording") this.#recorder.stop();
  }

  /** Plays what was recorded, or stops playing it. */
  async play(): Promise<void> {
    if (this.playing) {
      this.#playing?.stop();
      return;
    }
    const { recording } = this;
    if (!recording) return;
    this.#sound ??= new AudioContext();
    const sound = this.#sound;
    this.playing = true;
    try {
      await sound.resume();
      const buffer = await sound.decodeAudioData(await recording.arrayBuffer());
      if (recording !== this.recording) return;
      const node = new AudioBufferSourceNode(sound, { buffer });
      node.connect(sound.destination);
      node.onended = () => (this.playing = false);
      this.#playing = node;
      node.start();
    } catch {
      this.playing = false;
      this.problem = "This browser cannot play the recording.";
    }
  }

  discard(): void {
    this.#attempt += 1;
    const recorder = this.#recorder;
    this.#recorder = null;
    if (recorder?.state === "recording") recorder.stop();
    this.#release();
    this.#playing?.stop();
    this.#playing = null;
    this.playing = false;
    this.recording = null;
    this.phase = "idle";
    this.ms = 0;
  }

  dispose(): void {
    this.discard();
    void this.#sound?.close();
  }

  #record(stream: MediaStream): void {
    const mimeType = TYPES.find((type) => MediaRecorder.isTypeSupported(type));
    const recorder = new MediaRecorder(stream, mimeType ? { mimeType } : {});
    const parts: Blob[] = [];
    const began = performance.now();
    const loudness = this.#listen(stream);
    this.#recorder = recorder;
    this.#stream = stream;
    recorder.ondataavailable = ({ data }) => void parts.push(data);
    recorder.onstop = () => {
      if (recorder !== this.#recorder) return;
      this.#recorder = null;
      this.#release();
      this.recording = fileOf(parts, recorder.mimeType);
      this.phase = "recorded";
    };
    // A microphone that was unplugged ends what there is.
    stream.getTracks().forEach((track) => (track.onended = () => this.stop()));
    recorder.start();
    this.ms = 0;
    this.phase = "recording";
    this.#timer = setInterval(() => {
      this.ms = performance.now() - began;
      this.level = loudness();
      if (this.ms >= LONGEST_MS) this.stop();
    }, TICK_MS);
  }

  /** How loud the microphone is now. */
  #listen(stream: MediaStream): () => number {
    const sound = (this.#sound ??= new AudioContext());
    const analyser = new AnalyserNode(sound, { fftSize: 512 });
    sound.createMediaStreamSource(stream).connect(analyser);
    const samples = new Float32Array(analyser.fftSize);
    return () => {
      analyser.getFloatTimeDomainData(samples);
      const power = samples.reduce((sum, value) => sum + value * value, 0);
      // Speech is far from full scale: its root is taken once more.
      return Math.min(1, Math.sqrt(Math.sqrt(power / samples.length)));
    };
  }

  #release(): void {
    clearInterval(this.#timer);
    this.#stream?.getTracks().forEach(end);
    this.#stream = null;
    this.level = 0;
  }
}

function end(track: MediaStreamTrack): void {
  track.stop();
}

async function askForMicrophone(): Promise<MediaStream> {
  // Pages that are not secure have no such thing.
  const devices = navigator.mediaDevices as MediaDevices | undefined;
  if (!devices || typeof MediaRecorder === "undefined") {
    throw new DOMException("", "NotSupportedError");
  }
  return devices.getUserMedia({ audio: true });
}

function fileOf(parts: Blob[], mimeType: string): File {
  const type = mimeType || "audio/webm";
  const kind = /audio\/(\w+)/.exec(type)?.[1] ?? "webm";
  const time = new Date().toISOString().slice(0, 19).replace(/[:T]/g, "-");
  return new File(parts, `recording-${time}.${kind}`, { type });
}

function wordsFor(error: unknown): string {
  const name = error instanceof DOMException ? error.name : "";
  switch (name) {
    case "NotAllowedError":
    case "SecurityError":
      return "Microphone access is blocked. Allow it for this page in the browser, then try again.";
    case "NotFoundError":
    case "OverconstrainedError":
      return "No microphone was found. Connect one, then try again.";
    case "NotReadableError":
    case "AbortError":
      return "Another program is using the microphone.";
    case "NotSupportedError":
      return "This browser cannot record on this page. Recording requires HTTPS.";
    default:
      return "The microphone could not be started.";
  }
}
