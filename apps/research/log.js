// The log of a harbour that does not exist, and a tool to search it.

export const LOG = [
  {
    day: "3 March",
    by: "Ines, harbour master",
    text: "Tern Hook lies open to the north-east. The mole is 140 metres long; the pilots would like it longer.",
  },
  {
    day: "11 March",
    by: "Ines, harbour master",
    text: "Glass falling since noon. Two cutters took a second line, the others wait for the forecast.",
  },
  {
    day: "12 March",
    by: "Joost, night watch",
    text: "Storm from the north-east, nine hours. Three boats broke loose, all of them on a single line. Nobody hurt.",
  },
  {
    day: "13 March",
    by: "Ines, harbour master",
    text: "Both cutters with doubled lines never moved. From now on every berth has two lines before the glass falls, not after.",
  },
  {
    day: "14 March",
    by: "Adaeze, boatyard",
    text: "Repaired three bows. Rope fenders held, plastic ones burst in the cold. The yard stocks rope again.",
  },
  {
    day: "2 April",
    by: "Joost, night watch",
    text: "The lamp at the gangway of berth 4 is out. A visitor missed the last step and laughed about it. Lamp replaced.",
  },
  {
    day: "20 April",
    by: "Ines, harbour master",
    text: "The town votes money for twenty more metres of mole. The pilots are content, the gulls as well.",
  },
];

const MOST = 5;

/** The entries with the most of these words, the best first. */
export function searchLog(query) {
  const words = query.toLowerCase().match(/[\p{L}\p{N}]{3,}/gu) ?? [];
  const found = LOG.map((entry) => {
    const text = `${entry.day} ${entry.by} ${entry.text}`.toLowerCase();
    return { entry, hits: words.filter((word) => text.includes(word)).length };
  });
  return found
    .filter(({ hits }) => hits > 0)
    .sort((a, b) => b.hits - a.hits)
    .slice(0, MOST)
    .map(({ entry }) => entry);
}

export const SEARCH_LOG = {
  name: "search_log",
  description:
    "Searches the log of the harbour of Tern Hook by keywords. Returns entries with their date and author.",
  inputSchema: {
    type: "object",
    properties: {
      query: { type: "string", description: "A few words, such as `storm`." },
    },
    required: ["query"],
  },
  annotations: { readOnlyHint: true },
  execute({ query }) {
    if (typeof query !== "string") throw new Error("query must be a string.");
    const found = searchLog(query);
    if (found.length === 0) return "No entries found.";
    return found
      .map(({ day, by, text }) => `${day}, ${by}: ${text}`)
      .join("\n");
  },
};
