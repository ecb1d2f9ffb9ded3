// Svelte reads TypeScript by itself; runes are on everywhere.
export default { compilerOptions: { runes: true } };
