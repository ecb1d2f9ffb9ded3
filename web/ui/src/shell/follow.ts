// Links that change this page instead of loading another.

/** Whether a click wants this tab; another button or a modifier is the browser's business. */
export function staysHere(event: MouseEvent): boolean {
  if (event.button || event.metaKey || event.ctrlKey || event.shiftKey)
    return false;
  event.preventDefault();
  return true;
}
