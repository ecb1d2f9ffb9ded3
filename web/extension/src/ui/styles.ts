// The looks that every page of the extension shares with Gangway's own.
import "@gangway/kit/styles/tokens.css";
import "@gangway/kit/styles/base.css";
import "@gangway/kit/styles/markdown.css";
import "./extension.css";
