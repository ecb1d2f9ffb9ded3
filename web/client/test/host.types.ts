// What tools are written against; tsc is the test. Nothing here runs.
import { tool } from "@gangway/client/host";

type Equal<A, B> =
  (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2
    ? true
    : false;
function same<A, B>(..._proof: Equal<A, B> extends true ? [] : [never]): void {
  // The parameter is the proof.
}

export const book = tool({
  description: "Books.",
  parameters: {
    seat: { type: "string" },
    row: { type: "integer", optional: true },
    how: { type: "string", enum: ["now", "later"] },
    notes: {
      type: "array",
      items: {
        type: "object",
        properties: { id: { type: "string" }, value: { type: "any" } },
      },
    },
    plain: { type: "object" },
  },
  run(params, context) {
    same<typeof params.seat, string>();
    same<typeof params.row, number | undefined>();
    same<typeof params.how, "now" | "later">();
    same<typeof params.notes, { id: string; value: unknown }[]>();
    same<typeof params.plain, Record<string, unknown>>();
    same<typeof context.reason, string>();
    // @ts-expect-error there is no such parameter
    void params.colour;
  },
});
