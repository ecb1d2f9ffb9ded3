// Uploads a file with progress, which fetch does not support.
import { GangwayError } from "../errors.js";
import type { Uploaded } from "../generated/wire.js";

export interface UploadOptions {
  /** Gets the part that was sent, from 0 to 1. */
  onProgress?: (part: number) => void;
  signal?: AbortSignal;
}

/** Throws the signal's reason when it was cancelled. */
export function upload(
  url: string,
  token: string,
  file: Blob,
  { onProgress, signal }: UploadOptions = {},
): Promise<Uploaded> {
  return new Promise((resolve, reject) => {
    signal?.throwIfAborted();
    const request = new XMLHttpRequest();
    const cancel = () => request.abort();
    signal?.addEventListener("abort", cancel);
    request.upload.onprogress = ({ lengthComputable, loaded, total }) => {
      if (lengthComputable && total > 0) onProgress?.(loaded / total);
    };
    request.onabort = () =>
      reject(signal?.reason instanceof Error ? signal.reason : aborted());
    request.onerror = () => reject(GangwayError.unreachable(undefined));
    request.onload = () => {
      const body = parse(request.responseText);
      if (request.status >= 200 && request.status < 300 && isUploaded(body)) {
        resolve(body);
      } else reject(GangwayError.fromResponse(request.status, body));
    };
    request.onloadend = () => signal?.removeEventListener("abort", cancel);
    request.open("POST", url);
    request.setRequestHeader("authorization", `Bearer ${token}`);
    const type = file.type || "application/octet-stream";
    request.setRequestHeader("content-type", type);
    request.send(file);
  });
}

function aborted(): DOMException {
  return new DOMException("The upload was cancelled.", "AbortError");
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isUploaded(body: unknown): body is Uploaded {
  if (typeof body !== "object" || body === null) return false;
  const { path, name } = body as Record<string, unknown>;
  return typeof path === "string" && typeof name === "string";
}
