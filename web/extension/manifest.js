// The manifest of each browser: the same extension, but for what the browsers call things.

/** The public half of the key that fixes the extension's id in Chromium; the private half is not kept. */
const KEY =
  "MIIBIjANBgkqhkiG9w0BAQEFAAOCAQ8AMIIBCgKCAQEA14o7pzUwJzxWVPiTAw5DJ2xdce3qn2sv9rKCWKnGSQC6VAJh5QYP7+Lf+e6fwsPHoLJyXY5obKvACDuYDRPTQxl0kinElzOD/Na7j7MKMuWtkHCrmCllM523YfVvor2LZuC3RF5Mo97z9MMewL72VFsBsglqOOBD7JkPvdkQA4MleHyLVKD8qJiLyI2LiTAvAhsciOyOMniAC/V+1XUbWc54unYsGKvBWHX93cAXsUDkQV0ELx9d2cGy6PMkvXs0p47NkvMF0wXiCd1/h5b3QjDoZ3hg2OS13a8vgyuPETgkS7wPBXzEAVxnOhCt7f7ra5p9hN+hP/spCvEi9avUcQIDAQAB";

const WEB = ["http://*/*", "https://*/*"];
/** No browser lets an extension picture a tab with less; scripts run on `WEB` alone. */
const HOSTS = ["<all_urls>"];

const ICONS = {
  16: "icons/16.png",
  32: "icons/32.png",
  48: "icons/48.png",
  128: "icons/128.png",
};

/** @param {string} version */
const common = (version) => ({
  manifest_version: 3,
  name: "Gangway",
  version,
  description:
    "Lets web pages use your own models, MCP tools and agents, with your consent.",
  icons: ICONS,
  // What is used is written down on this machine, which is not what private windows are for.
  incognito: "not_allowed",
  permissions: ["nativeMessaging", "scripting", "storage", "webNavigation"],
  host_permissions: HOSTS,
  action: {
    default_popup: "popup.html",
    default_title: "Gangway",
    default_icon: ICONS,
  },
  content_scripts: [
    // The one that takes the port runs before the one that hands it over.
    {
      matches: WEB,
      js: ["content.js"],
      run_at: "document_start",
      all_frames: true,
      match_origin_as_fallback: true,
    },
    {
      matches: WEB,
      js: ["page.js"],
      run_at: "document_start",
      all_frames: true,
      match_origin_as_fallback: true,
      world: "MAIN",
    },
  ],
  content_security_policy: {
    extension_pages:
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  },
});

/**
 * @param {"chromium" | "firefox"} browser
 * @param {string} version
 */
export function manifest(browser, version) {
  const all = common(version);
  if (browser === "firefox") {
    return {
      ...all,
      background: { scripts: ["background.js"] },
      sidebar_action: {
        default_panel: "panel.html",
        default_title: "Gangway",
        default_icon: ICONS,
        open_at_install: false,
      },
      browser_specific_settings: {
        gecko: {
          id: "extension@gangway",
          strict_min_version: "142.0",
          data_collection_permissions: { required: ["none"] },
        },
      },
    };
  }
  return {
    ...all,
    key: KEY,
    // The first that knows light-dark() in style sheets.
    minimum_chrome_version: "123",
    permissions: [...all.permissions, "sidePanel"],
    background: { service_worker: "background.js" },
    side_panel: { default_path: "panel.html" },
  };
}
