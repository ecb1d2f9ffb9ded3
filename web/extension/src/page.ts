// In the page's own world, before its first script: window.ai and window.agent, the same as everywhere else.
import { EXTENSION, installIn } from "@gangway/client/extension";
import { HANDOVER } from "./content-wire.js";

installIn((built) => {
  const mother = new built.Channel();
  built.defineProperty(window, EXTENSION, { value: true });
  // Synchronous, so no script of the page can take the port in between.
  document.dispatchEvent(new MessageEvent(HANDOVER, { ports: [mother.port2] }));
  return {
    way: {
      open() {
        const { port1, port2 } = new built.Channel();
        built.postPort(mother.port1, port2);
        return port1;
      },
      stands: () => true,
      answered: () => undefined,
      close: () => undefined,
    },
    features: ["browser-interaction", "screenshots"],
    // Questions and chats have windows of the extension's own.
    ask: () => () => undefined,
    panels: {
      show: () => undefined,
      hide: () => undefined,
      hideAll: () => undefined,
    },
  };
});
