// Put into a page when its text is wanted: reads it with Mozilla's library. The file's value is the text.
import { ownHtml, readable } from "@gangway/client/extension";

export default readable(ownHtml());
