/** For texts such as `3 locations ("a", "b", …)` that name the remaining users of something. */
const namedAtMost = 3;

export function summarizeNames(what: string, names: readonly string[]): string {
  const shown = names.slice(0, namedAtMost).map((name) => JSON.stringify(name));
  return `${names.length} ${what}${names.length === 1 ? '' : 's'} (${shown.join(', ')}${names.length > namedAtMost ? ', …' : ''})`;
}
