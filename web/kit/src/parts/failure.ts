// What went wrong between here and the server.
import { GangwayError } from "@gangway/client";

/** The failure, or null when the work was done; anything else is a fault of this page. */
export async function failureOf(
  work: () => Promise<void>,
): Promise<GangwayError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (!(error instanceof GangwayError)) throw error;
    return error;
  }
}
