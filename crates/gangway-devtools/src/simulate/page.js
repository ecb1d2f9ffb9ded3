({
  // What keeps an element from being used, or nothing.
  hindrance(element, selector) {
    if (!element) return `${selector} is not there`;
    const box = element.getBoundingClientRect();
    const { visibility } = getComputedStyle(element);
    if (box.width === 0 || box.height === 0 || visibility !== "visible") {
      return `${selector} cannot be seen`;
    }
    return "";
  },

  wait(selector, text) {
    const element = document.querySelector(selector);
    const hindrance = this.hindrance(element, selector);
    if (hindrance) return { wait: hindrance };
    const said = element.value ?? element.innerText;
    if (text !== null && !String(said).includes(text)) {
      return { wait: `${selector} says ${JSON.stringify(String(said).slice(0, 200))}` };
    }
    return {};
  },

  gone(selector) {
    const hindrance = this.hindrance(document.querySelector(selector), selector);
    return hindrance ? {} : { wait: `${selector} is still there` };
  },

  click(selector) {
    const element = document.querySelector(selector);
    const hindrance = this.hindrance(element, selector);
    if (hindrance) return { wait: hindrance };
    if (element.disabled) return { wait: `${selector} is disabled` };
    element.scrollIntoView({ block: "center", inline: "center", behavior: "instant" });
    const box = element.getBoundingClientRect();
    const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
    const top = document.elementFromPoint(x, y);
    // A click on what labels it is a click on it.
    const reached = top && (element.contains(top) || top.closest("label")?.control === element);
    return reached ? { x, y } : { wait: `${selector} is covered by something` };
  },

  fill(selector, value) {
    const element = document.querySelector(selector);
    const hindrance = this.hindrance(element, selector);
    if (hindrance) return { wait: hindrance };
    if (element.disabled) return { wait: `${selector} is disabled` };
    element.focus();
    if (element.isContentEditable) {
      element.textContent = String(value);
    } else if (element.type === "checkbox" || element.type === "radio") {
      if (element.checked !== Boolean(value)) element.click();
      return {};
    } else if ("value" in element) {
      // Libraries put a setter of their own on the element; the browser's is below it.
      const { set } = Object.getOwnPropertyDescriptor(Object.getPrototypeOf(element), "value");
      set.call(element, String(value));
      if (element.localName === "select" && element.value !== String(value)) {
        return { wait: `${selector} has no choice ${JSON.stringify(value)}` };
      }
    } else {
      throw new Error(`${selector} is nothing to fill in`);
    }
    element.dispatchEvent(new Event("input", { bubbles: true }));
    element.dispatchEvent(new Event("change", { bubbles: true }));
    return {};
  },
})
