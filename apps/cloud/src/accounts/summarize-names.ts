/** For texts such as `3 locations ("a", "b", …)` that name the remaining users of something. */
const namedAtMost = 3;

export function summarizeNames(one: string, many: string, names: readonly string[]): string {
  const shown = names.slice(0, namedAtMost).map((name) => JSON.stringify(name));
  return `${names.length} ${names.length === 1 ? one : many} (${shown.join(', ')}${names.length > namedAtMost ? ', …' : ''})`;
}
