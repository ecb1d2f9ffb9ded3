// Svelte supports TypeScript itself; runes are enabled everywhere.
export default { compilerOptions: { runes: true } };
