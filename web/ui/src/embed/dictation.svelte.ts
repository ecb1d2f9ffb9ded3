// Dictation by the browser, if supported.

/** The part of the browser's interface that is used here; TypeScript does not know it. */
interface Recognition extends EventTarget {
  continuous: boolean;
  interimResults: boolean;
  lang: string;
  onresult:
    | ((event: {
        results: ArrayLike<ArrayLike<{ transcript: string }>>;
      }) => void)
    | null;
  onerror: ((event: { error: string }) => void) | null;
  onend: (() => void) | null;
  start(): void;
  stop(): void;
  abort(): void;
}

type Maker = new () => Recognition;

function maker(): Maker | undefined {
  const page = window as {
    SpeechRecognition?: Maker;
    webkitSpeechRecognition?: Maker;
  };
  return page.SpeechRecognition ?? page.webkitSpeechRecognition;
}

const PROBLEMS: Record<string, string> = {
  "not-allowed":
    "Microphone access is blocked. Allow it for this page in the browser, then try again.",
  "service-not-allowed":
    "This browser does not support dictation on this page.",
  "audio-capture": "No microphone was found. Connect one, then try again.",
  network: "The browser's speech recognition service cannot be reached.",
  "language-not-supported":
    "The browser's speech recognition does not support this language.",
};

export class DictationState {
  #recognition: Recognition | null = null;
  listening = $state(false);
  /** Why dictation does not work. */
  problem: string | null = $state(null);

  /** Whether this browser can at all. */
  get offered(): boolean {
    return maker() !== undefined;
  }

  /** Passes on the recognized text so far, each time it improves. */
  start(onWords: (words: string) => void): void {
    const Made = maker();
    if (!Made || this.listening) return;
    this.problem = null;
    const recognition = new Made();
    recognition.continuous = true;
    recognition.interimResults = true;
    recognition.lang = navigator.language;
    recognition.onresult = ({ results }) =>
      onWords(
        Array.from(results, (each) => each[0]?.transcript ?? "")
          .join("")
          .trim(),
      );
    recognition.onerror = ({ error }) => {
      // Silence, and an end on purpose, are no problems.
      if (error === "no-speech" || error === "aborted") return;
      this.problem =
        PROBLEMS[error] ?? "The browser's speech recognition failed.";
    };
    recognition.onend = () => {
      if (recognition !== this.#recognition) return;
      this.#recognition = null;
      this.listening = false;
    };
    this.#recognition = recognition;
    this.listening = true;
    recognition.start();
  }

  stop(): void {
    this.#recognition?.stop();
  }

  dispose(): void {
    this.#recognition?.abort();
    this.#recognition = null;
    this.listening = false;
  }
}
