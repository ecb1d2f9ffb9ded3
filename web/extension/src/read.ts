// Put into a page when its text is wanted: reads it with Mozilla's library. The file's value is the text.
import { ownHtml } from "../../client/src/web-agent/own-page.js";
import { readable } from "../../client/src/web-agent/readable.js";

export default readable(ownHtml());
