// Which browser this is, as `gangway bridge install` names it.

export type BrowserName = "firefox" | "chrome" | "chromium" | "edge" | "brave";

interface Brands {
  userAgentData?: { brands: { brand: string }[] };
  brave?: object;
}

export function browserName(from: Navigator = navigator): BrowserName {
  const { userAgentData, brave } = from as Navigator & Brands;
  if (!userAgentData) return "firefox";
  if (brave) return "brave";
  const has = (name: string) =>
    userAgentData.brands.some(({ brand }) => brand === name);
  if (has("Microsoft Edge")) return "edge";
  if (has("Brave")) return "brave";
  return has("Google Chrome") ? "chrome" : "chromium";
}
