// A plot of a study session: a band for each stage, a dot for each step.
import type { Step } from "./steps.js";

export const WIDTH = 600;
export const LANES = { user: 40, agent: 64, page: 88, relay: 88 } as const;
export const HEIGHT = 104;

export interface Band {
  stage: string;
  x: number;
  width: number;
}

export interface Dot {
  x: number;
  y: number;
  who: Step["who"];
  bad: boolean;
}

export interface StudyPlot {
  bands: Band[];
  dots: Dot[];
}

/** Time goes from left to right. */
export function plotOf(steps: readonly Step[]): StudyPlot {
  const end = Math.max(1, steps.at(-1)?.at ?? 1);
  const x = (at: number) => round((at / end) * WIDTH);
  const bands: Band[] = [];
  for (const { at, spec } of steps) {
    if (!spec || bands.at(-1)?.stage === spec.stage) continue;
    const last = bands.at(-1);
    if (last) last.width = round(x(at) - last.x);
    bands.push({ stage: spec.stage, x: x(at), width: round(WIDTH - x(at)) });
  }
  const dots = steps.map(({ at, who, problem }) => ({
    ...{ x: x(at), y: LANES[who], who },
    bad: problem !== null,
  }));
  return { bands, dots };
}

export function xOf(steps: readonly Step[], step: Step): number {
  return round((step.at / Math.max(1, steps.at(-1)?.at ?? 1)) * WIDTH);
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
