// Names of fields, for what leads to them.

/** The id of a provider's key field. */
export function keyFieldOf(provider: string): string {
  return `key-${provider}`;
}
