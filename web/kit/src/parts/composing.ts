// Whether a key press belongs to an input method, e.g. while Japanese is being typed.

export function isComposing(event: KeyboardEvent): boolean {
  // Safari ends a composition before it reports the Enter that ended it; only the legacy key code shows it.
  // eslint-disable-next-line @typescript-eslint/no-deprecated
  return event.isComposing || event.keyCode === 229;
}
