// Where the keyboard goes when the button that was just pressed is gone.

export function focusComposer(
  composer: HTMLElement | null = document.getElementById("prompt"),
): void {
  // On a phone this would push the keyboard over what there is to read.
  if (matchMedia("(hover: hover)").matches) composer?.focus();
}
