// The looks that every page of the extension shares with Gangway's own.
import "../../../ui/src/styles/tokens.css";
import "../../../ui/src/styles/base.css";
import "../../../ui/src/styles/markdown.css";
import "./extension.css";
