// How high an embed would be if nothing had to scroll.

/** Attach to the page; calls back with whole pixels, at the beginning and at each change. */
export function measure(
  changed: (height: number) => void,
): (page: HTMLElement) => () => void {
  return (page) => {
    let last = 0;
    const look = () => {
      const height = natural(page);
      if (height !== last) changed((last = height));
    };
    const resized = new ResizeObserver(look);
    const watch = () => {
      resized.disconnect();
      for (const part of page.children) {
        resized.observe(part);
        if (part.firstElementChild) resized.observe(part.firstElementChild);
      }
    };
    const parts = new MutationObserver(watch);
    parts.observe(page, { childList: true });
    watch();
    return () => {
      resized.disconnect();
      parts.disconnect();
    };
  };
}

/** The parts that scroll count with all that is in them: what the frame's own height does to them must not matter. */
function natural(page: HTMLElement): number {
  let height = 0;
  for (const part of page.children) {
    const style = getComputedStyle(part);
    if (style.position === "absolute") continue;
    const margins =
      parseFloat(style.marginTop) + parseFloat(style.marginBottom);
    const scrolls = style.flexGrow !== "0";
    const own = scrolls
      ? inside(part, style)
      : part.getBoundingClientRect().height;
    height += own + margins;
  }
  return Math.ceil(height);
}

function inside(part: Element, style: CSSStyleDeclaration): number {
  const paddings =
    parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
  const content = part.firstElementChild?.getBoundingClientRect().height ?? 0;
  return content + paddings;
}
