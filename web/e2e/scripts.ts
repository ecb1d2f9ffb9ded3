// Scripted agents for the tests.

export type Step =
  | { say: string; every_ms?: number }
  | { pause_ms: number }
  | { delta: string }
  | {
      tool: {
        name: string;
        arguments?: unknown;
        result?: unknown;
        error?: string;
        takes_ms?: number;
      };
    }
  | { ask: { question: string; options: string[] } }
  | { error: { code: string; message: string } };

export interface Script {
  description: string;
  turns: { when?: string; steps: Step[] }[];
}

/** An agent that takes the same steps on every prompt. */
export function always(...steps: Step[]): Script {
  return { description: "Always does the same.", turns: [{ steps }] };
}

/** Words that can be counted: a lost or doubled one shows. */
export const COUNTED = Array.from(
  { length: 120 },
  (_, index) => `word${index + 1}`,
).join(" ");

export const ANSWER_WITH_CODE = `## Sorting photos by month

The script below moves every photo into a folder named after the month it was taken in. It needs **Python 3.11** and nothing else.

\`\`\`python
from datetime import datetime
from pathlib import Path


def sort_photos(folder: Path) -> int:
    """Move each photo into a folder like 2026-04."""
    moved = 0
    for photo in folder.glob("*.jpg"):
        taken = datetime.fromtimestamp(photo.stat().st_mtime)
        month = folder / taken.strftime("%Y-%m")
        month.mkdir(exist_ok=True)
        photo.rename(month / photo.name)
        moved += 1
    return moved
\`\`\`

A few things to know:

1. Files are *moved*, so try it on a copy first.
2. Run it with \`python sort.py ~/Pictures\`.
3. Names that exist already stay where they are.

| Option | Meaning | Default |
| --- | --- | --- |
| \`--dry-run\` | only say what would happen | off |
| \`--by\` | \`month\` or \`year\` | \`month\` |

> Keep a backup: a moved file has no way back.
`;

/** What a hostile page or model may try inside an answer. */
export function hostile(elsewhere: string): string {
  return `Hello <script>window.hacked = 1</script> there

<img src="x" onerror="window.hacked = 2">

<svg onload="window.hacked = 3"></svg><iframe src="${elsewhere}/frame"></iframe>

[click me](javascript:window.hacked=4) and [me](data:text/html,<script>window.hacked=5</script>)

![pixel](${elsewhere}/pixel.png)

<form action="${elsewhere}/form"><input name="key" autofocus onfocus="window.hacked = 6"><button>Go</button></form>

<style>body { display: none; background: url(${elsewhere}/style) }</style>

<a href="javascript:window.hacked=7" onclick="window.hacked = 8">raw link</a>

A [good link](https://example.com/page).

The end.
`;
}
