// Whether the extension may be on pages at all: browsers let a person take that back, and then no page finds anything.

export class Access {
  /** Null until it is known. */
  granted: boolean | null = $state(null);

  /** Keeps it true until the returned function is called. */
  follow(): () => void {
    const { onAdded, onRemoved } = chrome.permissions;
    const look = () => void this.#look();
    look();
    onAdded.addListener(look);
    onRemoved.addListener(look);
    return () => {
      onAdded.removeListener(look);
      onRemoved.removeListener(look);
    };
  }

  /** Asks for it back; a browser allows that only in answer to a click. */
  async ask(): Promise<void> {
    await chrome.permissions.request({ origins: pages() });
    await this.#look();
  }

  async #look(): Promise<void> {
    this.granted = await chrome.permissions.contains({ origins: pages() });
  }
}

function pages(): string[] {
  const { host_permissions = [] } =
    chrome.runtime.getManifest() as chrome.runtime.ManifestV3;
  return host_permissions;
}
