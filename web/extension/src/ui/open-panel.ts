// Shows the side panel; a browser allows that only in answer to a click.

/** Firefox has the one, Chromium the other. */
interface Panels {
  sidebarAction?: { open(): Promise<void> };
  sidePanel?: { open(where: { windowId: number }): Promise<void> };
}

export async function openPanel(): Promise<void> {
  const { sidebarAction, sidePanel } = chrome as unknown as Panels;
  // Asked for first, a window's id would cost the click.
  const windowId = chrome.windows.WINDOW_ID_CURRENT;
  await (sidebarAction?.open() ?? sidePanel?.open({ windowId }));
}
